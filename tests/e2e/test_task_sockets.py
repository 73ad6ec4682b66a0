"""TASK-5: the events of a task on a WebSocket."""

import json
import sqlite3
import struct
import unittest
from contextlib import closing

from e2e_case import Api, E2eCase, eventually, new_id, offline
from test_tasks import whole_text

from runnel_server import run_cli
from tasks import Task, task_path
from web_socket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Refused, follow, frame_bytes


class Sockets(E2eCase):
    config = offline(word_delay_ms=2, words=60)

    def refused(self, status: int, code: str, *args, **how) -> Refused:
        with self.assertRaises(Refused) as caught:
            follow(*args, **how).close()
        self.assertEqual((caught.exception.status, json.loads(caught.exception.body)["error"]["code"]), (status, code))
        return caught.exception

    def test_TASK_5_replay_then_live_to_the_end(self):
        task = Task.start(self.api, "Hello")
        with follow(self.api, task.id) as live:
            self.assertEqual(live.headers["upgrade"], "websocket")
            events, code = live.read_to_close()
            self.assertTrue(live.is_closed())
        task.finish()

        self.assertEqual((events, code), (task.events, 1000))
        with follow(self.api, task.id) as replay:
            self.assertEqual(replay.read_to_close(), (task.events, 1000))

    def test_TASK_5_every_offset_gives_the_rest(self):
        task = Task.start(self.api, "Hello").finish()
        for offset in range(0, len(task.events) + 1, 7):
            with follow(self.api, task.id, offset) as ws:
                self.assertEqual(ws.read_to_close(), (task.events[offset:], 1000))
        with follow(self.api, task.id, 10**12) as ws:
            self.assertEqual(ws.read_to_close(), ([], 1000))

    def test_TASK_5_client_that_comes_back_misses_nothing(self):
        task = Task.start(self.api, "Hello")
        seen = []
        while not seen or seen[-1]["type"] != "task_complete":
            with follow(self.api, task.id, len(seen)) as ws:
                for _ in range(9):
                    frame = ws.read()
                    if frame.opcode == CLOSE:
                        break
                    seen += [json.loads(frame.payload)] if frame.opcode == TEXT else []
        task.finish()
        self.assertEqual(seen, task.events)
        self.assertTrue(whole_text(task))

    def test_TASK_5_what_may_not_be_opened_is_refused(self):
        task = Task.start(self.api, "Hello").finish()
        for bad in ("-1", "1e99", "x"):
            self.refused(400, "INVALID_REQUEST", self.api, task.id, bad)
        self.refused(404, "NOT_FOUND", self.api, new_id("none"))
        self.refused(404, "NOT_FOUND", self.server.api("stranger"), task.id)
        self.refused(401, "UNAUTHORIZED", self.api, task.id, headers={"Authorization": None})
        for headers in ({"Upgrade": None}, {"Connection": "close"}, {"Sec-WebSocket-Version": "8"}):
            answer = self.refused(426, "UPGRADE_REQUIRED", self.api, task.id, headers=headers)
            self.assertEqual((answer.headers["upgrade"], answer.headers["sec-websocket-version"]), ("websocket", "13"))
        self.refused(400, "INVALID_REQUEST", self.api, task.id, headers={"Sec-WebSocket-Key": "short"})
        self.assertEqual(self.api.get(task_path(task.id) + "/ws").status, 426)

    def test_HTTP_8_pages_of_other_origins_may_not_open_one(self):
        task = Task.start(self.api, "Hello").finish()
        own = f"http://127.0.0.1:{self.server.port}"
        for origin in ("http://evil.example", "null", own + ".evil.example", "http://127.0.0.1"):
            self.refused(403, "ORIGIN_NOT_ALLOWED", self.api, task.id, headers={"Origin": origin})
        with follow(self.api, task.id, headers={"Origin": own}) as ws:
            self.assertEqual(ws.read_to_close()[1], 1000)

    def ticket(self, **body) -> str:
        answer = self.api.post("/api/v1/auth/tickets", body or {"for": "websocket"})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["ticket"]

    def test_HTTP_4_ticket_opens_one_socket_once(self):
        task = Task.start(self.api, "Hello").finish()
        ticket = self.ticket()
        # A request that is refused for another reason does not use it up.
        self.refused(426, "UPGRADE_REQUIRED", self.api, task.id, ticket=ticket, headers={"Upgrade": None})
        with follow(self.api, task.id, ticket=ticket) as ws:
            self.assertEqual(ws.read_to_close(), (task.events, 1000))
        self.refused(401, "INVALID_TICKET", self.api, task.id, ticket=ticket)
        self.refused(401, "INVALID_TICKET", self.api, task.id, ticket="tkt_none")
        stream = self.ticket(**{"for": "sse", "threadId": task.poll()["conversation_id"], "runId": task.id})
        self.refused(401, "INVALID_TICKET", self.api, task.id, ticket=stream)
        self.refused(400, "INVALID_REQUEST", self.api, task.id, ticket=self.ticket(),
                     headers={"Authorization": f"Bearer {self.api.token}"})

    def test_HTTP_4_ticket_of_another_user_does_not_open_my_task(self):
        task = Task.start(self.server.api("owner"), "Hello").finish()
        self.refused(404, "NOT_FOUND", self.api, task.id, ticket=self.ticket())

    def test_HTTP_4_old_websocket_ticket_is_refused(self):
        task = Task.start(self.api, "Hello").finish()
        ticket = self.ticket()
        self.server.stop()
        with closing(sqlite3.connect(self.server.database)) as database, database:
            database.execute("UPDATE tickets SET good_until = 1 WHERE kind = 'websocket'")
        self.server.start()
        type(self).api = self.server.api()
        self.refused(401, "INVALID_TICKET", self.api, task.id, ticket=ticket)


class Restart(E2eCase):
    config = offline(word_delay_ms=5, words=600, runtime={"drain_timeout_s": 1})

    def test_TASK_5_restart_tells_the_client_to_come_back(self):
        task = Task.start(self.api, "Hello")
        with follow(self.api, task.id) as ws:
            first = ws.read_event()
            self.server.terminate()
            events, code = ws.read_to_close()
        self.assertEqual(code, 1012)
        self.server.process.wait(30)
        self.server.start()
        task.api = self.server.api()
        with follow(task.api, task.id, len(events) + 1) as ws:
            rest, code = ws.read_to_close()
        task.finish()
        self.assertEqual(([first, *events, *rest], code), (task.events, 1000))


class Expiry(E2eCase):
    config = offline(word_delay_ms=20, words=600)

    def test_TASK_5_socket_whose_token_expires_is_closed_for_good(self):
        made = run_cli("token", "--user", "brief", "--ttl", "3s", "--data-dir", str(self.server.data))
        api = Api(self.server.address, made.stdout.strip())
        task = Task.start(api, "Hello")
        with follow(api, task.id) as ws:
            events, code = ws.read_to_close()
            self.assertEqual(code, 1008)
            self.assertTrue(ws.is_closed())
        self.assertTrue(events)


class Frames(E2eCase):
    """What a client may do, and what it may not, after the cases that the Autobahn suite made known."""

    config = offline(word_delay_ms=20, words=2000)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.task = Task.start(cls.api, "Hello")

    def answers(self, *frames: bytes, wanted: int) -> list:
        """The frames, but for the events, with which these are answered."""
        with follow(self.api, self.task.id) as ws:
            ws.send_raw(b"".join(frames))
            found = []
            while len(found) < wanted:
                frame = ws.read()
                if frame.opcode != TEXT:
                    found.append(frame)
            return found

    def close_code(self, *frames: bytes) -> int | None:
        with follow(self.api, self.task.id) as ws:
            ws.send_raw(b"".join(frames))
            _, code = ws.read_to_close()
            self.assertTrue(ws.is_closed())
            return code

    def test_TASK_5_ping_is_answered_between_the_events(self):
        for payload in (b"", b"hello", bytes(range(125))):
            [pong] = self.answers(frame_bytes(PING, payload), wanted=1)
            self.assertEqual((pong.opcode, pong.payload), (PONG, payload))
        pongs = self.answers(*(frame_bytes(PING, bytes([number])) for number in range(10)), wanted=10)
        self.assertEqual([pong.payload[0] for pong in pongs], list(range(10)))

    def test_TASK_5_what_the_client_says_is_ignored(self):
        [pong] = self.answers(frame_bytes(TEXT, "你好".encode()), frame_bytes(BINARY, b"\xff" * 60_000),
                              frame_bytes(PONG, b"unasked"), frame_bytes(TEXT, b"a", final=False), frame_bytes(PING, b"x"),
                              frame_bytes(CONTINUATION, b"b"), wanted=1)
        self.assertEqual((pong.opcode, pong.payload), (PONG, b"x"))

    def test_TASK_5_frames_that_come_with_the_request_are_read(self):
        with follow(self.api, self.task.id, early=frame_bytes(PING, b"early")) as ws:
            while (frame := ws.read()).opcode == TEXT:
                pass
            self.assertEqual((frame.opcode, frame.payload), (PONG, b"early"))

    def test_TASK_5_client_may_close(self):
        for code in (1000, 1001, 3000, 4999):
            self.assertEqual(self.close_code(frame_bytes(CLOSE, struct.pack(">H", code) + b"bye")), code)
        self.assertIsNone(self.close_code(frame_bytes(CLOSE)))

    def test_TASK_5_broken_frames_are_answered_with_1002(self):
        split = frame_bytes(TEXT, b"x", final=False)
        for name, frames in {
            "reserved bit": [frame_bytes(TEXT, b"x", reserved=0x40)],
            "reserved opcode": [frame_bytes(3, b"x")],
            "reserved control opcode": [frame_bytes(11)],
            "not masked": [frame_bytes(TEXT, b"x", masked=False)],
            "long ping": [frame_bytes(PING, b"x" * 126)],
            "ping in pieces": [frame_bytes(PING, b"x", final=False)],
            "nothing to continue": [frame_bytes(CONTINUATION, b"x")],
            "two messages at once": [split, frame_bytes(TEXT, b"y")],
            "close code of one byte": [frame_bytes(CLOSE, b"\x03")],
            "close code that may not be sent": [frame_bytes(CLOSE, struct.pack(">H", 1005))],
        }.items():
            with self.subTest(name):
                self.assertEqual(self.close_code(*frames), 1002)

    def test_TASK_5_bad_utf_8_is_answered_with_1007(self):
        smile = "😀".encode()
        self.assertEqual(self.close_code(frame_bytes(TEXT, b"\xff")), 1007)
        self.assertEqual(self.close_code(frame_bytes(TEXT, smile[:2], final=False), frame_bytes(CONTINUATION, b"x")), 1007)
        self.assertEqual(self.close_code(frame_bytes(TEXT, smile[:2])), 1007)
        self.assertEqual(self.close_code(frame_bytes(CLOSE, struct.pack(">H", 1000) + b"\xff")), 1007)
        [pong] = self.answers(frame_bytes(TEXT, smile[:2], final=False), frame_bytes(CONTINUATION, smile[2:]),
                              frame_bytes(PING), wanted=1)
        self.assertEqual(pong.opcode, PONG)

    def test_HTTP_9_client_frame_of_10_MB_is_refused_by_its_head(self):
        self.assertEqual(self.close_code(frame_bytes(BINARY, length=10_000_000)), 1009)
        with follow(self.api, self.task.id) as ws:
            ws.send_raw(frame_bytes(BINARY, length=10_000_000))
            try:  # A client that sends on is heard to the end of its patience, and nothing is kept of it.
                for _ in range(200):
                    ws.send_raw(b"x" * 50_000)
            except ConnectionError:
                pass
            self.assertTrue(ws.is_closed())

    def test_HTTP_9_client_that_sends_without_end_is_closed(self):
        with follow(self.api, self.task.id) as ws:
            try:
                for _ in range(40):
                    ws.send(BINARY, b"x" * 60_000)
            except ConnectionError:
                pass
            try:
                self.assertEqual(ws.read_to_close()[1], 1008)
            except ConnectionError:
                pass  # The reset for what was not read has overtaken the close frame.
            self.assertTrue(ws.is_closed())

    def test_TASK_5_client_that_vanishes_is_noticed(self):
        with follow(self.api, self.task.id) as ws:
            ws.read_event()
        def open_streams() -> str:
            return next(line for line in self.api.get("/metrics").body.decode().splitlines() if line.startswith("runnel_streams "))
        self.assertTrue(eventually(lambda: open_streams() == "runnel_streams 0"), open_streams())


class KeepAlive(E2eCase):
    config = {"http": {"keep_alive_s": 1}, "models": {"offline": {"word_delay_ms": 1000, "words": 60}}}

    def test_TASK_5_idle_socket_is_pinged(self):
        thread, run = self.api.start_run("hello", forwarded={"flow": "router_worker"})
        with follow(self.api, run) as ws:
            while (frame := ws.read()).opcode == TEXT:
                pass
            self.assertEqual((frame.opcode, frame.payload), (PING, b""))
        self.api.cancel(thread, run)


class SlowReader(E2eCase):
    config = {"http": {"subscriber_buffer_bytes": 65536}, "models": {"offline": {"word_delay_ms": 0}, "test": {"enabled": True}}}

    def test_TASK_5_slow_reader_is_told_to_come_back(self):
        thread, run = self.api.start_run("hello", forwarded={"model": "tok-40000-50"})
        with follow(self.api, run, receive_buffer=4096) as ws:
            first = ws.read_event()
            self.assertTrue(eventually(lambda: "slow reader cut" in self.server.log_tail(200_000), 30), self.server.log_tail())
            events, code = ws.read_to_close()
        self.assertEqual(code, 1013)
        self.assertEqual([event["idx"] for event in [first, *events]], list(range(len(events) + 1)))
        self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")
        with follow(self.api, run, len(events) + 1) as ws:
            rest, code = ws.read_to_close()
        self.assertEqual(code, 1000)
        self.assertEqual(rest[-1]["type"], "task_complete")


if __name__ == "__main__":
    unittest.main()
