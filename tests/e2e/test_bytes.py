"""HTTP-9, HTTP-1: how many bytes and values one user may send and leave unread, on the real server."""

import json
import time
import unittest

from e2e_case import E2eCase, eventually, new_id, offline, run_input

from http_client import Connection, Response

RUNS = "/api/v1/agent/runs"
AG_UI = "/api/v1/agent/ag-ui"
LIMIT = 256 * 1024


class MessageTest(E2eCase):
    def test_HTTP_9_a_message_has_at_most_256_KiB(self):
        for path in (RUNS, AG_UI):
            with self.subTest(path):
                answer = self.api.post(path, run_input("x" * (LIMIT + 1)))

                details = self.assert_error(answer, 413, "MESSAGE_TOO_LARGE")
                self.assertEqual(details, {"sizeBytes": LIMIT + 1, "limitBytes": LIMIT})

        self.finished_run("é" * (LIMIT // 2))  # Bytes are counted, not characters.
        parts = [{"type": "text", "text": "x" * (LIMIT // 2)}] * 3
        self.assert_error(self.api.post_run({"messages": [{"role": "user", "content": parts}]}), 413, "MESSAGE_TOO_LARGE")

    def test_HTTP_9_earlier_messages_do_not_count(self):
        body = run_input("hello")
        body["messages"].insert(0, {"id": "0", "role": "user", "content": "x" * (2 * LIMIT)})

        self.assertEqual(self.api.post_run(body).status, 202)


class BodyTest(E2eCase):
    def test_HTTP_9_a_body_without_a_message_has_at_most_64_KiB(self):
        thread, run = self.finished_run()
        large = json.dumps({"title": "x" * 65536}).encode()
        for method, path in (("PUT", "/api/v1/profile"), ("PATCH", f"/api/v1/agent/threads/{thread}"),
                             ("POST", "/api/v1/auth/tickets")):
            with self.subTest(f"{method} {path}"):
                details = self.assert_error(self.api.request(method, path, large), 413, "BODY_TOO_LARGE")
                self.assertEqual(details, {"limitBytes": 65536})

    def test_HTTP_9_values_and_keys_are_counted(self):
        for name, state in {"keys": {f"k{i}": 0 for i in range(10_000)}, "values": [0] * 20_000,
                            "lists": [[]] * 20_000}.items():
            with self.subTest(name):
                details = self.assert_error(self.api.post_run(run_input("x", state=state)), 400, "JSON_TOO_COMPLEX")
                self.assertEqual(details, {"limit": 20_000})
        self.assertEqual(self.api.post_run(run_input("x", state=[0] * 19_000)).status, 202)

    def test_HTTP_9_a_long_conversation_of_a_stock_client_is_taken(self):
        body = run_input("hello")
        earlier = {"id": "m", "role": "assistant", "content": "x" * 500}
        body["messages"] = [earlier] * 2_000 + body["messages"]

        self.assertEqual(self.api.post_run(body).status, 202)

    def test_HTTP_1_a_route_that_needs_no_body_takes_an_empty_one(self):
        thread, run = self.finished_run()
        cancel = f"{RUNS}/{thread}/cancel?runId={run}"
        for method, path in (("GET", "/api/v1/agent/threads"), ("POST", cancel), ("GET", "/healthz")):
            for body in (b"", b"{}", b" {}\n"):
                with self.subTest(f"{method} {path}", body=body):
                    self.assertEqual(self.api.request(method, path, body).status, 200)
                    self.assertEqual(self.chunked(method, path, body).status, 200)
            for body in (b"[]", b'{"a":1}', b"x", b"{}" * 1000):
                with self.subTest(f"{method} {path}", body=body[:10]):
                    self.assert_error(self.api.request(method, path, body), 400, "INVALID_REQUEST")
                    self.assert_error(self.chunked(method, path, body), 400, "INVALID_REQUEST")

    def test_HTTP_1_other_forms_of_a_target(self):
        with Connection(self.server.address) as connection:
            connection.send("OPTIONS", "*", {})
            answer = connection.response()
        self.assertEqual((answer.status, answer.body), (204, b""))
        for target in ("/#a", "/healthz#a", "/healthz?a#b", '/a"b', "/a<b", "/a|b", "/a{b}", "/a^b", "/a`b", "/a\\b"):
            with self.subTest(target):
                self.assert_error(self.api.get(target), 400, "MALFORMED_REQUEST")

    def chunked(self, method: str, path: str, body: bytes) -> Response:
        with Connection(self.server.address) as connection:
            connection.send(method, path, self.api.headers({"Transfer-Encoding": "chunked"}))
            piece = f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""
            connection.socket.sendall(piece + b"0\r\n\r\n")
            return connection.response()


class InFlightTest(E2eCase):
    config = offline(http={"body_bytes_per_user": 300_000, "body_bytes_total": 500_000,
                           "answer_bytes_per_user": 1_500_000})

    def withheld(self, api, size: int) -> Connection:
        """A request whose last byte is never sent."""
        connection = Connection(self.server.address)
        self.addCleanup(connection.close)
        connection.send("POST", RUNS, api.headers({"Content-Length": str(size)}))
        connection.socket.sendall(b" " * (size - 1))
        time.sleep(0.2)
        return connection

    def test_HTTP_9_bodies_in_flight_are_bounded(self):
        other, third = self.server.api("other"), self.server.api("third")
        body = json.dumps(run_input("x", state="y" * 200_000)).encode()
        first = self.withheld(self.api, 250_000)

        refused = self.api.post_run(body)
        self.assertEqual(self.assert_error(refused, 429, "TOO_MANY_BODY_BYTES"), {"limitBytes": 300_000})
        self.assertEqual(refused.headers["retry-after"], "1")
        self.assertEqual(other.post_run(body).status, 202)

        second = self.withheld(other, 200_000)
        refused = third.post_run(body)
        self.assert_error(refused, 503, "SERVER_BUSY")
        self.assertEqual(refused.headers["retry-after"], "1")
        self.assertEqual(third.get("/api/v1/agent/threads").status, 200)

        first.close()
        second.close()
        self.assertTrue(eventually(lambda: third.post_run(body).status == 202, 5))
        self.assertTrue(eventually(lambda: self.api.post_run(body).status == 202, 5))

    def test_HTTP_9_answers_in_flight_are_bounded(self):
        thread = new_id("thread")
        for _ in range(4):
            self.finished_run("x" * 200_000, thread=thread)
        path = f"/api/v1/agent/history?threadId={thread}"
        readers = []
        for _ in range(3):
            connection = Connection(self.server.address, receive_buffer=4096)
            self.addCleanup(connection.close)
            connection.send("GET", path, self.api.headers(None))
            connection.read_head()
            readers.append(connection)

        statuses = [reader.status for reader in readers]
        self.assertEqual(statuses[0], 200)
        self.assertEqual(statuses[-1], 429)
        refused = self.api.get(path)
        self.assertEqual(self.assert_error(refused, 429, "TOO_MANY_ANSWER_BYTES"), {"limitBytes": 1_500_000})
        self.assertEqual(refused.headers["retry-after"], "1")
        self.assertEqual(self.server.api("other").get("/api/v1/agent/threads").status, 200)

        for reader in readers:
            reader.close()
        self.assertTrue(eventually(lambda: self.api.get(path).status == 200, 5))


class ChargedTest(E2eCase):
    config = offline(http={"requests_per_user_per_s": 1, "request_burst_per_user": 5})

    def test_HTTP_9_a_large_body_counts_as_several_requests(self):
        body = json.dumps(run_input("x", state="y" * (7 * 65536))).encode()
        self.assertEqual(self.api.post_run(body).status, 202)

        refused = self.api.get("/api/v1/agent/threads")

        self.assert_error(refused, 429, "TOO_MANY_REQUESTS")
        self.assertIn(int(refused.headers["retry-after"]), (3, 4))


if __name__ == "__main__":
    unittest.main()
