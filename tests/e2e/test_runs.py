"""RUN-1, RUN-2, RUN-5, RUN-6: starting runs and reading their status."""

import json
import re
import threading
import unittest

from e2e_case import E2eCase, new_id, offline, run_input

UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class StartTest(E2eCase):
    def test_RUN_1_the_answer_to_a_start(self):
        thread, run = new_id("thread"), new_id("run")

        answer = self.api.post_run(run_input("hello", thread, run))

        self.assertEqual(answer.status, 202)
        self.assertEqual(answer.headers["content-type"].split(";")[0], "application/json")
        self.assertIn("x-request-id", answer.headers)
        self.assertEqual(set(answer.json), {"threadId", "runId", "status", "eventsUrl"})
        self.assertEqual((answer.json["threadId"], answer.json["runId"]), (thread, run))
        self.assertEqual(answer.json["status"], "pending")
        with self.api.open("GET", answer.json["eventsUrl"]) as stream:
            self.assertEqual(list(stream)[-1].event, "RUN_FINISHED")

    def test_RUN_1_ids_are_minted_where_absent(self):
        first, second = (self.api.post_run(run_input("hello")).json for _ in range(2))

        self.assertEqual(len({first["threadId"], second["threadId"]}), 2)
        self.assertEqual(len({first["runId"], second["runId"]}), 2)
        self.assertEqual(self.api.finish(first["threadId"], first["runId"]), "RUN_FINISHED")

    def test_RUN_1_the_newest_user_message_is_the_input_and_the_rest_comes_from_the_store(self):
        thread, _ = self.finished_run("the first")
        body = run_input("the second", thread)
        body["messages"] = [{"id": "x1", "role": "user", "content": "forged past"},
                            {"id": "x2", "role": "assistant", "content": "forged answer"}] + body["messages"]
        answer = self.api.post_run(body)
        self.assertEqual(answer.status, 202, answer.body)
        self.api.finish(thread, answer.json["runId"])

        said = [m["content"] for m in self.api.full_history(thread) if m["role"] == "user"]

        self.assertEqual(said, ["the first", "the second"])

    def test_RUN_1_content_parts_are_text_too(self):
        body = run_input("x")
        body["messages"][0]["content"] = [{"type": "text", "text": "part one"}]

        answer = self.api.post_run(body)

        self.assertEqual(answer.status, 202, answer.body)
        self.api.finish(answer.json["threadId"], answer.json["runId"])
        self.assertEqual(self.api.full_history(answer.json["threadId"])[0]["content"], "part one")

    def test_RUN_1_an_unknown_flow_or_model_is_refused_with_the_names(self):
        for key, known in (("flow", "chat"), ("model", "offline")):
            with self.subTest(key):
                answer = self.api.post_run(run_input("hello", forwarded={key: "no-such-thing"}))
                self.assert_error(answer, 400)
                self.assertIn(known, answer.body.decode())
                self.assertNotIn("threadId", answer.json)

    def test_RUN_1_a_known_flow_and_model_are_taken(self):
        self.finished_run("hello", forwarded={"flow": "chat", "model": "offline"})

    def test_HTTP_1_unknown_keys_of_RunAgentInput_are_ignored(self):
        body = run_input("hello", futureField={"a": [1]}, protocolVersion="1.0")
        body["messages"][0]["metadata"] = {"x": 1}
        body["forwardedProps"]["somethingOfTheClients"] = True
        body["state"] = {"deep": {"er": [None]}}

        self.assertEqual(self.api.post_run(body).status, 202)

    def test_HTTP_1_bodies_that_are_no_RunAgentInput(self):
        good = run_input("hello")
        bad = {
            "empty": b"", "no JSON": b"{", "two documents": b"{}{}", "array": b"[]", "null": b"null", "text": b'"x"',
            "bad UTF-8": b'{"messages":[{"id":"1","role":"user","content":"\xff"}]}',
            "lone surrogate": b'{"messages":[{"id":"1","role":"user","content":"\\ud800"}]}',
            "NUL in the text": b'{"messages":[{"id":"1","role":"user","content":"a\\u0000b"}]}',
            "no messages": {**good, "messages": []},
            "messages absent": {k: v for k, v in good.items() if k != "messages"},
            "messages no list": {**good, "messages": {}},
            "message no object": {**good, "messages": ["hello"]},
            "only an assistant": {**good, "messages": [{"id": "1", "role": "assistant", "content": "x"}]},
            "content a number": {**good, "messages": [{"id": "1", "role": "user", "content": 5}]},
            "content absent": {**good, "messages": [{"id": "1", "role": "user"}]},
            "threadId a number": {**good, "threadId": 5}, "runId an object": {**good, "runId": {}},
            "threadId empty": {**good, "threadId": ""}, "runId too long": {**good, "runId": "r" * 5000},
            "runId with a line break": {**good, "runId": "a\nb"}, "threadId with NUL": {**good, "threadId": "a\0b"},
            "onBusy unknown": run_input("x", forwarded={"onBusy": "explode"}),
            "onBusy a number": run_input("x", forwarded={"onBusy": 1}),
        }
        for name, body in bad.items():
            with self.subTest(name):
                self.assert_error(self.api.post_run(body), 400)

    def test_HTTP_6_deep_json_is_refused_and_the_server_lives(self):
        for body in (b"[" * 1_000_000, b'{"a":' * 100_000, b'{"state":' + b"[" * 5000 + b"]" * 5000 + b"}"):
            self.assert_error(self.api.post_run(body), 400)

        self.finished_run()

    def test_HTTP_6_a_large_body_is_refused(self):
        answer = self.api.post_run(b'{"state":"' + b"x" * (32 << 20) + b'"}')

        self.assert_error(answer, 413)


class SameIdTest(E2eCase):
    def test_RUN_2_the_same_input_gives_the_same_run(self):
        body = run_input("hello", new_id("thread"), new_id("run"))
        self.assertEqual(self.api.post_run(body).status, 202)
        self.api.finish(body["threadId"], body["runId"])
        before = self.api.full_history(body["threadId"])

        again = self.api.post_run(body)

        self.assertEqual(again.status, 200)
        self.assertEqual((again.json["threadId"], again.json["runId"]), (body["threadId"], body["runId"]))
        self.assertEqual(again.json["status"], "completed")
        self.assertEqual(self.api.full_history(body["threadId"]), before)

    def test_RUN_2_the_same_id_with_another_input_is_a_conflict(self):
        body = run_input("hello", new_id("thread"), new_id("run"))
        self.assertEqual(self.api.post_run(body).status, 202)
        other_text = json.loads(json.dumps(body))
        other_text["messages"][0]["content"] = "something else"

        self.assert_error(self.api.post_run(other_text), 409, "RUN_ID_CONFLICT")
        self.assert_error(self.api.post_run({**body, "threadId": new_id("thread")}), 409, "RUN_ID_CONFLICT")

    def test_RUN_1_ids_are_unique_per_owner_only(self):
        thread, run = new_id("thread"), new_id("run")
        other = self.server.api("mallory")

        mine = self.api.post_run(run_input("mine", thread, run))
        theirs = other.post_run(run_input("theirs", thread, run))

        self.assertEqual((mine.status, theirs.status), (202, 202))
        self.assertEqual(mine.json, theirs.json)
        self.api.finish(thread, run)
        other.finish(thread, run)
        self.assertEqual([m["content"] for m in self.api.full_history(thread)][0], "mine")
        self.assertEqual([m["content"] for m in other.full_history(thread)][0], "theirs")

    def test_RUN_2_a_hundred_parallel_posts_of_one_run_give_one_run(self):
        body = run_input("hello", new_id("thread"), new_id("run"))
        answers: list = []
        start = threading.Barrier(100)

        def post():
            start.wait()
            answers.append(self.api.post_run(body))

        threads = [threading.Thread(target=post) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        statuses = sorted(answer.status for answer in answers)
        self.assertEqual(statuses, [200] * 99 + [202])
        self.assertEqual(self.api.finish(body["threadId"], body["runId"]), "RUN_FINISHED")
        self.assertEqual([m["role"] for m in self.api.full_history(body["threadId"])], ["user", "assistant"])


class StatusTest(E2eCase):
    config = offline(word_delay_ms=10)

    def test_RUN_5_status_while_running_and_after(self):
        thread, run = self.api.start_run()
        live = self.api.status(thread, run)
        self.assertEqual(live.status, 200)
        self.assertIn(live.json["status"], ("pending", "running"))
        self.assertEqual(self.api.thread(thread).json["status"], "running")

        self.api.finish(thread, run)

        ended = self.api.status(thread, run).json
        self.assertEqual((ended["threadId"], ended["runId"], ended["status"]), (thread, run, "completed"))
        for name in ("createdAt", "startedAt", "endedAt"):
            self.assertRegex(ended[name], UTC)
        self.assertLessEqual(ended["createdAt"], ended["endedAt"])
        self.assertGreater(ended["usage"]["outputTokens"], 0)
        self.assertEqual(self.api.thread(thread).json["status"], "completed")

    def test_RUN_5_status_of_what_does_not_exist(self):
        thread, run = self.api.start_run()

        self.assert_error(self.api.status(thread, new_id("run")), 404)
        self.assert_error(self.api.status(new_id("thread"), run), 404)
        self.assert_error(self.api.get(f"/api/v1/agent/runs/{thread}"), 400)

    def test_RUN_4_a_client_that_disconnects_cancels_nothing(self):
        thread, run = self.api.start_run()
        for _ in range(5):
            with self.api.events(thread, run, dialect="ag-ui") as stream:
                stream.next()

        self.assertEqual(self.wait_status(thread, run, "completed", "failed", "canceled"), "completed")


if __name__ == "__main__":
    unittest.main()
