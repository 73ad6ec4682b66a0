"""RUN-12, RUN-14, SSE-1, NODE-3: what a kill -9 and a SIGTERM do to runs and their readers."""

import contextlib
import socket
import sqlite3
import threading
import time
import unittest

from e2e_case import DIALECTS, E2eCase, eventually, new_id, offline, run_input

from http_client import HttpError
from runnel_server import TERMINALS

SLOW = offline(word_delay_ms=20, words=80)


class KillTest(E2eCase):
    config = SLOW

    def setUp(self):
        if not self.server.alive:
            self.server.start()

    def read_until_cut(self, thread: str, run: str, query: dict, frames: list) -> None:
        """Appends the frames that come before the connection breaks."""
        with self.api.events(thread, run, **query) as stream:
            try:
                frames.extend(stream)
            except (OSError, HttpError):
                pass

    def killed_mid_run(self, delta_count: int) -> tuple[str, str, dict]:
        """Starts a run and kills the server after `delta_count` deltas. Returns also what each dialect's reader saw."""
        thread, run = self.api.start_run("hello")
        seen = {name: [] for name in DIALECTS}
        readers = [threading.Thread(target=self.read_until_cut, args=(thread, run, query, seen[name]))
                   for name, query in DIALECTS.items()]
        for reader in readers:
            reader.start()
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            while delta_count:
                delta_count -= stream.next().event == "TEXT_MESSAGE_CONTENT"
        self.server.kill()
        for reader in readers:
            reader.join()
        return thread, run, seen

    def test_RUN_12_the_run_goes_on_and_SSE_3_every_reader_resumes_where_it_was(self):
        for deltas in (1, 10, 40):
            thread, run, seen = self.killed_mid_run(deltas)
            self.server.start()

            for name, query in DIALECTS.items():
                with self.subTest(name, deltas=deltas):
                    before = seen[name]
                    self.assertTrue(before)
                    after = self.api.read_events(thread, run, after=before[-1].id, **query)
                    self.check_joined(name, before, after, self.api.read_events(thread, run, **query))

    def check_joined(self, name: str, before: list, after: list, whole: list) -> None:
        joined = before + after
        places = [frame.position for frame in joined]
        self.assertEqual(places, sorted(set(places)), "ids must only increase, and none may come twice")
        durable = {frame.id: frame.data for frame in whole}
        kept = [frame for frame in joined if frame.id in durable]
        self.assertEqual(kept, whole, "nothing durable may be lost or changed")
        void = [frame for frame in joined if frame.id not in durable]
        self.assertLessEqual({frame.event for frame in void}, {"TEXT_MESSAGE_CONTENT"})
        self.assertEqual(whole[-1].event, "RUN_FINISHED")
        self.assertGreater(whole[-1].position[0], whole[0].position[0], "a new writer must have a new epoch")
        self.assertEqual([f.event for f in whole if f.event in TERMINALS], ["RUN_FINISHED"])
        if void:
            first = next(frame for frame in after)
            self.assertLessEqual(first.position[1], void[0].position[1],
                                 "the new writer must continue at the durable end")

    def test_RUN_14_the_unfinished_message_is_superseded_and_asked_again_under_a_new_id(self):
        thread, run, _ = self.killed_mid_run(10)
        self.server.start()

        frames = self.api.read_events(thread, run, dialect="ag-ui", agui="1.0")

        ends = [f.json for f in frames if f.event == "TEXT_MESSAGE_END"]
        starts = [f.json["messageId"] for f in frames if f.event == "TEXT_MESSAGE_START"]
        self.assertEqual([end["messageId"] for end in ends], starts)
        self.assertEqual(len(set(starts)), len(starts))
        self.assertEqual([end["metadata"]["status"] for end in ends], ["superseded"] * (len(ends) - 1) + ["success"])
        self.assertGreater(len(ends), 1)
        answers = [f.json for f in self.api.read_events(thread, run) if f.event == "TEXT_MESSAGE_END"]
        self.assertEqual([a["messageId"] for a in answers], starts[-1:], "v2 must show only the answer")
        text = "".join(f.json["delta"] for f in frames
                       if f.event == "TEXT_MESSAGE_CONTENT" and f.json["messageId"] == starts[-1])
        self.assertEqual(text, answers[0]["answer"])
        history = self.api.full_history(thread)
        self.assertEqual([m["seq"] for m in history], [1, len(ends) + 1], "a superseded message must keep its seq")
        self.assertEqual([m["id"] for m in history if m["role"] == "assistant"], starts[-1:], "it must not be visible")
        lists = [f.json["messages"] for f in frames if f.event == "MESSAGES_SNAPSHOT"]
        self.assertEqual(lists, [[{key: history[0][key] for key in ("id", "role", "content")}]] * (len(ends) - 1),
                         "AGUI-8: what is left behind each superseded message")

    def test_RUN_12_a_run_that_keeps_dying_ends_as_interrupted(self):
        thread, run = self.api.start_run("hello")
        last = None
        for _ in range(12):  # On a slow machine a stage may end between two kills, which resets the count of crashes.
            with self.api.events(thread, run, dialect="ag-ui", agui="1.0", after=last) as stream:
                frame = stream.next()  # From the second time on, the first frame of a new writer.
            last = frame.id
            if self.api.status(thread, run).json["status"] == "failed":
                break
            self.server.restart()

        frames = self.api.read_events(thread, run)

        self.assertEqual((frames[-1].event, frames[-1].json["code"]), ("RUN_ERROR", "RUN_INTERRUPTED"))
        self.assertTrue(frames[-1].json["errorId"])
        self.assertEqual(self.api.status(thread, run).json["status"], "failed")
        self.assertEqual(self.api.thread(thread).json["status"], "failed")

    def test_RUN_3_queued_runs_survive_and_run_in_order(self):
        thread = new_id("thread")
        runs = [self.api.start_run(f"m{n}", thread=thread, forwarded={"onBusy": "enqueue"})[1] for n in range(3)]

        self.server.restart()

        for run in runs:
            self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")
        said = [m["runId"] for m in self.api.full_history(thread) if m["role"] == "user"]
        self.assertEqual(said, runs)

    def test_RUN_4_a_cancel_that_was_answered_survives_the_kill(self):
        thread, run = self.api.start_run("hello")
        self.assertEqual(self.api.cancel(thread, run).status, 202)

        self.server.restart()

        self.assertEqual(self.wait_status(thread, run, "canceled", "completed"), "canceled")
        self.assertEqual(self.api.read_events(thread, run)[-1].json["code"], "RUN_CANCELED")

    def test_SSE_3_an_ended_runs_stream_is_the_same_after_a_kill(self):
        thread, run = self.finished_run()
        before = {name: self.api.read_events(thread, run, **query) for name, query in DIALECTS.items()}

        self.server.restart()

        for name, query in DIALECTS.items():
            self.assertEqual(self.api.read_events(thread, run, **query), before[name])

    def test_RUN_2_an_answered_start_is_known_after_a_kill(self):
        body = run_input("hello", new_id("thread"), new_id("run"))
        self.assertEqual(self.api.post_run(body).status, 202)

        self.server.restart()

        self.assertEqual(self.api.post_run(body).status, 200)
        self.assertEqual(self.api.finish(body["threadId"], body["runId"]), "RUN_FINISHED")


class DrainTest(E2eCase):
    config = offline(word_delay_ms=20, words=60)

    def setUp(self):
        if not self.server.alive:
            self.server.start()

    def test_NODE_3_SIGTERM_lets_running_runs_finish_and_takes_no_new_ones(self):
        thread, run = self.api.start_run("hello")
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            frames = [stream.next()]

            self.server.terminate()

            refused = eventually(lambda: (a := self.api.post_run(run_input("late"))).status != 202 and a)
            self.assert_error(refused, 503)
            self.assertEqual(self.api.get("/readyz").status, 503)
            frames += list(stream)
        self.assertEqual(self.server.process.wait(20), 0)
        self.server.start()
        whole = self.api.read_events(thread, run, dialect="ag-ui")
        self.assertEqual(whole[: len(frames)], frames)
        self.assertEqual(whole[-1].event, "RUN_FINISHED")
        self.assertEqual(len({frame.position[0] for frame in whole}), 1, "the run must finish under its first writer")

    def test_NODE_3_SIGTERM_of_an_idle_server_is_quick_and_clean(self):
        self.finished_run()
        begin = time.monotonic()

        self.assertEqual(self.server.stop(), 0)

        self.assertLess(time.monotonic() - begin, 3)

    def test_NODE_3_an_idle_keep_alive_connection_does_not_hold_the_server_up(self):
        with socket.create_connection(self.server.address) as idle:
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200", idle.recv(65536))

            self.assertEqual(self.server.stop(), 0)


class DrainTimeoutTest(E2eCase):
    config = offline(word_delay_ms=20, words=3000, runtime={"drain_timeout_s": 1})

    def test_NODE_3_what_does_not_finish_in_time_goes_on_after_the_next_start(self):
        thread, run = self.api.start_run("hello")
        with self.api.events(thread, run) as stream:
            stream.next()

        self.assertEqual(self.server.stop(), 0)
        self.server.start()

        self.assertIn(self.wait_status(thread, run, "running", "pending"), ("running", "pending"))
        self.api.cancel(thread, run)
        self.assertEqual(self.api.read_events(thread, run)[-1].json["code"], "RUN_CANCELED")


class PlannedRestartTest(E2eCase):
    config = offline(word_delay_ms=20, words=120, runtime={"drain_timeout_s": 0})

    def test_RUN_12_six_planned_restarts_are_no_crashes(self):
        thread, run = self.api.start_run("hello")
        last = None
        for _ in range(12):  # More restarts than a run may have crashes.
            with self.api.events(thread, run, dialect="ag-ui", agui="1.0", after=last) as stream:
                last = stream.next().id  # From the second time on, the first frame of a new writer.
            self.assertEqual(self.server.stop(), 0)
            self.server.start()

        self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")
        self.assertEqual(self.api.status(thread, run).json["status"], "completed")


class DamagedLogTest(E2eCase):
    config = offline(word_delay_ms=20, words=2000)

    def damage(self, sql: str, run: str) -> None:
        """Changes the database while the server is down."""
        with contextlib.closing(sqlite3.connect(self.server.database)) as database, database:
            changed = database.execute(f"{sql} WHERE run_id = (SELECT id FROM runs WHERE run_ref = ?)", (run,))
            self.assertGreater(changed.rowcount, 0)

    def interrupted(self, sql: str) -> tuple[str, str]:
        """A run whose rows `sql` damaged while the server was down. Waits until the run has ended."""
        thread, run = self.api.start_run("hello")
        with self.api.events(thread, run) as stream:
            stream.next()
        self.server.kill()
        self.damage(sql, run)
        self.server.start()
        self.assertEqual(self.wait_status(thread, run, "failed"), "failed")
        return thread, run

    def check_free(self, thread: str) -> None:
        _, run = self.api.start_run("again", thread=thread)
        self.assertEqual(self.api.cancel(thread, run).status, 202)
        self.assertEqual(self.api.read_events(thread, run)[-1].json["code"], "RUN_CANCELED")

    def test_RUN_12_a_run_whose_log_cannot_be_read_ends_and_SSE_4_its_readers_get_410(self):
        for sql in ("UPDATE log SET body = 'x'", "UPDATE log SET body = replace(body, 'step_started', 'sang')",
                    "DELETE FROM log"):
            with self.subTest(sql):
                thread, run = self.interrupted(sql)

                for dialect in DIALECTS.values():
                    answer = self.api.get(self.api.events_path(thread, run, **dialect))
                    details = self.assert_error(answer, 410, "EVENTS_EXPIRED")
                    self.assertEqual(self.api.get(details["historyUrl"]).status, 200)
                self.assertEqual(self.api.thread(thread).json["status"], "failed")
                self.check_free(thread)

    def test_RUN_12_a_run_whose_input_is_gone_ends_and_its_events_tell(self):
        thread, run = self.interrupted("DELETE FROM run_inputs")

        last = self.api.read_events(thread, run)[-1]

        self.assertEqual((last.event, last.json["code"]), ("RUN_ERROR", "RUN_INTERRUPTED"))
        self.assertTrue(last.json["errorId"])
        self.check_free(thread)

    def test_SSE_4_the_damaged_log_of_an_ended_run_is_410_not_500(self):
        thread, run = self.api.start_run("hello")
        self.assertEqual(self.api.cancel(thread, run).status, 202)
        self.assertEqual(self.wait_status(thread, run, "canceled"), "canceled")
        self.server.kill()
        self.damage("UPDATE log SET body = 'x'", run)
        self.server.start()

        self.assert_error(self.api.get(self.api.events_path(thread, run)), 410, "EVENTS_EXPIRED")


if __name__ == "__main__":
    unittest.main()
