"""RUN-3 and RUN-4: one active run per thread, what happens to the next run, and cancelling."""

import threading
import time
import unittest

from e2e_case import DIALECTS, E2eCase, eventually, new_id, offline, run_input
from model_case import query

LONG = offline(word_delay_ms=10, words=3000)  # A run takes half a minute unless it is cancelled.


class BusyTest(E2eCase):
    config = LONG

    def busy_thread(self) -> tuple[str, str]:
        """A thread whose run goes on until it is cancelled."""
        thread, run = self.api.start_run("the long one", thread=new_id("thread"))
        self.addCleanup(self.api.cancel, thread, run)
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            while stream.next().event != "TEXT_MESSAGE_CONTENT":
                pass
        return thread, run

    def post(self, thread: str, policy: str | None, text: str = "the next"):
        run = new_id("run")
        answer = self.api.post_run(run_input(text, thread, run, {"onBusy": policy} if policy else {}))
        if answer.status == 202:
            self.addCleanup(self.api.cancel, thread, run)
        return run, answer

    def test_RUN_3_reject_is_the_default(self):
        thread, first = self.busy_thread()

        for policy in (None, "reject"):
            run, answer = self.post(thread, policy)
            self.assertEqual(self.assert_error(answer, 409, "THREAD_BUSY"), {"activeRunId": first})
            self.assertIn(first, answer.json["error"]["message"])
            self.assert_error(self.api.status(thread, run), 404)
        self.assertEqual(self.api.status(thread, first).json["status"], "running")
        self.assertEqual(len(self.api.full_history(thread)), 1, "a refused run leaves no message")

    def test_RUN_3_policies_on_a_free_thread_just_run(self):
        for policy in ("reject", "enqueue", "interrupt", "rollback"):
            with self.subTest(policy):
                thread = new_id("thread")
                run, answer = self.post(thread, policy)
                self.assertEqual(answer.status, 202)
                self.wait_status(thread, run, "running")

    def test_RUN_3_an_enqueued_run_waits_and_has_no_message_yet(self):
        thread, first = self.busy_thread()

        run, answer = self.post(thread, "enqueue")

        self.assertEqual(answer.status, 202)
        self.assertEqual(self.api.status(thread, run).json["status"], "queued")
        self.assertEqual([m["content"] for m in self.api.full_history(thread)], ["the long one"])
        self.api.cancel(thread, first)
        self.wait_status(thread, run, "running")
        said = [(m["content"], m["runId"]) for m in self.api.full_history(thread) if m["role"] == "user"]
        self.assertEqual(said, [("the long one", first), ("the next", run)])

    def test_RUN_3_a_reader_of_a_queued_run_waits_for_its_start(self):
        thread, first = self.busy_thread()
        run, _ = self.post(thread, "enqueue")
        with self.api.events(thread, run) as stream:
            self.assertEqual(stream.status, 200)

            self.api.cancel(thread, first)

            frame = stream.next()
        self.assertEqual(frame.event, "RUN_STARTED")

    def test_RUN_3_interrupt_cancels_the_active_run_first(self):
        thread, first = self.busy_thread()
        queued, _ = self.post(thread, "enqueue", "patient")

        run, answer = self.post(thread, "interrupt")

        self.assertEqual(answer.status, 202)
        self.wait_status(thread, run, "running", seconds=3)
        self.assertEqual(self.api.status(thread, first).json["status"], "canceled")
        self.assertEqual(self.api.status(thread, queued).json["status"], "queued",
                         "an interrupting run goes to the head of the queue")
        self.assertIn("the long one", [m["content"] for m in self.api.full_history(thread)])

    def test_RUN_3_rollback_also_takes_its_rows_out_of_history_and_keeps_their_seq(self):
        thread, first = self.busy_thread()

        run, answer = self.post(thread, "rollback")

        self.assertEqual(answer.status, 202)
        self.wait_status(thread, run, "running", seconds=3)
        self.assertEqual(self.api.status(thread, first).json["status"], "canceled")
        history = self.api.full_history(thread)
        self.assertEqual({m["runId"] for m in history}, {run})
        self.assertGreater(history[0]["seq"], 1, "the seq of the hidden rows must not be used again")
        self.assertEqual(self.api.read_events(thread, first)[-1].json["code"], "RUN_CANCELED")

    def test_RUN_4_cancel_is_visible_within_a_second(self):
        thread, run = self.busy_thread()
        streams = {name: self.api.events(thread, run, **query) for name, query in DIALECTS.items()}
        begin = time.monotonic()

        answer = self.api.cancel(thread, run)

        self.assertEqual(answer.status, 202)
        last = {name: list(stream)[-1].json for name, stream in streams.items()}
        self.assertLess(time.monotonic() - begin, 1.0)
        for name in ("v2", "ag-ui 0.0"):
            self.assertEqual((last[name]["type"], last[name]["message"], last[name]["code"]),
                             ("RUN_ERROR", "run canceled by user", "RUN_CANCELED"))
        self.assertEqual((last["ag-ui 1.0"]["type"], last["ag-ui 1.0"]["outcome"]),
                         ("RUN_FINISHED", {"type": "cancelled"}))
        for stream in streams.values():
            stream.close()
        self.assertEqual(self.api.status(thread, run).json["status"], "canceled")
        self.assertEqual(self.api.thread(thread).json["status"], "failed")

    def test_RUN_4_the_thread_stays_usable(self):
        thread, run = self.busy_thread()
        self.api.cancel(thread, run)
        self.wait_status(thread, run, "canceled")

        next_run, answer = self.post(thread, None)

        self.assertEqual(answer.status, 202)
        self.wait_status(thread, next_run, "running")

    def test_RUN_4_cancelling_what_has_ended_changes_nothing(self):
        thread, run = self.busy_thread()
        self.api.cancel(thread, run)
        self.wait_status(thread, run, "canceled")
        before = self.api.read_events(thread, run)

        again = self.api.cancel(thread, run)

        self.assertEqual((again.status, again.json["status"]), (200, "canceled"))
        self.assertEqual(self.api.read_events(thread, run), before)

    def test_RUN_4_a_queued_run_can_be_cancelled(self):
        thread, first = self.busy_thread()
        run, _ = self.post(thread, "enqueue")

        answer = self.api.cancel(thread, run)

        self.assertEqual(answer.status, 202)
        frames = self.api.read_events(thread, run)
        self.assertEqual((frames[-1].event, frames[-1].json["code"]), ("RUN_ERROR", "RUN_CANCELED"))
        self.assertEqual(self.api.status(thread, run).json["status"], "canceled")
        self.assertEqual(self.api.status(thread, first).json["status"], "running")
        self.assertEqual(len(self.api.full_history(thread)), 1)

    def test_RUN_4_parallel_cancels_end_a_run_once(self):
        thread, run = self.busy_thread()
        answers: list = []
        cancels = [threading.Thread(target=lambda: answers.append(self.api.cancel(thread, run).status))
                   for _ in range(20)]
        for cancel in cancels:
            cancel.start()
        for cancel in cancels:
            cancel.join()

        frames = self.api.read_events(thread, run)

        self.assertLessEqual(set(answers), {200, 202})
        self.assertEqual([f.event for f in frames if f.event.startswith("RUN_")], ["RUN_STARTED", "RUN_ERROR"])

    def test_RUN_4_cancel_of_what_does_not_exist(self):
        thread, _ = self.busy_thread()

        self.assert_error(self.api.cancel(thread, new_id("run")), 404)
        self.assert_error(self.api.post(f"/api/v1/agent/runs/{thread}/cancel"), 400)


class CancelAtEveryEventTest(E2eCase):
    config = offline(word_delay_ms=3)

    def test_RUN_4_cancel_after_each_event_gives_exactly_one_terminal(self):
        thread, run = self.finished_run()
        count = len(self.api.read_events(thread, run, dialect="ag-ui"))

        for at in range(1, count):
            with self.subTest(after=at):
                thread, run = self.api.start_run()
                with self.api.events(thread, run, dialect="ag-ui", agui="0.0") as stream:
                    frames = [stream.next() for _ in range(at)]
                    answer = self.api.cancel(thread, run)
                    frames += list(stream)
                ends = [f.event for f in frames if f.event in ("RUN_FINISHED", "RUN_ERROR")]
                self.assertEqual(len(ends), 1)
                status = self.api.status(thread, run).json["status"]
                self.assertEqual(status, {"RUN_FINISHED": "completed", "RUN_ERROR": "canceled"}[ends[0]])
                self.assertIn(answer.status, (200, 202))


class QueueTest(E2eCase):
    config = offline(word_delay_ms=0, runtime={"runs_per_user": 100})

    def test_RUN_3_fifty_parallel_enqueued_runs_each_run_once_in_their_order(self):
        thread = new_id("thread")
        answers: dict = {}
        start = threading.Barrier(50)

        def post(number: int):
            run = f"{thread}-{number}"
            start.wait()
            answers[run] = self.api.post_run(run_input(f"message {number}", thread, run, {"onBusy": "enqueue"}))

        posts = [threading.Thread(target=post, args=(n,)) for n in range(50)]
        for poster in posts:
            poster.start()
        for poster in posts:
            poster.join()

        self.assertEqual({a.status for a in answers.values()}, {202})
        for run in answers:
            self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")
        history = self.api.full_history(thread)
        self.assertEqual([m["seq"] for m in history], list(range(1, 101)))
        runs = [m["runId"] for m in history]
        self.assertEqual(runs[0::2], runs[1::2], "the question and the answer of a run must be next to each other")
        self.assertEqual(sorted(runs[0::2]), sorted(answers))
        # Rows are numbered in the order of the commits. Times would not do: two cores read the clock.
        admitted = query(self.server, "SELECT run_ref FROM runs WHERE run_ref LIKE ? ORDER BY id", f"{thread}-%")
        self.assertEqual(runs[0::2], [row["run_ref"] for row in admitted])

    def test_RUN_3_one_after_the_other_in_the_order_of_the_posts(self):
        thread = new_id("thread")
        runs = [self.api.start_run(f"m{n}", thread=thread, forwarded={"onBusy": "enqueue"})[1] for n in range(20)]

        self.assertTrue(eventually(lambda: self.api.status(thread, runs[-1]).json["status"] == "completed"))

        said = [m["runId"] for m in self.api.full_history(thread) if m["role"] == "user"]
        self.assertEqual(said, runs)


if __name__ == "__main__":
    unittest.main()
