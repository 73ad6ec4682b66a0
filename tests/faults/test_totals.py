"""The comparison of totals with their rows accepts totals that agree, and catches each one that does not."""

import sqlite3
import tempfile
import unittest
from pathlib import Path

from totals import DAY, differences

SCHEMA = """
CREATE TABLE model_calls(owner_id, thread_ref, run_id, started_at, model, status, cost, usage_complete, input_tokens,
  output_tokens, cached_tokens, reasoning_tokens);
CREATE TABLE runs(id, owner_id, thread_id, ended_at, log_expired, spent_high, spent_low, log_bytes, kept_bytes);
CREATE TABLE log(run_id, body);
CREATE TABLE checkpoints(run_id, body);
CREATE TABLE agent_chat_messages(run_id, content, metadata);
CREATE TABLE run_inputs(run_id, input);
CREATE TABLE purges(run_id, thread_id);
CREATE TABLE spent_totals(owner_id, thread_ref, day, cost_high, cost_low);
CREATE TABLE usage_totals(owner_id, thread_ref, day, model, calls, incomplete_calls, input_tokens, output_tokens,
  cached_tokens, reasoning_tokens, cost_high, cost_low);
CREATE TABLE storage_totals(owner_id, bytes);
CREATE TABLE calendar_events(owner_id, bytes);
CREATE TABLE calendar_invites(owner_id);
CREATE TABLE calendar_imports(owner_id, uid);
CREATE TABLE contacts(owner_id, bytes);
CREATE TABLE memories(owner_id, bytes);
"""
COST = (3 << 32) + 5
SOUND = f"""
INSERT INTO model_calls VALUES('ann', 't', 1, {DAY + 7}, 'm', 'completed', {COST}, 1, 10, 20, 3, 4),
  ('ann', 't', 1, {DAY + 9}, 'm', 'open', 2, 0, 0, 0, 0, 0);
INSERT INTO runs VALUES(1, 'ann', 1, 100, 0, 3, 7, 10, 9), (2, 'ann', 1, NULL, 0, 0, 0, 0, 0);
INSERT INTO log VALUES(1, '[1234]');
INSERT INTO checkpoints VALUES(1, '{{  }}');
INSERT INTO agent_chat_messages VALUES(1, 'é', '{{}}');
INSERT INTO run_inputs VALUES(1, 'input');
INSERT INTO spent_totals VALUES('ann', '', -1, 3, 7), ('ann', '', 1, 3, 7), ('ann', 't', -1, 3, 7),
  ('bob', '', -1, 0, 0);
INSERT INTO usage_totals VALUES('ann', '', 1, 'm', 1, 0, 10, 20, 3, 4, 3, 5),
  ('ann', 't', 1, 'm', 1, 0, 10, 20, 3, 4, 3, 5);
INSERT INTO storage_totals VALUES('ann', 752);
INSERT INTO calendar_events VALUES('ann', 200);
INSERT INTO calendar_invites VALUES('ann');
INSERT INTO calendar_imports VALUES('ann', 'uid');
INSERT INTO contacts VALUES('ann', 20);
INSERT INTO memories VALUES('ann', 10);
"""


class TotalsTest(unittest.TestCase):
    def differences(self, change: str = "") -> list[str]:
        with tempfile.TemporaryDirectory(prefix="runnel-totals-") as folder:
            path = Path(folder) / "db"
            with sqlite3.connect(path) as db:
                db.executescript(SCHEMA + SOUND + change)
            db.close()
            return differences(path)

    def test_totals_that_agree_pass(self):
        self.assertEqual(self.differences(), [])

    def test_each_total_that_differs_is_caught(self):
        for change in ("UPDATE spent_totals SET cost_low = 8 WHERE day = 1", "DELETE FROM spent_totals WHERE day = 1",
                       "UPDATE spent_totals SET cost_low = 1 WHERE owner_id = 'bob'",
                       "UPDATE runs SET spent_low = 0 WHERE id = 1", "UPDATE runs SET spent_high = 1 WHERE id = 2",
                       "UPDATE usage_totals SET calls = 2 WHERE thread_ref = ''",
                       "UPDATE usage_totals SET cached_tokens = 2 WHERE thread_ref = 't'",
                       "UPDATE runs SET log_bytes = 11, kept_bytes = 8 WHERE id = 1",
                       "UPDATE storage_totals SET bytes = 753", "DELETE FROM calendar_events",
                       "DELETE FROM calendar_invites", "DELETE FROM calendar_imports", "DELETE FROM contacts", "DELETE FROM memories",
                       "INSERT INTO calendar_events VALUES('bob', 200)"):
            with self.subTest(change):
                self.assertEqual(len(self.differences(change)), 1)


if __name__ == "__main__":
    unittest.main()
