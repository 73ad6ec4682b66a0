"""HTTP-6: hostile input gets the right 4xx or a close, memory stays flat, and other clients are not affected."""

import json
import time
import unittest

from hostile_case import (BODY_TIMEOUT, HEADER_TIMEOUT, IN_FLIGHT, SILENT_CAP, WRITE_TIMEOUT, HostileCase, attacks,
                          run_input)

TICK = 1.0   # The precision of the server's deadlines, in seconds.
GRACE = 2.0  # How many seconds a refused client has to read its answer.
ROUNDS = 10
CHUNKED = "Transfer-Encoding: chunked"


def with_text(text: str) -> bytes:
    """A run whose message is `text`, put into the JSON unchanged."""
    return json.dumps(run_input("TEXT")).encode().replace(b"TEXT", text.encode("latin-1"))


class HostileTest(HostileCase):
    def expect_answers(self, name: str, status: int, requests: dict[str, bytes], rss_mib: int = 16) -> None:
        with self.under_attack(name, rss_mib) as told:
            answers = self.attack(attacks.send_raw, list(requests.values()) * ROUNDS)
            told["outcome"] = f"{sum(a['status'] == status for a in answers)}/{len(answers)} × {status}"
        for i, case in enumerate(requests):
            with self.subTest(case):
                mine = answers[i::len(requests)]
                self.assertEqual({answer["status"] for answer in mine}, {status}, mine[0]["raw"][:500])
                self.assertTrue(all(b'{"error":{"code":"' in answer["raw"] for answer in mine))
                self.assertLess(max(answer["seconds"] for answer in mine), HEADER_TIMEOUT + GRACE + TICK)

    def test_00_calm(self):
        with self.under_attack("(none)", rss_mib=4) as told:
            time.sleep(4)
            told["outcome"] = f"{self.bystander.streamed} runs streamed"

    def test_body_of_100_MB_by_its_length(self):
        head = self.head("POST", "/api/v1/agent/runs", "Content-Length: 104857600")
        with self.under_attack("body of 100 MB", rss_mib=16) as told:
            seen = self.attack(attacks.pour, head, b"x" * 65536, 1600, 4)
            told["outcome"] = f"413, {seen['sent'] >> 20} MiB sent"
        self.assertEqual(set(seen["statuses"]), {413})
        self.assertLess(seen["sent"], 32 << 20, "the server took the body")

    def test_body_of_100_MB_in_chunks(self):
        head = self.head("POST", "/api/v1/agent/runs", CHUNKED)
        with self.under_attack("body of 100 MB in chunks", rss_mib=48) as told:
            seen = self.attack(attacks.pour, head, b"10000\r\n" + b"x" * 65536 + b"\r\n", 1600, 3)
            told["outcome"] = f"413, {seen['sent'] >> 20} MiB sent"
        self.assertEqual(set(seen["statuses"]), {413})
        self.assertLess(seen["sent"], 32 << 20, "the server took the body")

    def test_chunk_extensions_without_end(self):
        head = self.head("POST", "/api/v1/agent/runs", CHUNKED)
        with self.under_attack("chunk extensions", rss_mib=8) as told:
            seen = self.attack(attacks.pour, head, b"1;a=" + b"x" * 8192 + b"\r\nx\r\n", 12800, 4)
            told["outcome"] = f"400, {seen['sent'] >> 20} MiB sent"
        self.assertEqual(set(seen["statuses"]), {400})

    def test_json_of_great_depth(self):
        deep = 100_000
        bodies = {
            "arrays": b"[" * deep + b"]" * deep,
            "arrays without end": b"[" * deep,
            "objects": b'{"a":' * deep + b"1" + b"}" * deep,
            "in a known field": json.dumps(run_input("x", state=0)).encode().replace(
                b'"state": 0', b'"state": ' + b"[" * deep + b"]" * deep),
        }
        self.expect_answers("JSON 100,000 deep", 400, {k: self.post_run_raw(v) for k, v in bodies.items()})

    def test_json_that_is_no_unicode(self):
        bodies = {
            "invalid UTF-8": with_text("\xff\xfe"),
            "an overlong slash": with_text("\xc0\xaf"),
            "a surrogate in UTF-8": with_text("\xed\xa0\x80"),
            "cut UTF-8": with_text("\xe2\x82"),
            "a lone high surrogate": with_text("\\ud800"),
            "a lone low surrogate": with_text("\\udc00"),
            "surrogates in the wrong order": with_text("\\udc00\\ud800"),
            "a NUL": with_text("\\u0000"),
            "a raw NUL": with_text("\0"),
        }
        self.expect_answers("JSON that is no Unicode", 400, {k: self.post_run_raw(v) for k, v in bodies.items()})

    def test_json_with_duplicate_keys(self):
        body = json.dumps(run_input("x", forwarded={"onBusy": "enqueue"}, thread="twice")).encode()
        bodies = {"other": body[:-1] + b', "threadId": "other"}', "equal": body[:-1] + b', "threadId": "twice"}',
                  "nested": body.replace(b'"role": "user"', b'"role": "user", "role": "user"')}
        self.expect_answers("JSON with duplicate keys", 400, {k: self.post_run_raw(v) for k, v in bodies.items()})

    def test_header_of_1_MB(self):
        with self.under_attack("header of 1 MB", rss_mib=8) as told:
            seen = self.attack(attacks.pour, b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"x" * 16384, 64, 50)
            told["outcome"] = f"50 × {seen['statuses'][0]}"
        self.assertEqual(set(seen["statuses"]), {431})

    def test_requests_that_parsers_disagree_about(self):
        body = b"0\r\n\r\n"
        post = "POST /api/v1/agent/runs HTTP/1.1\r\nHost: a\r\n"
        heads = {
            "CL and TE": f"{post}Content-Length: 5\r\n{CHUNKED}\r\n\r\n",
            "TE and CL": f"{post}{CHUNKED}\r\nContent-Length: 5\r\n\r\n",
            "two lengths": f"{post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "a list of lengths": f"{post}Content-Length: 5, 5\r\n\r\n",
            "space before the colon": f"{post}Transfer-Encoding : chunked\r\n\r\n",
            "chunked is not last": f"{post}{CHUNKED}, identity\r\n\r\n",
            "bare LF": "GET / HTTP/1.1\nHost: a\n\n",
            "bare LF once": f"{post}X: a\nContent-Length: 5\r\n\r\n",
            "bare CR": f"{post}X: a\rContent-Length: 5\r\n\r\n",
            "a folded line": f"{post}X: a\r\n b\r\n\r\n",
            "NUL": f"{post}X: a\0b\r\n\r\n",
            "no version": "GET /\r\n\r\n",
            "another authority": "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "an odd host": "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        }
        self.expect_answers("smuggling, bare LF, CL+TE", 400, {k: v.encode() + body for k, v in heads.items()},
                            rss_mib=8)

    def test_http_2_preface(self):
        self.expect_answers("HTTP/2 preface", 505, {"preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, rss_mib=4)

    def test_half_sent_requests(self):
        starts = [b"", b"P", b"POST / HTTP/1.1\r\nHo", self.head("POST", "/api/v1/agent/runs", "Content-Length: 99999"),
                  self.head("POST", "/api/v1/agent/runs", "Content-Length: 99999") + b'{"messages":',
                  self.head("POST", "/api/v1/agent/runs", CHUNKED) + b"ffff\r\n{"]
        with self.under_attack("half-sent requests", rss_mib=8) as told:
            told["outcome"] = f"{self.attack(attacks.leave_halfway, starts, 500)['left']} connections left halfway"

    def test_slowloris(self):
        with self.under_attack("slowloris, 1000 connections", rss_mib=16) as told:
            seen = self.attack(attacks.trickle, b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"x", 0.5, 1000, 15.0)
            told["outcome"] = f"{seen['statuses'].count(408)} × 408 after {seen['first']:.1f}–{seen['last']:.1f} s"
        self.assertEqual(seen["left"], 0, "some connections were never closed")
        self.assertGreater(seen["statuses"].count(408), 900)  # A reset may arrive before the answer.
        self.assertLess(seen["last"], HEADER_TIMEOUT + GRACE + 2 * TICK + 2)

    def test_slow_body(self):
        start = self.head("POST", "/api/v1/agent/runs", "Content-Length: 20000")
        with self.under_attack("slow body, 500 connections", rss_mib=24) as told:
            seen = self.attack(attacks.trickle, start, b" ", 0.5, 500, 15.0)
            told["outcome"] = f"{seen['statuses'].count(408)} × 408 after {seen['first']:.1f}–{seen['last']:.1f} s"
        self.assertEqual(seen["left"], 0, "some connections were never closed")
        self.assertGreater(seen["statuses"].count(408), 450)
        self.assertLess(seen["last"], BODY_TIMEOUT + GRACE + 2 * TICK + 2)

    def test_slow_read_of_an_answer(self):
        for _ in range(5):
            self.api.finish(*self.api.start_run("large " * 40_000, thread="large"))
        with self.under_attack("slow read, 1.2 MB, 8 readers", rss_mib=96) as told:
            seen = self.attack(attacks.crawl, self.head("GET", "/api/v1/agent/history?threadId=large"), 8, 20.0)
            told["outcome"] = f"8 cut within {seen['last']:.1f} s"
        self.assertEqual(seen["left"], 0, "a reader of one byte per second was never cut")
        self.assertLess(seen["last"], 2 * WRITE_TIMEOUT + 2 * TICK + 2)

    def test_slow_read_of_a_stream(self):
        thread, run = self.api.start_run("hello")
        with self.under_attack("slow read of a stream, 20 readers", rss_mib=24) as told:
            seen = self.attack(attacks.crawl, self.head("GET", self.api.events_path(thread, run, "ag-ui")), 20,
                               20.0)
            told["outcome"] = f"20 cut within {seen['last']:.1f} s"
        if seen["left"]:
            self.fail(f"{seen['left']} readers of one byte per second were never cut: {self.api.status(thread, run).body}; "
                      f"the server's log ends: {self.server.log_tail()}")

    def test_10_000_silent_connections(self):
        self.crowd("10,000 silent connections", b"")

    def test_10_000_connections_with_half_a_head(self):
        self.crowd("10,000 × half a head", b"GET / HTTP/1.1\r\nHost: a\r\nX: ")

    def crowd(self, name: str, start: bytes) -> None:
        with self.under_attack(name, rss_mib=16, fds=SILENT_CAP + IN_FLIGHT) as told:
            seen = self.attack(attacks.crowd, start, 10_000, 15.0)
            told["outcome"] = f"opened in {seen['opened']:.1f} s, all closed after {seen['last']:.1f} s"
        self.assertEqual((seen["refused"], seen["left"]), (0, 0))
        self.assertEqual(seen["statuses"].get(503, 0), 0, "a new connection was refused")
        self.assertLess(seen["last"], seen["opened"] + HEADER_TIMEOUT + GRACE + 2 * TICK + 2)


if __name__ == "__main__":
    unittest.main()
