"""RUN-12: whatever damage the rows of an unfinished run have, it ends exactly once, its thread is free afterwards, and
the cost of its calls is booked. The same holds for a queued run whose input is lost."""

import sqlite3
import tempfile
import unittest
from pathlib import Path

from e2e_case import eventually, run_input
from old_case import ANN, DIALECTS, make_server
from test_old_database import OldDatabaseCase, reply

from fake_provider import FakeProvider
from runnel_server import BINARY, ENDED, TERMINALS, Api

THREAD, CUT, QUEUED = "a-going", "a-10", "a-11"
RUN = f"(SELECT id FROM runs WHERE run_ref = '{CUT}')"
NEXT = f"(SELECT id FROM runs WHERE run_ref = '{QUEUED}')"
BROKEN = {
    "the log's first row is garbage": f"UPDATE log SET body = 'garbage' WHERE run_id = {RUN} AND first_n = 1",
    "its last row is garbage": f"UPDATE log SET body = 'garbage' WHERE run_id = {RUN} AND first_n = "
                               f"(SELECT max(first_n) FROM log WHERE run_id = {RUN})",
    "its rows are gone": f"DELETE FROM log WHERE run_id = {RUN}",
    "one in the middle is gone": f"DELETE FROM log WHERE run_id = {RUN} AND first_n = "
                                 f"(SELECT min(first_n) FROM log WHERE run_id = {RUN} AND first_n > 1)",
    "its rows are empty": f"UPDATE log SET body = '' WHERE run_id = {RUN}",
    "its rows have no facts": f"UPDATE log SET body = '[]' WHERE run_id = {RUN}",
    "its rows are bytes": f"UPDATE log SET body = x'00ff00' WHERE run_id = {RUN}",
    "a fact has an unknown kind": f"UPDATE log SET body = replace(body, 'step_started', 'odd_fact') WHERE run_id = "
                                  f"{RUN}",
    "the end is ahead of the log": f"UPDATE runs SET last_n = last_n + 100 WHERE id = {RUN}",
    "the end is behind the log": f"UPDATE runs SET last_n = 1 WHERE id = {RUN}",
    "the end is unknown": f"UPDATE runs SET last_n = 0 WHERE id = {RUN}",
    "the epochs are gone": f"DELETE FROM run_epochs WHERE run_id = {RUN}",
    "the start is unknown": f"UPDATE runs SET started_at = NULL WHERE id = {RUN}",
    "the input is garbage": f"UPDATE run_inputs SET input = 'garbage' WHERE run_id = {RUN}",
    "the input has nothing": f"UPDATE run_inputs SET input = '{{}}' WHERE run_id = {RUN}",
    "the input is gone": f"DELETE FROM run_inputs WHERE run_id = {RUN}",
    "a checkpoint has nothing": f"UPDATE checkpoints SET body = '{{}}' WHERE run_id = {RUN}",
    "a checkpoint has an unknown kind": f"UPDATE checkpoints SET kind = 'odd' WHERE run_id = {RUN}",
    "a checkpoint has an unknown stage": f"UPDATE checkpoints SET stage = 'odd' WHERE run_id = {RUN}",
    "a checkpoint is missing": f"UPDATE checkpoints SET number = number + 5 WHERE run_id = {RUN}",
    "the checkpoints are gone": f"DELETE FROM checkpoints WHERE run_id = {RUN}",
    "the profile is garbage": f"UPDATE runs SET profile = 'garbage' WHERE id = {RUN}",
    "the queued input is garbage": f"UPDATE run_inputs SET input = 'garbage' WHERE run_id = {NEXT}",
    "the queued input is gone": f"DELETE FROM run_inputs WHERE run_id = {NEXT}",
}


class BrokenRowsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY.exists():
            raise AssertionError(f"there is no server at {BINARY}: build it, or set RUNNEL_BIN")
        cls.fake = FakeProvider().start()
        cls.addClassCleanup(cls.fake.close)

    def test_RUN_12_every_run_ends_and_its_thread_is_free(self):
        for name, sql in BROKEN.items():
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="runnel-broken-") as folder:
                server = make_server(Path(folder) / "server", self.fake)
                self.fake.script(*[reply] * 4)  # More are never requested.
                OldDatabaseCase.restore(server.database)
                with sqlite3.connect(server.database) as db:
                    self.assertGreater(db.execute(sql).rowcount, 0, "the statement changed no row")
                db.close()
                with server:
                    self.check(server)

    def check(self, server) -> None:
        ann = server.api(ANN)
        ends = eventually(lambda: self.ends(ann), 8)
        self.assertTrue(ends, "a run has not ended")
        for run in (CUT, QUEUED):
            for dialect in DIALECTS:
                self.check_stream(ann, run, dialect)
        again = ann.post_run(run_input("again", thread=THREAD, forwarded={"flow": "chat"}))
        self.assertEqual(again.status, 202, again.body)
        self.assertEqual(ann.finish(THREAD, again.json["runId"]), "RUN_FINISHED")
        self.check_books(server)
        server.restart()
        self.assertEqual(self.ends(ann), ends, "the status of a run changed after a restart")

    @staticmethod
    def ends(ann: Api) -> list[str] | None:
        """How both runs ended, or None if one has not ended."""
        seen = [ann.status(THREAD, run).json.get("status") for run in (CUT, QUEUED)]
        return seen if all(status in ENDED for status in seen) else None

    def check_stream(self, ann: Api, run: str, dialect: dict) -> None:
        """The stream has one terminal event, at its end; or the answer is 410 if the log cannot be read."""
        with ann.events(THREAD, run, **dialect, timeout=5) as stream:
            if stream.status == 410:
                return
            self.assertEqual(stream.status, 200)
            frames = list(stream)
        self.assertEqual([frame.event in TERMINALS for frame in frames].index(True), len(frames) - 1, frames)
        places = [frame.position for frame in frames]
        self.assertEqual(places, sorted(set(places)))

    def check_books(self, server) -> None:
        with sqlite3.connect(f"file:{server.database}?mode=ro", uri=True) as db:
            unbooked = db.execute("SELECT count(*) FROM model_calls "
                                  "WHERE status = 'open' OR message_id IS NULL").fetchone()
            ledger = db.execute("SELECT sum(cost) FROM model_calls WHERE owner_id = ?", (ANN,)).fetchone()
            rows = db.execute("SELECT sum(m.cost) FROM agent_chat_messages m JOIN agent_chat_sessions s ON "
                              "s.id = m.session_id WHERE s.owner_id = ?", (ANN,)).fetchone()
        db.close()
        self.assertEqual((unbooked, rows), ((0,), ledger))


if __name__ == "__main__":
    unittest.main()
