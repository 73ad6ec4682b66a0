"""SSE-1, SSE-2, SSE-5, and the frames of the dialects v2 and ag-ui."""

import http.client
import json
import unittest

from e2e_case import DIALECTS, E2eCase, new_id, offline, run_input

from runnel_server import TERMINALS
from sse import parse_all


class StreamTest(E2eCase):
    config = offline(word_delay_ms=1)

    def test_SSE_1_ids_increase_and_the_log_starts_at_1(self):
        thread, run = self.finished_run()

        for name, query in DIALECTS.items():
            with self.subTest(name):
                places = [frame.position for frame in self.api.read_events(thread, run, **query)]
                self.assertEqual(places[0][1], 1)
                self.assertEqual(places, sorted(set(places)))
                self.assertEqual(len({epoch for epoch, _ in places}), 1)
                self.assertGreater(places[0][0], 1_600_000_000_000, "the epoch is in milliseconds")

    def test_SSE_1_every_byte_of_the_stream_is_a_frame_or_a_comment(self):
        thread, run = self.finished_run()

        for name, query in DIALECTS.items():
            with self.subTest(name), self.api.events(thread, run, **query) as stream:
                frames = list(stream)
                self.assertTrue(stream.ended)
                self.assertEqual(parse_all(stream.raw), frames)

    def test_SSE_2_the_connection_carries_another_request_when_the_stream_has_ended(self):
        connection = http.client.HTTPConnection(*self.server.address, timeout=20)
        self.addCleanup(connection.close)
        headers = {"Authorization": f"Bearer {self.api.token}"}
        connection.connect()
        socket = connection.sock
        for body in (None, run_input("live"), None, run_input("live again"), run_input("and again")):
            thread, run = self.finished_run()  # A stream from the store, or with a body one that is live.
            path = self.api.events_path(thread, run) if body is None else "/api/v1/agent/ag-ui"
            connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            self.assertEqual(parse_all(answer.read())[-1].event, "RUN_FINISHED")
            self.assertIs(connection.sock, socket, "the server closed the connection")
        connection.request("GET", "/healthz")
        self.assertEqual(connection.getresponse().status, 200)
        self.assertIs(connection.sock, socket)

    def test_SSE_2_the_stream_ends_right_after_the_terminal_event(self):
        thread, run = self.api.start_run()

        for name, query in DIALECTS.items():
            with self.subTest(name), self.api.events(thread, run, **query) as stream:
                frames = list(stream)
                self.assertTrue(stream.ended)
                self.assertEqual([f.event for f in frames if f.event in TERMINALS], [frames[-1].event])

    def test_SSE_2_only_that_runs_events(self):
        thread, first = self.finished_run()
        _, second = self.finished_run("again", thread=thread)

        for run in (first, second):
            frames = self.api.read_events(thread, run)
            self.assertEqual({frame.json["runId"] for frame in frames}, {run})

    def test_SSE_2_runId_is_required(self):
        thread, _ = self.finished_run()

        self.assert_error(self.api.get(self.api.events_path(thread, None)), 400)

    def test_SSE_5_headers(self):
        thread, run = self.finished_run()

        with self.api.events(thread, run) as stream:
            self.assertEqual(stream.headers["content-type"].split(";")[0], "text/event-stream")
            self.assertEqual(stream.headers["cache-control"], "no-cache")
            self.assertEqual(stream.headers["x-accel-buffering"], "no")
            self.assertIn("x-request-id", stream.headers)

    def test_V2_shape_of_a_plain_run(self):
        thread, run = self.finished_run("hello")

        frames = self.api.read_events(thread, run, dialect="v2")

        self.assertEqual([frame.event for frame in frames],
                         ["RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"])
        for frame in frames:
            self.assertEqual((frame.json["threadId"], frame.json["runId"]), (thread, run))
        answer = frames[2].json
        self.assertEqual(set(answer), {
            "type", "threadId", "runId", "messageId", "role", "stage", "status", "answer", "suggested_actions", "error",
            "totalTokens", "cachedPromptTokens", "promptCacheHitTokens", "promptCacheMissTokens", "reasoningTokens",
            "costSource", "usageComplete"})
        self.assertEqual((answer["role"], answer["status"], answer["error"]), ("assistant", "success", None))
        self.assertTrue(answer["answer"])
        self.assertEqual(answer["suggested_actions"], [])

    def test_V2_1_no_cost_model_or_latency_on_this_wire(self):
        thread, run = self.finished_run()

        with self.api.events(thread, run) as stream:
            list(stream)

        for name in (b"inputTokens", b"outputTokens", b'"cost"', b"latencyMs", b'"model"', b"ui_hints"):
            self.assertNotIn(name, stream.raw)

    def test_V2_is_the_default_dialect(self):
        thread, run = self.finished_run()

        self.assertEqual(self.api.read_events(thread, run), self.api.read_events(thread, run, dialect="v2"))

    def test_AGUI_1_deltas_join_to_the_answer_of_v2(self):
        for text in ("hello", "你好,世界 🌊", 'quotes " and \\ and \n\ndata: x'):
            thread, run = self.finished_run(text)
            answer = next(f for f in self.api.read_events(thread, run) if f.event == "TEXT_MESSAGE_END").json

            for name in ("ag-ui 1.0", "ag-ui 0.0"):
                with self.subTest(name, text=text):
                    frames = self.api.read_events(thread, run, **DIALECTS[name])
                    deltas = [f.json for f in frames if f.event == "TEXT_MESSAGE_CONTENT"]
                    self.assertGreater(len(deltas), 3)
                    self.assertEqual("".join(d["delta"] for d in deltas), answer["answer"])
                    self.assertEqual({d["messageId"] for d in deltas}, {answer["messageId"]})

    def test_AGUI_1_no_null_and_integer_timestamps(self):
        thread, run = self.finished_run()

        for name in ("ag-ui 1.0", "ag-ui 0.0"):
            for frame in self.api.read_events(thread, run, **DIALECTS[name]):
                self.assertNotIn(None, frame.json.values(), frame)
                self.assertIsInstance(frame.json.get("timestamp", 0), int)

    def test_AGUI_2_one_request_starts_and_streams_and_is_the_same_log(self):
        thread, run = new_id("thread"), new_id("run")

        for version in ("1.0", None):
            run = new_id("run")
            body = run_input("hello", thread, run, **({"protocolVersion": version} if version else {}))
            with self.subTest(version), self.api.open("POST", "/api/v1/agent/ag-ui", body) as stream:
                self.assertEqual(stream.status, 200)
                self.assertEqual(stream.headers["content-type"].split(";")[0], "text/event-stream")
                frames = list(stream)
                self.assertTrue(stream.ended)
                self.assertEqual(frames[-1].event, "RUN_FINISHED")
                self.assertEqual(frames, self.api.read_events(thread, run, dialect="ag-ui", agui=version or "0.0"))
                self.assertEqual(frames, self.api.read_events(thread, run, dialect="ag-ui"),
                                 "the default is the version of the client that started the run")

    def test_AGUI_2_failures_before_the_stream_are_not_2xx(self):
        answer = self.api.post("/api/v1/agent/ag-ui", run_input("x", forwarded={"flow": "no-such-flow"}))

        self.assert_error(answer, 400)

    def test_AGUI_2_dropping_the_connection_does_not_end_the_run(self):
        thread, run = new_id("thread"), new_id("run")
        with self.api.open("POST", "/api/v1/agent/ag-ui", run_input("hello", thread, run)) as stream:
            first = stream.next()

        rest = self.api.read_events(thread, run, dialect="ag-ui", after=first.id)

        self.assertEqual(rest[-1].event, "RUN_FINISHED")

    def test_unknown_dialect_is_refused(self):
        thread, run = self.finished_run()

        for query in ("dialect=v9", "dialect=ag-ui&agui=2.0"):
            with self.subTest(query):
                self.assert_error(self.api.get(f"{self.api.events_path(thread, run)}&{query}"), 400)


class KeepAliveTest(E2eCase):
    config = offline(word_delay_ms=2500, http={"keep_alive_s": 1})

    def test_SSE_5_idle_streams_carry_keep_alive_comments(self):
        thread, run = self.api.start_run()

        with self.api.events(thread, run, dialect="v2") as stream:
            self.assertTrue(stream.wait_for(lambda: len(stream.parser.comments) >= 2, timeout=10))
            self.assertEqual(set(stream.parser.comments), {b": keep-alive"})
        self.api.cancel(thread, run)


if __name__ == "__main__":
    unittest.main()
