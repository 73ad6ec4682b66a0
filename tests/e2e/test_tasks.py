"""TASK-1 to TASK-4 and TASK-6 to TASK-8: runs as tasks that are polled."""

import json
import sqlite3
import threading
import time
import unittest
from contextlib import closing

from e2e_case import E2eCase, eventually, new_id, offline
from flow_case import Says
from test_approvals import ApprovalCase
from tool_case import DONE, ROUTED, Asks, ToolCase, call, create

from tasks import TASKS, Task, task_path


def whole_text(task: Task) -> list[str]:
    """The chunks of each text, joined; checks that they are what the end of the text says."""
    texts, chunks = [], []
    for event in task.events:
        if event["type"] == "text_start":
            chunks = []
        if event["type"] == "text_chunk":
            chunks.append(event["data"])
        if event["type"] == "text_end":
            assert [chunk["index"] for chunk in chunks] == list(range(1, len(chunks) + 1)), chunks
            assert all(chunk["elapsed"] >= 0 for chunk in chunks)
            texts.append("".join(chunk["content"] for chunk in chunks))
            assert texts[-1] == event["data"]["full_content"]
    return texts


class Tasks(E2eCase):
    config = offline(word_delay_ms=1, words=30)

    def test_TASK_1_a_task_is_a_run(self):
        task = Task.start(self.api, "Hello")
        task.finish()

        self.assertEqual(task.status, "completed")
        self.assertEqual(self.api.status(task.conversation, task.id).json["status"], "completed")
        history = self.api.full_history(task.conversation)
        self.assertEqual([message["role"] for message in history], ["user", "assistant"])
        self.assertEqual(history[0]["content"], "Hello")
        self.assertEqual(whole_text(task), [history[1]["content"]])

    def test_TASK_1_a_conversation_goes_on(self):
        conversation = new_id("talk")
        for text in ("One", "Two"):
            self.assertEqual(Task.start(self.api, text, conversation).finish().conversation, conversation)
        self.assertEqual(len(self.api.full_history(conversation)), 4)

    def test_TASK_1_what_no_task_can_begin_with_is_refused(self):
        for body in ({}, {"message": ""}, {"message": 5}, {"message": "x", "conversation_id": "a b"},
                     {"message": "x", "conversation_id": ""}, {"message": "x", "model": "y"}, []):
            with self.subTest(body):
                self.assert_error(self.api.post(TASKS, body), 400, "INVALID_REQUEST")
        self.assert_error(self.api.post(TASKS, {"message": "x" * 300_000}), 413, "MESSAGE_TOO_LARGE")

    def test_TASK_2_every_offset_gives_the_rest(self):
        task = Task.start(self.api, "Hello").finish()
        for offset in range(len(task.events) + 1):
            page = self.api.get(task_path(task.id, **{"from": offset})).json
            self.assertEqual(page["events"], task.events[offset:])
            self.assertEqual((page["next_offset"], page["first_offset"]), (len(task.events), 0))
        self.assertEqual(self.api.get(task_path(task.id)).json["events"], task.events)
        self.assertEqual(list(page), ["task_id", "conversation_id", "status", "events", "next_offset", "first_offset"])

    def test_TASK_3_events_are_numbered_and_timed(self):
        before = time.time()
        task = Task.start(self.api, "Hello").finish()

        self.assertEqual([event["idx"] for event in task.events], list(range(len(task.events))))
        times = [event["ts"] for event in task.events]
        self.assertEqual(times, sorted(times))
        self.assertTrue(before - 1 < times[0] <= times[-1] < time.time() + 1)
        self.assertTrue(all(list(event) == ["idx", "type", "data", "ts"] for event in task.events))

    def test_TASK_4_offsets_that_are_none_are_refused(self):
        task = Task.start(self.api, "Hello").finish()
        for bad in ("-1", "1e99", "x", "", "1.0", "9223372036854775808"):
            with self.subTest(bad):
                self.assert_error(self.api.get(task_path(task.id, **{"from": bad})), 400, "INVALID_REQUEST")
        for bad in ("-1", "31", "x"):
            with self.subTest(wait=bad):
                self.assert_error(self.api.get(task_path(task.id, wait=bad)), 400, "INVALID_REQUEST")
        beyond = self.api.get(task_path(task.id, **{"from": 10**15})).json
        self.assertEqual((beyond["events"], beyond["next_offset"]), ([], len(task.events)))

    def test_HTTP_3_a_task_of_another_user_does_not_exist(self):
        task = Task.start(self.api, "Hello")
        stranger = self.server.api("stranger")
        for _ in range(2):  # While it is in memory, and when it has ended.
            for answer in (stranger.get(task_path(task.id)), stranger.post(task_path(task.id) + "/cancel"),
                           stranger.get(task_path(new_id("none")))):
                self.assert_error(answer, 404, "NOT_FOUND")
            task.finish()

    def test_TASK_6_a_plain_answer(self):
        task = Task.start(self.api, "Hello").finish()

        types = task.types()
        self.assertEqual(types[:2], ["ai_message_start", "text_start"])
        self.assertEqual(types[-2:], ["text_end", "task_complete"])
        self.assertEqual(set(types[2:-2]), {"text_chunk"})
        self.assertEqual(types.count("ai_message_start"), 1)
        self.assertEqual(task.data("task_complete")[0]["total_tool_calls"], 0)

    def test_RUN_2_a_run_that_a_run_route_started_is_a_task_too(self):
        thread, run = self.api.start_run("hello")
        task = Task(self.api, run).finish()
        self.assertEqual(task.status, "completed")
        self.assertEqual(task.poll()["conversation_id"], thread)

    def test_RUN_6_a_conversation_whose_task_runs_is_busy(self):
        task = Task.start(self.api, "Hello")
        answer = self.api.post(TASKS, {"message": "Again", "conversation_id": task.conversation})
        self.assertEqual(self.assert_error(answer, 409, "THREAD_BUSY")["activeRunId"], task.id)
        task.finish()


class LongTasks(E2eCase):
    config = offline(word_delay_ms=5, words=400)

    def test_TASK_2_a_poll_waits_for_an_event(self):
        task = Task.start(self.api, "Hello")
        task.poll(wait=10)
        self.assertTrue(task.events)
        began = time.monotonic()
        while task.offset < 50:
            before = task.offset
            task.poll(wait=10)
            self.assertGreater(task.offset, before)
        self.assertLess(time.monotonic() - began, 8)
        self.assertEqual(self.api.post(task_path(task.id) + "/cancel").status, 202)
        task.finish()

    def test_TASK_7_a_task_is_cancelled_like_a_run(self):
        task = Task.start(self.api, "Hello")
        task.poll(wait=10)

        answer = self.api.post(task_path(task.id) + "/cancel")
        self.assertEqual((answer.status, answer.json["task_id"], answer.json["conversation_id"]), (202, task.id, task.conversation))
        task.finish()

        self.assertEqual(task.status, "canceled")
        self.assertEqual(task.events[-1]["type"], "system_message")
        self.assertEqual(task.events[-1]["data"], {"content": "run canceled by user"})
        whole_text(task)
        again = self.api.post(task_path(task.id) + "/cancel")
        self.assertEqual((again.status, again.json["status"]), (200, "canceled"))

    def test_TASK_3_many_who_poll_at_once_see_the_same(self):
        first = Task.start(self.api, "Hello")
        others = [Task(self.server.api(), first.id) for _ in range(8)]
        threads = [threading.Thread(target=other.finish, kwargs={"wait": wait}) for wait, other in enumerate(others)]
        for thread in threads:
            thread.start()
        first.finish()
        for thread in threads:
            thread.join(60)
        for other in others:
            self.assertEqual(other.events, first.events)

    def test_TASK_3_a_crash_takes_no_event_that_was_seen(self):
        task = Task.start(self.api, "Hello")
        while task.offset < 40:
            task.poll(wait=5)

        self.server.restart()
        task.api = self.server.api()
        task.finish()

        self.assertEqual(task.status, "completed")
        self.assertEqual(self.api_events(task), task.events)
        self.assertGreaterEqual(len(whole_text(task)), 2)  # The unfinished text is closed, and comes again.

    def api_events(self, task: Task) -> list[dict]:
        return task.api.get(task_path(task.id)).json["events"]


class LongLogs(E2eCase):
    config = {"models": {"offline": {"word_delay_ms": 0}, "test": {"enabled": True}}}

    def test_TASK_4_the_newest_thousand_events_are_kept(self):
        thread, run = self.api.start_run("hello", forwarded={"model": "tok-3000-100"})
        live = Task(self.api, run)
        while (page := live.api.get(task_path(run, **{"from": 2000}, wait=5)).json)["next_offset"] < 2100:
            self.assertEqual(page["status"], "running")
        self.assertEqual(page["first_offset"], page["next_offset"] - 1000)
        self.api.finish(thread, run)

        page = self.api.get(task_path(run)).json

        self.assertEqual(page["status"], "completed")
        count = page["next_offset"]
        self.assertEqual((page["first_offset"], len(page["events"])), (count - 1000, 1000))
        self.assertEqual([event["idx"] for event in page["events"]], list(range(count - 1000, count)))
        self.assertEqual(page["events"][-1]["type"], "task_complete")

    def test_TASK_3_a_log_without_places_is_read_from_its_start(self):
        thread, run = self.api.start_run("hello", forwarded={"model": "tok-300-100"})
        self.api.finish(thread, run)
        before = self.api.get(task_path(run, **{"from": 150})).json
        self.assertEqual(len(before["events"]), before["next_offset"] - 150)

        self.server.stop()
        self.addCleanup(lambda: self.server.alive or self.server.start())
        with closing(sqlite3.connect(self.server.database)) as database, database:
            database.execute("UPDATE log SET next_idx = NULL")
        self.server.start()

        self.assertEqual(self.server.api().get(task_path(run, **{"from": 150})).json, before)


class ToolTasks(ToolCase):
    def task(self, *turns) -> Task:
        self.script(ROUTED, *turns, DONE)
        return Task.start(self.api, "Please.").finish()

    def test_TASK_6_a_tool_call(self):
        task = self.task(create())

        self.assertEqual([kind for kind in task.types() if kind.startswith(("tool_", "update_"))],
                         ["tool_hint", "tool_preparing", "tool_start", "update_action", "update_action"])
        [preparing], [start] = task.data("tool_preparing"), task.data("tool_start")
        running, completed = task.data("update_action")
        [hint] = task.data("tool_hint")  # What the router's answer mentions.
        self.assertEqual((hint["name"], hint["confidence"]), ("calendar.create", "low"))
        self.assertTrue(hint["id"].startswith("early_calendar.create_"))
        self.assertEqual((preparing["id"], preparing["name"], preparing["conversation_id"]),
                         ("calendar.create:0", "calendar.create", task.conversation))
        self.assertRegex(start["id"], r"\Atool_0_calendar\.create_\w+\Z")
        self.assertEqual((start["preparing_id"], start["arguments"]["title"], start["monitor_snapshot"]),
                         (preparing["id"], "Lunch", None))
        self.assertEqual((running["id"], running["status"]), (start["id"], "running"))
        self.assertEqual((completed["id"], completed["status"], completed["result"]["status"]), (start["id"], "completed", "success"))
        self.assertEqual(task.data("task_complete"), [{"total_iterations": 2, "total_tool_calls": 1, "auto_fix_attempts": 0}])

    def test_TASK_6_three_calls_in_one_turn(self):
        task = self.task(Asks(tuple(create(title=title).arguments[0] for title in ("A", "B", "C"))))

        started = [data["id"] for data in task.data("tool_start")]
        self.assertEqual([data["id"] for data in task.data("tool_preparing")], [f"calendar.create:{i}" for i in range(3)])
        self.assertEqual(len(set(started)), 3)
        ended = [data["id"] for data in task.data("update_action") if data["status"] == "completed"]
        self.assertEqual(ended, started)

    def test_TASK_6_a_call_that_fails(self):
        task = self.task(call("calendar.delete", event_id="evt_none"))

        failed = task.data("update_action")[-1]
        self.assertEqual((failed["id"], failed["status"]), (task.data("tool_start")[0]["id"], "failed"))
        self.assertEqual(failed["result"]["error"]["code"], "NOT_FOUND")

    def test_TASK_6_a_call_that_may_not_be_made_fails_without_a_start(self):
        task = self.task(call("calendar.explode"))

        self.assertEqual(task.data("tool_start"), [])
        [failed] = task.data("update_action")
        self.assertEqual((failed["status"], failed["result"]["status"]), ("failed", "failure"))

    def test_TASK_7_outputs_that_were_sent_back_are_counted(self):
        task = self.task(Says({"status": "NONSENSE", "answer": 5}))

        self.assertEqual(task.status, "completed")
        self.assertEqual(task.data("task_complete"), [{"total_iterations": 1, "total_tool_calls": 0, "auto_fix_attempts": 1}])
        self.assertEqual(whole_text(task)[-1], "Done.")

    def test_TASK_6_no_credential_and_no_hint_is_shown(self):
        text = json.dumps(self.task(create()).events)
        for hidden in ("ui_hints", "ui_schema", "input_tokens", "cost", "eyJ"):
            self.assertNotIn(hidden, text)


class ApprovalTasks(ApprovalCase):
    def test_RUN_13_a_task_shows_that_it_waits_for_an_approval(self):
        run = self.begin(create(), user="ann")
        task = Task(run.api, run.run)
        self.assertTrue(eventually(lambda: task.poll() and task.data("update_action")))
        self.assertEqual(task.status, "running")
        asked = task.data("update_action")[-1]
        self.assertEqual((asked["id"], asked["status"]), (task.data("tool_start")[0]["id"], "awaiting_approval"))

        self.assertEqual(self.decide(run, "approve", call=asked["tool_call_id"]).status, 202)
        task.finish()

        self.assertEqual(task.status, "completed")
        self.assertEqual([data["status"] for data in task.data("update_action")],
                         ["awaiting_approval", "running", "running", "completed"])

    def test_TASK_2_a_poll_that_waits_does_not_hold_up_the_end_of_the_server(self):
        run = self.begin(create(), user="cy")
        task = Task(run.api, run.run)
        task.poll()
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(run.api.get(task_path(run.run, **{"from": task.offset, "wait": 30}))))
        waiting.start()
        time.sleep(0.3)
        began = time.monotonic()
        self.assertEqual(self.server.stop(), 0)
        waiting.join(20)
        self.server.start()

        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual([(answer.status, answer.json["events"]) for answer in answers], [(200, [])])

    def test_RUN_13_a_rejected_call_fails(self):
        run = self.begin(create(), user="bob")
        self.decide(run, "reject")
        task = Task(run.api, run.run).finish()
        self.assertEqual([data["status"] for data in task.data("update_action")], ["awaiting_approval", "failed", "failed"])


if __name__ == "__main__":
    unittest.main()
