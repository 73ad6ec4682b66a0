"""HTTP-9: while a user's large amount of stored data is summed, deleted or refused, another user's requests take less
than 50 ms, and the memory stays bounded."""

import sqlite3
import time
import unittest
from pathlib import Path

import many_rows
from neighbour_case import ATTACKER, Api, NeighbourCase, one_user

from runnel_server import run_input

MIB = 1 << 20


def post_after_rest(api: Api, body: dict):
    """Posts a run and returns the answer, once the attack's requests and runs do not use up the user's limits."""
    deadline = time.monotonic() + 10
    while (answer := api.post_run(body)).status in (409, 429) and time.monotonic() < deadline:
        time.sleep(0.1)
    return answer


class StoredTest(NeighbourCase):
    def test_00_calm(self):
        def attempt(name):
            return self.phase(name, self.start(), settle=0)

        self.judge("(no attack)", attempt)

    def inserted(self, name: str, fill) -> Path:
        """A data folder with the rows that `fill(database)` makes. It is made once per test class."""
        folder = self.folder / name
        if not folder.exists():
            with many_rows.empty_database(folder / "runnel.db") as db:
                fill(db)
        return folder

    def large_threads(self) -> Path:
        """Four threads, each with a long history, a log of 60,000 rows and one of 50 MiB."""
        def fill(db):
            for t in range(4):
                thread, then = many_rows.add_thread(db, ATTACKER, f"large-{t}"), many_rows.now_ms()
                runs = [many_rows.add_run(db, ATTACKER, f"run-{t}-{r}", thread, then) for r in range(3)]
                many_rows.add_log(db, runs[0], 60_000, 200)
                many_rows.add_log(db, runs[1], 200, MIB // 4)
                many_rows.add_messages(db, thread, runs[2], 30_000, 200)

        return self.inserted("threads", fill)

    def test_deleting_threads_of_very_many_rows(self):
        def attempt(name):
            server = self.start(data=self.large_threads())
            return self.phase(name, server, (one_user.delete_threads, server.address, server.api(ATTACKER).token,
                                             [f"large-{t}" for t in range(4)], 0.6), settle=0.2)

        told, = self.judge("threads of 90,000 rows deleted", attempt)
        self.assertEqual(told["statuses"], {204: 4})

    def test_expiry_of_long_logs(self):
        kept = 30

        def end_runs(database: Path, first_ms: int) -> None:
            """Sets the ends of the runs 150 ms apart, so that their logs expire one after the other during the test."""
            db = sqlite3.connect(database, timeout=10)
            with db:
                db.execute("UPDATE runs SET ended_at = ? + 150 * (id - (SELECT min(id) FROM runs WHERE owner_id = ?)) "
                           "WHERE owner_id = ?", (first_ms, ATTACKER, ATTACKER))
            db.close()

        def logs_left(database: Path) -> int:
            db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
            left, = db.execute("SELECT count(*) FROM runs WHERE owner_id = ? AND log_expired = 0",
                               (ATTACKER,)).fetchone()
            db.close()
            return left

        def attempt(name):
            data = self.large_threads()
            end_runs(data / "runnel.db", many_rows.now_ms() + 600_000)
            server = self.start({"retention": {"events_s": kept, "sweep_s": 1}}, data)
            end_runs(server.database, many_rows.now_ms() - kept * 1000)
            before = logs_left(server.database)
            phase, told = self.phase(name, server, settle=0.2)
            self.assertLess(logs_left(server.database), before, "no log has expired while the neighbour was measured")
            deadline = time.monotonic() + 10
            while logs_left(server.database) > 0 and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(logs_left(server.database), 0, "some logs have not expired")
            return phase, told

        self.judge("long logs expire", attempt)

    def large_ledger(self) -> Path:
        """300,000 calls on 100,000 threads."""
        def fill(db):
            run = many_rows.add_run(db, ATTACKER, "run", many_rows.add_thread(db, ATTACKER, "thread"),
                                    many_rows.now_ms())
            many_rows.add_calls(db, ATTACKER, run, 300_000, 100_000)

        return self.inserted("ledger", fill)

    def test_runs_of_who_has_a_large_ledger_and_a_budget(self):
        budgets = {"budgets": {"thread": "100", "user": "100", "day": "100"}}

        def attempt(name):
            server = self.start(budgets, self.large_ledger())
            return self.phase(name, server, (one_user.start_runs, server.address, server.api(ATTACKER).token,
                                             [f"fresh-{n}" for n in range(1000)], 20))

        told, = self.judge("runs, ledger of 300,000 calls", attempt)
        self.assertLessEqual(set(told["statuses"]), {202, 429})

    def test_usage_of_who_has_a_large_ledger(self):
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 20 * 3600))  # Not at the beginning of a day.
        targets = [f"/api/v1/usage?groupBy={group}{more}" for group in ("thread", "day", "model")
                   for more in ("", f"&from={since}")]

        def attempt(name):
            server = self.start(data=self.large_ledger())
            token = server.api(ATTACKER).token
            return self.phase(name, server, (one_user.fast_readers, server.address, token, targets, 4, 10))

        told, = self.judge("usage, ledger of 300,000 calls", attempt)
        self.assertLess(told["MiB"] / told["asked"], 1, "an answer must be a page, not all groups")

    def test_a_user_whose_storage_is_full(self):
        quota = MIB

        def attempt(name):
            server = self.start({"runtime": {"storage_bytes_per_user": quota}})
            api = server.api(ATTACKER)
            body = one_user.body_with(threadId="full", messages=[{"id": "m", "role": "user", "content": "x" * 60_000}])
            phase, told = self.phase(name, server, (one_user.post_bodies, server.address, api.token, [body], 2, 15))
            self.assertGreater(told[0]["codes"].get("STORAGE_QUOTA_EXCEEDED", 0), 0, told)
            self.check_full(api)
            return phase, told

        self.judge("storage is full", attempt)

    def check_full(self, api: Api) -> None:
        """A user over the quota can still read, and can start runs again after deleting something."""
        refused = post_after_rest(api, run_input("hi", thread="full"))
        self.assertEqual((refused.status, refused.error_code), (507, "STORAGE_QUOTA_EXCEEDED"), refused.body)
        self.assertEqual(api.history("full").status, 200)
        self.assertEqual(api.request("DELETE", "/api/v1/agent/threads/full").status, 204)
        deadline = time.monotonic() + 10
        while (answer := post_after_rest(api, run_input("hi"))).status == 507 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(answer.status, 202, answer.body)


if __name__ == "__main__":
    unittest.main()
