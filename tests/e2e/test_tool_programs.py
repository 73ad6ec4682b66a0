"""TOOL-10, TOOL-5, TOOL-9, TOOL-2, RUN-12: hostile programs in project_cli's place."""

import os
import threading
import unittest
from pathlib import Path

from e2e_case import eventually
from model_case import ModelRun
from test_sandbox import has_landlock
from tool_case import AS_ROOT, LUNCH, Asks, ProgramCase, answer_by, create, creates

# The title, which says what the program does, and the code of the failure.
QUICK = {"abort": "TOOL_CRASHED", "crash": "TOOL_CRASHED", "exit 9": "TOOL_CRASHED", "exit 126": "TOOL_CRASHED",
         "flood": "OUTPUT_TOO_LARGE", "flood of errors": "OUTPUT_TOO_LARGE", "garbage": "INVALID_OUTPUT",
         "two documents": "INVALID_OUTPUT", "another method": "INVALID_OUTPUT", "no code": "INVALID_OUTPUT",
         "say nothing": "INVALID_OUTPUT", "tell": "INVALID_OUTPUT", "tell and crash": "TOOL_CRASHED",
         "close the connection": "TOOL_CRASHED", "ask half": "TOOL_CRASHED"}
HANGS = ("hang", "close everything and hang", "ask half and hang")
RUNS, TURNS = 16, 7  # A worker takes at most seven turns with tools.


class Programs(ProgramCase):
    tools = {"timeout_s": 1}

    def codes(self, run: ModelRun) -> list[str]:
        results = self.results(run)
        for result in results:
            self.assertEqual((result["status"], result["error"]), ("failure", result["result"]), result)
            self.assertTrue(result["error"]["error"]["message"])
        return [result["error"]["error"]["code"] for result in results]

    def answers(self, title: str, user: str, **given) -> list[tuple[int, str | None]]:
        """The status and the error's code of what the server answers to the program."""
        data = self.result_of(create(title=title, **given), user=user)["result"]["data"]
        return [(answer["status"], (answer["body"] or {}).get("error", {}).get("code")) for answer in data["answers"]]

    def assert_all_closed(self, run: ModelRun, calls: int) -> None:
        self.assertEqual([(row["status"], row["receipt"]) for row in self.calls_of(run)], [("closed", None)] * calls)
        self.assert_nothing_runs()

    def test_TOOL_10_each_way_to_fail_has_its_own_code(self):
        run = self.ask(creates(*QUICK), user="codes")

        self.assertEqual(dict(zip(QUICK, self.codes(run))), QUICK)
        self.assertEqual(self.events("codes"), [])
        self.assert_all_closed(run, len(QUICK))

    def test_TOOL_10_a_hang_ends_at_the_time_limit(self):
        run = self.ask(creates(*HANGS), user="hangs")

        self.assertEqual(self.codes(run), ["TOOL_TIMEOUT"] * len(HANGS))
        self.assertEqual(self.events("hangs"), [])
        self.assert_all_closed(run, len(HANGS))

    @unittest.skipUnless(has_landlock(), "the kernel has no Landlock")
    def test_TOOL_10_the_sandbox_leaves_no_way_out(self):
        result = self.result_of(create(title="try", location=str(self.server.database)), user="tries")

        self.assertEqual(result["status"], "success", result)
        tried = result["result"]["data"]
        self.assertEqual((tried.pop("uid"), tried.pop("a gigabyte of memory")), ("1 1", "ENOMEM"))
        self.assertEqual(tried.pop("clone3"), "ENOSYS")
        self.assertGreater(len(tried), 35)
        self.assertEqual({what: error for what, error in tried.items() if error not in ("EPERM", "EACCES")}, {})
        self.assertEqual(tried["fork 1000 times"], "EPERM")
        self.assertEqual([str(path) for path in Path("/tmp").glob("runnel-hostile*")], [])
        self.assert_nothing_runs()

    def test_TOOL_10_the_environment_has_only_the_credential(self):
        result = self.result_of(create(title="tell backwards"), user="environment")

        [variable] = result["result"]["data"]["environment"]
        self.assertEqual(self.read_backwards(variable).count("."), 2)

    def test_TOOL_9_a_credential_is_for_one_method_of_one_open_call(self):
        ended = self.credential(user="bob")

        self.assertEqual(self.answers("ask another method", "carol"), [(403, "OUT_OF_SCOPE")])
        self.assertEqual(self.answers("ask without a credential", "carol"), [(401, "NO_CREDENTIAL")])
        self.assertEqual(self.answers("ask with another credential", "carol", description=ended), [(409, "CALL_CLOSED")])
        for forged in (self.server.api("carol").token, ended[:-8] + "AAAAAAAA", ended.rpartition(".")[0] + ".", "x"):
            self.assertEqual(self.answers("ask with another credential", "carol", description=forged),
                             [(401, "INVALID_CREDENTIAL")])
        self.assertEqual((self.events("bob"), self.events("carol")), ([], []))

    def test_TOOL_2_the_connection_serves_only_tools(self):
        for line in ("GET /api/v1/agent/threads", "GET /api/v1/profile", "GET /metrics", "GET /openapi.json", "GET /",
                     "POST /api/v1/agent/runs", "POST /api/v1/auth/dev-token", "GET /api/v1/tools/calendar/../../../metrics"):
            with self.subTest(line):
                self.assertEqual(self.answers("ask for another route", "routes", location=line), [(404, "NOT_FOUND")])

    def test_RUN_12_who_asks_twice_gets_the_receipt(self):
        for title in ("ask twice", "ask twice at once"):
            with self.subTest(title):
                user = title.replace(" ", "-")
                first, second = self.result_of(create(title=title), user=user)["result"]["data"]["answers"]

                [event] = self.events(user)
                self.assertEqual(first, {"status": 200, "body": {"event_id": event["id"], "outcome": "created"}})
                self.assertEqual(second, first)

    def test_RUN_12_an_effect_is_a_success_whatever_the_program_says(self):
        for title in ("ask and crash", "ask and deny it"):
            with self.subTest(title):
                user = title.replace(" ", "-")
                result = self.result_of(create(title=title), user=user)

                [event] = self.events(user)
                self.assertEqual((result["status"], result["result"]["data"]),
                                 ("success", {"event_id": event["id"], "outcome": "created"}))

    # Many at once.

    def run_many(self, turns: tuple[Asks, ...]) -> list[ModelRun]:
        """RUNS runs at the same time, each with these turns."""
        self.fake.script(*[answer_by(lambda _: turns)] * (RUNS * (len(turns) + 2)))
        runs = [ModelRun(self.api, *self.api.start_run("Please.")) for _ in range(RUNS)]
        readers = [threading.Thread(target=run.read) for run in runs]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertEqual([run.outcome for run in runs], ["RUN_FINISHED"] * RUNS)
        self.assertEqual(self.fake.unused_script, 0)
        return runs

    def used(self) -> dict[str, int]:
        """What the server has of each resource, without the connections that it keeps open to the provider."""
        process = Path("/proc") / str(self.server.process.pid)
        status = dict(line.split(":\t") for line in (process / "status").read_text().splitlines())
        descriptors = len(os.listdir(process / "fd")) if AS_ROOT else int(self.metrics()["process_open_fds"])
        return {"descriptors": descriptors - self.fake.open_connections, "threads": int(status["Threads"]),
                "kilobytes": int(status["VmRSS"].split()[0])}

    def mixed_turns(self) -> tuple[tuple[Asks, ...], list[str]]:
        """Turns with 64 calls, among them one that hangs, and the codes of their failures."""
        titles = [*QUICK] * 4 + ["garbage", "abort", "exit 9", "hang"]
        spread = [titles[i::TURNS] for i in range(TURNS)]
        return tuple(creates(*some) for some in spread), [QUICK.get(t, "TOOL_TIMEOUT") for some in spread for t in some]

    def test_TOOL_10_a_thousand_hostile_calls_leave_nothing_behind(self):
        turns, expected = self.mixed_turns()
        self.assertGreater(RUNS * len(expected), 1000)
        self.run_many(turns)  # Fills most of what the server keeps in memory.
        before = self.used()

        runs = self.run_many(turns)

        for run in runs:
            self.assertEqual(self.codes(run), expected)
            self.assertEqual({row["status"] for row in self.calls_of(run)}, {"closed"})
        self.assertEqual(self.events(), [])
        self.assert_nothing_runs()
        same = ("descriptors", "threads")
        self.assertTrue(eventually(lambda: all(self.used()[what] <= before[what] for what in same)), (before, self.used()))
        self.assertLess(self.used()["kilobytes"] - before["kilobytes"], 20_000)
        self.put_back()
        try:
            self.assertEqual(self.result_of(create(), user="afterwards")["status"], "success")
            self.assertEqual([row["title"] for row in self.events("afterwards")], [LUNCH["title"]])
        finally:
            self.put_in_place(self.hostile)


if __name__ == "__main__":
    unittest.main()
