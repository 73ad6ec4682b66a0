"""RUN-4, RUN-12, TOOL-10: a tool call and the end of its run: by a cancel, at any moment, or with the server."""

import json
import os
import random
import re
import signal
import threading
import time
import unittest

from e2e_case import eventually
from model_case import ModelRun, query
from http_client import Cut
from tool_case import DONE, ROUTED, ProgramCase, ToolCase, answer_by, create, is_running

RUNS, THREADS = 100, 4


class Cancel(ProgramCase):
    def setUp(self):
        self.put_in_place(self.hostile)

    def hanging_run(self, title: str = "hang") -> tuple[ModelRun, int]:
        """A run whose tool hangs, and the process of the tool."""
        self.asked = len(self.fake.calls)
        self.script(ROUTED, create(title=title))
        run = ModelRun(self.api, *self.api.start_run("Please."))
        process = self.wait_for_process()
        self.addCleanup(lambda: is_running(process) and os.kill(process, signal.SIGKILL))
        return run, process

    def test_RUN_4_a_cancel_ends_the_process_and_the_run(self):
        for title in ("hang", "close everything and hang", "ask half and hang"):
            with self.subTest(title):
                self.put_in_place(self.hostile)
                self.check_cancel(*self.hanging_run(title))

    def check_cancel(self, run: ModelRun, process: int) -> None:
        self.assertEqual(self.api.cancel(run.thread, run.run).status, 202)
        accepted = time.monotonic()
        self.assertTrue(eventually(lambda: not is_running(process), 1), "the process lives on")
        run.read()
        self.assertLess(time.monotonic() - accepted, 1)
        self.assert_nothing_runs()

        self.assertEqual(run.end["outcome"], {"type": "cancelled"})
        self.assertEqual(self.api.status(run.thread, run.run).json["status"], "canceled")
        [result] = self.results(run)
        self.assertEqual((result["status"], result["error"]["error"]["code"]), ("failure", "CANCELED"))
        [shown] = [frame.json for frame in run.frames if frame.event == "TOOL_CALL_RESULT"]
        self.assertEqual(shown["toolCallId"], result["tool_call_id"])
        self.assertEqual(json.loads(shown["content"])["error"]["code"], "CANCELED")
        self.assertEqual([(row["status"], row["receipt"]) for row in self.calls_of(run)], [("closed", None)])

        self.put_back()
        after = self.result_of(create(title="After the cancel"), thread=run.thread)
        self.assertEqual(after["status"], "success", after)
        titles = [row["title"] for row in self.events() if row["id"] == after["result"]["data"]["event_id"]]
        self.assertEqual(titles, ["After the cancel"])

    def test_RUN_12_a_killed_server_takes_its_tools_along_and_repeats_the_call(self):
        run, process = self.hanging_run()
        self.addCleanup(lambda: self.server.alive or self.server.start())

        self.server.kill()

        self.assertTrue(eventually(lambda: not is_running(process), 1), "the process lives on")
        self.assertEqual(self.tool_processes(), [])
        self.put_back()
        self.script(DONE)
        self.server.start()
        self.assertEqual(run.read().outcome, "RUN_FINISHED", run.end)
        [result] = self.results(run)
        [event] = [row for row in self.events() if row["title"] == "hang"]
        self.assertEqual((result["status"], result["result"]["data"]["event_id"]), ("success", event["id"]))


class CancelRace(ToolCase):
    def title_of(self, request) -> str:
        return re.search(r"race-[0-9]+", json.dumps(request.json["messages"]))[0]

    def race(self, numbers: range, longest: float, outcomes: dict) -> None:
        """Cancels each run up to `longest` seconds after its call was made. Keeps the cancel's status and the run."""
        rng, api = random.Random(numbers.start), self.server.api()
        for number in numbers:
            run = ModelRun(api, *api.start_run(f"race-{number}"))
            with api.events(run.thread, run.run) as stream:
                while (frame := stream.next()) and frame.event != "TOOL_CALL_END":
                    pass
            time.sleep(rng.uniform(0, longest))
            outcomes[number] = api.cancel(run.thread, run.run).status, run.read()

    def test_RUN_12_a_cancel_and_a_crash_leave_a_result_that_is_true(self):
        rng = random.Random(7)
        self.fake.script(*[answer_by(lambda request: (create(title=self.title_of(request)),))] * 200)
        self.addCleanup(lambda: self.server.alive or self.server.start())
        for number in range(1000, 1012):
            run = ModelRun(self.api, *self.api.start_run(f"race-{number}"))
            with self.api.events(run.thread, run.run) as stream:
                while (frame := stream.next()) and frame.event != "TOOL_CALL_END":
                    pass
            time.sleep(rng.uniform(0, 0.012))
            threading.Thread(target=self.cancel_quietly, args=(run,)).start()
            time.sleep(rng.uniform(0, 0.004))
            self.server.kill()
            self.server.start()
            run.read()
            [result] = self.results(run)
            rows = query(self.server, "SELECT id FROM calendar_events WHERE title = ?", f"race-{number}")
            told = [result["result"]["data"]["event_id"]] if result["status"] == "success" else []
            self.assertEqual([row["id"] for row in rows], told, (number, result))

    def cancel_quietly(self, run: ModelRun) -> None:
        try:
            self.server.api().cancel(run.thread, run.run)
        except (OSError, Cut):
            pass  # The server was killed before it answered.

    def test_RUN_4_an_event_exists_if_and_only_if_the_result_says_so(self):
        self.fake.script(*[answer_by(lambda request: (create(title=self.title_of(request)),))] * (3 * RUNS))
        outcomes: dict[int, tuple[int, ModelRun]] = {}
        racers = [threading.Thread(target=self.race, args=(range(i, RUNS, THREADS), 0.015, outcomes)) for i in range(THREADS)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()

        self.assertEqual(len(outcomes), RUNS)
        counts = {"success": 0, "failure": 0}
        for number, (answered, run) in sorted(outcomes.items()):
            [result] = self.results(run)
            rows = query(self.server, "SELECT id FROM calendar_events WHERE title = ?", f"race-{number}")
            told = [result["result"]["data"]["event_id"]] if result["status"] == "success" else []
            self.assertEqual([row["id"] for row in rows], told, (number, answered, result))
            ended = self.api.status(run.thread, run.run).json["status"]
            self.assertEqual(ended, "canceled" if answered == 202 else "completed", (number, answered))
            self.assertEqual({row["status"] for row in self.calls_of(run)} - {"closed"}, set())
            counts[result["status"]] += 1
            if result["status"] == "failure":
                self.assertIn(result["error"]["error"]["code"], ("CANCELED", "CONFLICT"), result)
        raced = [event for event in self.events() if int(event["title"].removeprefix("race-")) < RUNS]
        self.assertEqual(len(raced), counts["success"])
        self.assertGreater(min(counts.values()), 0, "no cancel came early enough, or none late enough")


if __name__ == "__main__":
    unittest.main()
