"""RUN-12, SSE-3, USE-8: a database that an earlier version wrote gives the same answers as with that version, and its
unfinished runs continue.

old_database/ has the database as text, and the answers of the old binary; make.py in that folder made both."""

import json
import sqlite3
import tempfile
import time
import unittest
from decimal import Decimal
from pathlib import Path

from e2e_case import eventually
from model_case import money, query
from old_case import ANN, ANSWERS, BOB, DUMP, ask, frames, make_server
from test_flows import FREE

import fake_scripts as scripts
from fake_provider import FakeProvider
from runnel_server import BINARY, TERMINALS, Api

MONTH = 30 * 86_400_000
IN_FLIGHT = {"a-going": ("a-10", "a-11"), "a-stale": ("a-12", "a-13")}  # The unfinished run, and the queued one.


def reply(request):
    """For the flow's worker an answer that follows its contract, for plain chat some text."""
    return FREE.answer(1) if "suggested_actions" in json.dumps(request.json) else scripts.text("I see.")


def known_part(answer, old):
    """The answer without the members that objects did not have in the old one: clients ignore what they do not know."""
    if isinstance(answer, dict) and isinstance(old, dict):
        return {name: known_part(value, old[name]) for name, value in answer.items() if name in old}
    if isinstance(answer, list) and isinstance(old, list) and len(answer) == len(old):
        return [known_part(*pair) for pair in zip(answer, old)]
    return answer


class OldDatabaseCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY.exists():
            raise AssertionError(f"there is no server at {BINARY}: build it, or set RUNNEL_BIN")
        directory = tempfile.TemporaryDirectory(prefix="runnel-old-")
        cls.addClassCleanup(directory.cleanup)
        cls.fake = FakeProvider().start()
        cls.addClassCleanup(cls.fake.close)
        cls.server = make_server(Path(directory.name) / "server", cls.fake)
        cls.restore(cls.server.database)
        cls.known = json.loads(ANSWERS.read_text())
        cls.fake.script(*[reply] * 10)  # More than will be requested.
        cls.server.start()
        cls.addClassCleanup(cls.server.close)
        cls.users = {name: cls.server.api(name) for name in (ANN, BOB)}

    @staticmethod
    def restore(database: Path) -> None:
        database.parent.mkdir(mode=0o700)
        with sqlite3.connect(database) as db:
            db.executescript(DUMP.read_text())
            # One of the unfinished runs was cut just now, the other longer ago than a run may last.
            now = int(time.time() * 1000)
            for run, then in (("a-10", now), ("a-12", now - MONTH)):
                db.execute("UPDATE runs SET created_at = ?1, started_at = ?1 WHERE run_ref = ?2", (then, run))
        db.close()
        database.chmod(0o600)

    def wait_for_all(self) -> None:
        for thread, runs in IN_FLIGHT.items():
            for run in runs:
                self.users[ANN].finish(thread, run)


class Reads(OldDatabaseCase):
    def test_what_had_ended_is_shown_as_it_was(self):
        for user, answers in self.known["answers"].items():
            for target, old in answers.items():
                with self.subTest(user=user, target=target):
                    self.assertEqual(known_part(ask(self.users[user], target), old), old)

    def test_RUN_5_the_stages_of_its_runs_can_be_read(self):
        seen = set()
        for user, answers in self.known["answers"].items():
            for target in answers:
                if not target.startswith("/api/v1/agent/runs/") or "/events?" in target:
                    continue
                with self.subTest(user=user, target=target):
                    run, shown = answers[target], ask(self.users[user], target.replace("?", "/stages?"))
                    self.assertEqual(shown["status"], run["status"])
                    self.assertEqual(sum(Decimal(stage["cost"]) for stage in shown["stages"]),
                                     Decimal(run["usage"]["cost"]))
                    self.assertEqual(sum(stage["inputTokens"] for stage in shown["stages"]), run["usage"]["inputTokens"])
                    seen.update((stage["name"], stage["status"]) for stage in shown["stages"])
        self.assertLessEqual({("router", "completed"), ("worker", "completed"), ("chat", "canceled")}, seen)

    def test_what_is_one_user_s_is_nobody_else_s(self):
        for target in self.known["answers"][ANN]:
            if target.startswith("/api/v1/agent/runs/") or "threadId" in target:
                with self.subTest(target):
                    self.assertEqual(self.users[BOB].get(target).status, 404)

    def test_the_books_are_the_sum_of_their_rows_to_the_last_digit(self):
        self.wait_for_all()
        for user, api in self.users.items():
            calls = query(self.server, "SELECT * FROM model_calls WHERE owner_id = ?", user)
            for group in ("thread", "model", "day"):
                with self.subTest(user=user, group=group):
                    usage = ask(api, f"/api/v1/usage?groupBy={group}")
                    self.assertEqual(usage["total"]["cost"], money(sum(call["cost"] for call in calls)))
                    self.assertEqual(sum(Decimal(row["cost"]) for row in usage["groups"]),
                                     Decimal(usage["total"]["cost"]))
                    self.assertEqual((usage["total"]["calls"], usage["total"]["inputTokens"]),
                                     (len(calls), sum(call["input_tokens"] for call in calls)))
        days = ask(self.users[BOB], "/api/v1/usage?groupBy=day")["groups"]
        self.assertEqual(len(days), 2)

    def test_what_was_under_way_ends_once_and_what_was_queued_runs(self):
        for thread, (cut, behind) in IN_FLIGHT.items():
            with self.subTest(thread):
                first, second = ([frame[1] for frame in frames(self.users[ANN], Api.events_path(thread, run, "ag-ui"))]
                                 for run in (cut, behind))
                self.assertEqual(sum(event in TERMINALS for event in first), 1, first)
                self.assertEqual(first[-1], "RUN_ERROR" if thread == "a-stale" else "RUN_FINISHED")
                self.assertEqual((second[-1], sum(event in TERMINALS for event in second)), ("RUN_FINISHED", 1), second)
                self.assertTrue(eventually(lambda: self.users[ANN].thread(thread).json["status"] == "completed"))
                unbooked = query(self.server, "SELECT id FROM model_calls WHERE thread_ref = ? AND "
                                              "(status = 'open' OR message_id IS NULL)", thread)
                self.assertEqual(unbooked, [])

    def test_what_was_kept_of_a_run_under_way_is_what_goes_on(self):
        with self.users[ANN].open("GET", Api.events_path("a-going", "a-10", "ag-ui")) as stream:
            events = [frame.json for frame in stream]
        self.assertEqual(events[0]["type"], "RUN_STARTED")
        self.assertEqual([event["stepName"] for event in events if event["type"] == "STEP_STARTED"].count("router"), 1,
                         "the router's stage had completed and must not be repeated")

    def test_a_ticket_still_opens_its_run(self):
        target = Api.events_path("a-three", "a-2", "v2")
        anyone = Api(self.server.address)
        self.assertEqual(frames(anyone, f"{target}&ticket={self.known['ticket']}"),
                         self.known["answers"][ANN][target])


class GoesOn(OldDatabaseCase):
    def test_new_runs_go_on_where_the_old_ones_ended(self):
        self.wait_for_all()
        bob = self.users[BOB]
        before = bob.full_history("b-chat")
        self.assertEqual(bob.finish(*bob.start_run("Do you know me?", thread="b-chat", forwarded={"flow": "chat"})),
                         "RUN_FINISHED")

        after = bob.full_history("b-chat")
        self.assertEqual(after[:len(before)], before)
        self.assertEqual([message["content"] for message in after[len(before):]], ["Do you know me?", "I see."])
        asked = [message["content"] for message in self.fake.calls[-1].json["messages"]]
        self.assertLess(asked.index(before[0]["content"]), asked.index("Do you know me?"))


if __name__ == "__main__":
    unittest.main()
