#!/usr/bin/env python3
"""Makes runnel.sql and answers.json in this folder: a database that the binary in RUNNEL_BIN wrote, and that binary's
answers about it. `tests/e2e/test_old_database.py` requires the same answers of every later version. So this script runs
once per version, with that version's binary, before the schema or the stored facts change; never to make a test pass.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "support")]

import fake_scripts as scripts  # noqa: E402
from fake_chunks import usage  # noqa: E402
from fake_provider import FakeProvider  # noqa: E402
from flow_case import Calls, Says, Stalls, calls  # noqa: E402
from old_case import ANN, ANSWERS, BOB, DUMP, ODD, ask, make_server, run_targets, thread_targets  # noqa: E402
from recount import recount  # noqa: E402
from test_flows import DIRECT, DONE, FREE, NEEDS, REPORT, ROUTED, worker  # noqa: E402

DAY = 86_400_000
FAR = 4_000_000_000_000  # The time until which tickets are valid, in the year 2096.


class Maker:
    def __init__(self, folder: Path, fake: FakeProvider):
        self.fake, self.server = fake, make_server(folder, fake)
        self.server.start()
        self.users = {name: self.server.api(name) for name in (ANN, BOB)}
        self.ended: list[tuple[str, str, str]] = []  # (user, thread, run)

    def begin(self, user: str, thread: str, run: str, *steps, text: str = "Am I free tomorrow?", model: str = "fake",
              **forwarded) -> None:
        self.fake.script(*(step if not hasattr(step, "answer") else step.answer(number)
                           for number, step in enumerate(steps, 1)))
        self.users[user].start_run(text, thread=thread, run=run, forwarded={"model": model, **forwarded})

    def finish(self, user: str, thread: str, run: str, *steps, end: str = "RUN_FINISHED", **how) -> None:
        self.begin(user, thread, run, *steps, **how)
        self.end(user, thread, run, end)

    def end(self, user: str, thread: str, run: str, end: str = "RUN_FINISHED") -> None:
        seen = self.users[user].finish(thread, run)
        assert seen == end, (thread, run, seen)
        self.ended.append((user, thread, run))

    def wait_asked(self, count: int) -> None:
        assert self.fake.wait_for(lambda: len(self.fake.calls) >= count)

    def settle(self) -> None:
        """Waits until streamed words are durable."""
        time.sleep(0.5)

    def ended_runs(self) -> None:
        self.finish(BOB, "b-chat", "b-1", scripts.text("Hello ", ODD), text=ODD, flow="chat")
        self.finish(BOB, "b-chat", "b-2", scripts.stream(["Dear", "er"], numbers=usage(12345, 678)), model="fake-two",
                    flow="chat")
        self.finish(BOB, "b-router", "b-3", ROUTED, FREE, flow="router_worker")
        two = Calls((("echo", {"date": ODD}), ("part", {"items": [1, 2]})), "Let me look.")
        self.finish(ANN, "a-tools", "a-1", ROUTED, two, calls("fail"),
                    worker("Nothing can be found.", status="PARTIAL"), flow="router_worker")
        three = "intent_execution_organization"
        self.finish(ANN, "a-three", "a-2", NEEDS, calls("echo", day=1), DONE, REPORT, flow=three)
        self.finish(ANN, "a-three", "a-3", DIRECT, flow=three)
        self.finish(ANN, "a-repaired", "a-4", ROUTED, Says('{"status": "WHAT"}'), FREE, flow="router_worker")
        self.finish(ANN, "a-failed", "a-5", scripts.error(400), flow="chat", end="RUN_ERROR")

    def cancelled_runs(self) -> None:
        ann, asked = self.users[ANN], len(self.fake.calls)
        self.begin(ANN, "a-cancelled", "a-6", Stalls("Half of an ans"), flow="chat")
        self.wait_asked(asked + 1)
        self.settle()
        assert ann.cancel("a-cancelled", "a-6").status == 202
        self.end(ANN, "a-cancelled", "a-6", "RUN_ERROR")
        self.begin(ANN, "a-rolled", "a-7", Stalls("This will be taken back"), flow="chat")
        self.wait_asked(asked + 2)
        self.settle()
        self.begin(ANN, "a-rolled", "a-8", scripts.text("This stays"), flow="chat", onBusy="rollback")
        self.end(ANN, "a-rolled", "a-7", "RUN_ERROR")
        self.end(ANN, "a-rolled", "a-8")

    def recovered_run(self) -> None:
        """A run that the old version itself has recovered."""
        asked = len(self.fake.calls)
        self.begin(ANN, "a-recovered", "a-9", ROUTED, Stalls('{"status": "SUCCESS", "answer": "You are fr'))
        self.wait_asked(asked + 2)
        self.settle()
        self.server.kill()
        self.fake.script(FREE.answer(3))
        self.server.start()
        self.end(ANN, "a-recovered", "a-9")

    def runs_in_flight(self) -> None:
        """Two runs with a checkpoint, some words and an open call, and one queued run behind each."""
        for thread, run, behind in (("a-going", "a-10", "a-11"), ("a-stale", "a-12", "a-13")):
            asked = len(self.fake.calls)
            self.begin(ANN, thread, run, ROUTED, Stalls('{"status": "SUCCESS", "answer": "You are fr'))
            self.wait_asked(asked + 2)
            self.settle()
            self.users[ANN].start_run("And the day after?", thread=thread, run=behind,
                                      forwarded={"onBusy": "enqueue", "flow": "chat"})

    def tickets(self) -> str:
        def ticket(thread, run):
            answer = self.users[ANN].post("/api/v1/auth/tickets", {"for": "sse", "threadId": thread, "runId": run})
            assert answer.status == 201, answer
            return answer.json["ticket"]

        ticket("a-going", "a-10")
        return ticket("a-three", "a-2")

    def profiles(self) -> None:
        body = {"username": "Ann " + ODD.replace("\n", " "), "bio": "Likes tea.",
                "settings": {"version": 2, "preferences": {"interface_language": "en-GB", "ai_language": "de-CH-1996",
                                                           "timezone": "Europe/Zurich", "country": "CH"}}}
        answer = self.users[ANN].request("PUT", "/api/v1/profile", body)
        if answer.status == 400:  # The rules for names do not allow all these characters.
            answer = self.users[ANN].request("PUT", "/api/v1/profile", {**body, "username": "Änn 你好 👩"})
        assert answer.status == 200, answer

    def answers(self, ticket: str) -> dict:
        out = {ANN: {}, BOB: {}}
        for user, thread, run in self.ended:
            out[user] |= {target: ask(self.users[user], target)
                          for target in (*run_targets(thread, run), *thread_targets(thread))}
        usage_targets = [f"/api/v1/usage?groupBy={group}" for group in ("thread", "model", "day")]
        for target in ("/api/v1/agent/threads?limit=100", *usage_targets):
            out[BOB][target] = ask(self.users[BOB], target)
        for user in (ANN, BOB):
            out[user]["/api/v1/profile"] = ask(self.users[user], "/api/v1/profile")
        return {"answers": out, "ticket": ticket}


def a_day_earlier(database: Path, thread: str) -> None:
    """Moves a thread's calls back by one day, in spite of the triggers that freeze them."""
    triggers = ("trg_call_opening_frozen", "trg_call_ends_once")
    with sqlite3.connect(database) as db:
        made = [db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0] for name in triggers]
        for name in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE model_calls SET started_at = started_at - ?1, ended_at = ended_at - ?1 "
                   "WHERE thread_ref = ?2", (DAY, thread))
        recount(db)
        for sql in made:
            db.execute(sql)
    db.close()


def good_for_ever(database: Path) -> None:
    """Makes the tickets valid for many years: otherwise they would have expired when the test runs."""
    with sqlite3.connect(database) as db:
        db.execute("UPDATE tickets SET good_until = ?1, expires_at = ?1", (FAR,))
    db.close()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="runnel-old-") as name, FakeProvider() as fake:
        maker = Maker(Path(name) / "server", fake)
        maker.profiles()
        maker.ended_runs()
        maker.cancelled_runs()
        maker.recovered_run()
        maker.server.kill()
        a_day_earlier(maker.server.database, "b-chat")
        maker.server.start()
        maker.runs_in_flight()
        answers = maker.answers(maker.tickets())
        maker.server.kill()
        good_for_ever(maker.server.database)
        dump = subprocess.run(["sqlite3", str(maker.server.database), ".dump"], capture_output=True, check=True).stdout
        DUMP.write_bytes(dump)
        ANSWERS.write_text(json.dumps(answers, indent=1) + "\n")
    print(f"{DUMP.name}: {DUMP.stat().st_size} bytes, {ANSWERS.name}: {ANSWERS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
