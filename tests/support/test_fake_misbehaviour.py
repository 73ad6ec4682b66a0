"""The fake provider misbehaves exactly as it was told, and notices when its client leaves."""

import json
import threading
import time
import unittest
from email.utils import parsedate_to_datetime

import fake_scripts as scripts
from fake_case import ROUTE, FakeCase, chat, content
from http_client import Cut


class Misbehaviour(FakeCase):
    def test_a_dropped_connection_has_given_exactly_so_many_bytes(self):
        for count in (0, 1, 200, 333):
            for model in (f"fake-drop:{count}", f"fake-drop:{count}:size=7"):
                with self.subTest(model), self.http.open("POST", ROUTE, chat(model)) as stream:
                    got = b""
                    with self.assertRaises(Cut):
                        while piece := stream.connection.read_body():
                            got += piece
                    self.assertEqual(len(got), count)
        self.assertEqual({call.outcome for call in self.fake.calls}, {"dropped"})

    def test_a_reset_is_an_error_of_the_connection(self):
        with self.assertRaises(ConnectionResetError):
            self.ask("fake-reset:100")

    def test_a_body_may_end_with_the_connection(self):
        self.assertEqual(content(self.scripted(scripts.text("a", "b").until_close())), "ab")

    def test_hanging_before_the_head_sends_nothing(self):
        connection = self.open("fake-hang:head")
        connection.socket.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            connection.read_head()

        self.assertIsNone(self.fake.calls[0].status)
        self.assert_left(connection)

    def test_hanging_after_the_head_sends_nothing_of_the_body(self):
        connection = self.open("fake-hang:0")
        connection.read_head()

        self.assert_left(connection, sent=0)

    def test_an_answer_behind_a_gate_waits_for_the_test(self):
        gate = threading.Event()
        self.fake.script(scripts.text("a", "b").behind(gate))
        connection = self.open("fake")
        connection.socket.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            connection.read_head()

        gate.set()
        connection.socket.settimeout(10)
        self.assertEqual(connection.response().status, 200)

    def test_hanging_midway_sends_so_many_bytes(self):
        connection = self.open("fake-hang:250")
        connection.read_head()
        got = b""
        while len(got) < 250:
            got += connection.read_body()

        self.assert_left(connection, sent=250)

    def test_a_stalled_answer_sends_its_parts_and_no_end(self):
        self.fake.script(scripts.stalled(["Hel", "lo"]))
        connection = self.open("fake")
        connection.read_head()
        got = b""
        while b'"lo"' not in got or not got.endswith(b"\n\n"):
            got += connection.read_body()

        self.assertEqual(got.count(b"data: "), 3)
        self.assertNotIn(b"[DONE]", got)
        self.assert_left(connection, sent=len(got))

    def test_a_late_head_and_a_late_body_come_after_all(self):
        began = time.monotonic()
        answer = self.scripted(scripts.text("late").late(head=0.05, body=0.05))

        self.assertEqual(content(answer), "late")
        self.assertGreaterEqual(time.monotonic() - began, 0.1)

    def test_a_client_that_leaves_in_the_middle_of_a_stream_is_seen_at_once(self):
        connection = self.open("fake-drip:20")
        connection.read_head()
        connection.read_body()

        self.assert_left(connection)
        self.assertLess(self.fake.calls[0].sent, 100)

    def test_a_flood_has_only_comments_and_no_end(self):
        connection = self.open("fake-flood:0")
        connection.read_head()
        got = b""
        while len(got) < 100_000:
            got += connection.read_body()

        self.assertEqual(set(got[:14_000].split(b"\n\n")[:-1]), {b": keep-alive"})
        self.assert_left(connection)

    def test_a_client_that_does_not_read_stops_the_flood(self):
        connection = self.open("fake-flood:0")
        self.assertTrue(self.fake.wait_for(lambda: bool(self.fake.calls)))
        before = -1
        while before != (before := self.fake.calls[0].sent):
            time.sleep(0.3)

        self.assert_left(connection)

    def test_errors_succeed_after_so_many_times(self):
        statuses = [self.ask("fake-error:429:2").status for _ in range(6)]
        other = self.ask("fake-error:429:2:tag=other").status

        self.assertEqual(statuses, [429, 429, 200, 429, 429, 200])
        self.assertEqual(other, 429)

    def test_retry_after_is_told_in_three_ways(self):
        self.assertEqual(self.ask("fake-error:429:after=2").headers["retry-after"], "2")
        self.assertEqual(self.ask("fake-error:503:after_ms=150").headers["retry-after-ms"], "150")
        date = parsedate_to_datetime(self.scripted(scripts.rate_limited(date=30)).headers["retry-after"])
        self.assertAlmostEqual(date.timestamp(), time.time() + 30, delta=3)
        self.assertIn("GMT", self.ask("fake-error:429:after_date=30").headers["retry-after"])

    def test_every_status_has_an_error_of_a_provider(self):
        for status in (400, 401, 402, 403, 404, 422, 429, 500, 503, 529):
            with self.subTest(status):
                answer = self.ask(f"fake-error:{status}:code=special")
                self.assertEqual((answer.status, answer.error_code), (status, "special"))
                self.assertTrue(answer.json["error"]["message"])

    def test_html_is_html(self):
        for status in (502, 200):
            answer = self.ask(f"fake-html:{status}")
            self.assertEqual(answer.status, status)
            self.assertTrue(answer.headers["content-type"].startswith("text/html"))
            self.assertTrue(answer.body.startswith(b"<html>"))

    def test_malformed_json_comes_after_some_text(self):
        *good, bad = self.ask("fake-malformed").body.split(b"\n\n")[:4]

        self.assertEqual(json.loads(good[-1].removeprefix(b"data: "))["choices"][0]["delta"], {"content": "text"})
        with self.assertRaises(ValueError):
            json.loads(bad.removeprefix(b"data: "))

    def test_an_error_object_comes_in_the_middle(self):
        answer = self.ask("fake-midstream:code=overloaded")

        *before, error = answer.body.removesuffix(b"\n\ndata: [DONE]\n\n").split(b"\n\n")
        self.assertEqual((answer.status, len(before)), (200, 3))
        self.assertEqual(json.loads(error.removeprefix(b"data: "))["error"]["code"], "overloaded")

    def test_a_line_of_ten_megabytes(self):
        with self.http.open("POST", ROUTE, chat("fake-line")) as stream:
            pieces = []
            while piece := stream.connection.read_body(1 << 20):
                pieces.append(piece)

        self.assertGreater(max(len(line) for line in b"".join(pieces).split(b"\n")), 10_000_000)

    def test_the_canary_shows_the_key_wherever_a_client_might_log_it(self):
        for where, status in (("body", 401), ("stream", 200), ("html", 502)):
            with self.subTest(where):
                answer = self.ask(f"fake-canary:{where}")
                self.assertEqual(answer.status, status)
                self.assertIn(b"Bearer sk-canary", answer.body)

    def test_a_name_that_asks_for_what_there_is_not_is_told_so(self):
        for name in ("fake-nothing", "fake:color=red", "fake-drop:x", "fake-drop:1:2", "fake:eol=cr",
                     "fake-canary:moon", "fake:strict=nobody", "fake-tool:calls=loud"):
            with self.subTest(name):
                answer = self.ask(name)
                self.assertEqual((answer.status, answer.error_code), (404, "model_not_found"))
                self.assertIn("fake provider: ", answer.json["error"]["message"])


if __name__ == "__main__":
    unittest.main()
