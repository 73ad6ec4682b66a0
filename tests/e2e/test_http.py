"""HTTP-2, HTTP-3, HTTP-5, HTTP-7: errors, tokens, dev mode, health."""

import base64
import json
import socket
import unittest

from e2e_case import E2eCase, eventually, new_id, run_input

from http_client import Connection, Cut, Http


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class ErrorsTest(E2eCase):
    def test_HTTP_2_errors_have_one_form(self):
        thread, run = self.finished_run()
        cases = {
            "no route": (self.api.get("/api/v1/no/such/route"), 404),
            "no such run": (self.api.status(thread, new_id("run")), 404),
            "bad JSON": (self.api.post_run(b"{"), 400),
            "no token": (Http(self.server.address).get("/api/v1/agent/threads"), 401),
            "no runId": (self.api.get(self.api.events_path(thread, None)), 400),
        }
        for name, (answer, status) in cases.items():
            with self.subTest(name):
                self.assert_error(answer, status)
                self.assertEqual(answer.headers["content-type"].split(";")[0], "application/json")

    def test_HTTP_2_a_wrong_method_is_405_or_404(self):
        for method in ("PUT", "DELETE"):
            answer = self.api.request(method, "/api/v1/agent/runs")
            self.assertIn(answer.status, (404, 405))
            self.assert_error(answer, answer.status)

    def test_HTTP_2_request_ids_differ(self):
        ids = {self.api.get("/healthz").headers["x-request-id"] for _ in range(20)}

        self.assertEqual(len(ids), 20)

    def test_HTTP_2_the_request_id_is_in_the_log(self):
        ident = self.api.get("/api/v1/agent/history?threadId=none").headers["x-request-id"]
        self.server.stop()
        self.addCleanup(self.server.start)

        self.assertIn(ident, self.server.log_tail(200_000))

    def test_HTTP_6_a_body_that_is_of_no_use_is_not_waited_for(self):
        for target in ("/healthz", "/", "/openapi.json"):
            with self.subTest(target), Connection(self.server.address, timeout=5) as connection:
                connection.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n".encode())
                connection.read_head()
                self.assertEqual(connection.status, 400)

    def test_HTTP_6_a_body_that_may_be_an_empty_one_is_waited_for_shortly(self):
        with Connection(self.server.address, timeout=10) as connection:
            connection.socket.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{")
            connection.read_head()
            self.assertEqual(connection.status, 408)

    def test_garbage_is_refused_and_the_server_lives(self):
        for raw in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"\r\n" * 10 + b"x\r\n\r\n",
                    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"):
            with self.subTest(raw[:40]), Connection(self.server.address, timeout=15) as connection:
                try:
                    connection.socket.sendall(raw)
                    connection.socket.shutdown(socket.SHUT_WR)
                    connection.read_head()
                except (ConnectionError, Cut):
                    continue  # The server may also close the connection without an answer.
                self.assertGreaterEqual(connection.status, 400)
        self.assertEqual(self.api.get("/healthz").status, 200)


class TokenTest(E2eCase):
    def test_HTTP_3_missing_or_bad_tokens(self):
        token = self.api.token
        head, payload, mark = token.split(".")
        claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
        unsigned = b64(b'{"alg":"none","typ":"JWT"}')
        bad = {
            "none": None, "empty": "", "garbage": "x", "two parts": f"{head}.{payload}",
            "no signature": f"{head}.{payload}.", "alg none": f"{unsigned}.{payload}.",
            "alg none, signed": f"{unsigned}.{payload}.{mark}",
            "other subject": f"{head}.{b64(json.dumps({**claims, 'sub': 'admin'}).encode())}.{mark}",
            "flipped signature": f"{head}.{payload}.{('A' if mark[0] != 'A' else 'B') + mark[1:]}",
            "RS256 in the header": f"{b64(json.dumps({'alg': 'RS256', 'typ': 'JWT'}).encode())}.{payload}.{mark}",
            "huge": "a" * 9000,
        }
        for name, value in bad.items():
            with self.subTest(name):
                self.assert_error(Http(self.server.address, value).get("/api/v1/agent/threads"), 401)

    def test_HTTP_4_a_token_in_the_url_is_not_taken(self):
        for name, status in (("token", 400), ("access_token", 400), ("ticket", 401)):
            answer = Http(self.server.address).get(f"/api/v1/agent/threads?{name}={self.api.token}")
            self.assert_error(answer, status)

    def test_HTTP_3_a_token_serves_over_restarts(self):
        self.finished_run()

        self.server.restart()

        self.assertEqual(self.api.get("/api/v1/agent/threads").status, 200)


class DevModeTest(E2eCase):
    def dev_token(self, **headers: str) -> int:
        headers = self.server.dev_headers() | headers
        return Http(self.server.address).post("/api/v1/auth/dev-token", headers=headers).status

    def test_HTTP_5_dev_token_for_loopback(self):
        port = self.server.port
        answer = Http(self.server.address).post("/api/v1/auth/dev-token", headers=self.server.dev_headers())

        self.assertEqual((answer.status, answer.json["user"]), (200, "demo"))
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "localhost"):
            with self.subTest(host):
                self.assertEqual(self.dev_token(Host=host), 200)
                self.assertEqual(self.dev_token(Host=host, Origin=f"http://{host}"), 200)

    def test_HTTP_5_dev_token_refused_for_a_foreign_host_or_origin(self):
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:127", "10.0.0.1",
                     "127.0.0.1@evil.example", "", "0x7f000001.evil", "evil.example#localhost"):
            with self.subTest(host=host):
                self.assertIn(self.dev_token(Host=host), (400, 403))
        for origin in ("http://evil.example", "https://localhost.evil.example", "null", "http://127.0.0.1.evil.example",
                       "file://", "http://evil.example:80#http://localhost", "http://localhost@evil.example", "x"):
            with self.subTest(origin=origin):
                self.assertEqual(self.dev_token(Origin=origin), 403)

    def test_HTTP_5_dev_token_refused_without_the_secret_as_through_a_plain_proxy(self):
        secret = self.server.dev_headers()["X-Runnel-Dev"]
        # The headers that nginx sends if its configuration has only `proxy_pass http://127.0.0.1:PORT;`.
        proxied = {"Host": f"127.0.0.1:{self.server.port}", "Connection": "close"}
        for wrong in ({}, {"X-Runnel-Dev": ""}, {"X-Runnel-Dev": secret[:-1]}, {"X-Runnel-Dev": secret + "x"},
                      {"X-Runnel-Dev": secret.swapcase()}):
            with self.subTest(wrong):
                answer = Http(self.server.address).post("/api/v1/auth/dev-token", headers=proxied | wrong)
                details = self.assert_error(answer, 403, "DEV_TOKEN_REFUSED")
                self.assertEqual(details, {"reason": "secret"})
                self.assertNotIn("token\":", answer.body.decode())
                self.assertIn("dev.secret", answer.json["error"]["message"])

    def test_HTTP_5_the_printed_address_has_the_secret_and_outlives_restarts(self):
        secret = self.server.dev_headers()["X-Runnel-Dev"]
        self.server.restart()

        self.assertEqual(self.server.dev_headers()["X-Runnel-Dev"], secret)
        self.assertEqual((self.server.data / "dev.secret").stat().st_mode & 0o777, 0o600)
        address = f"http://127.0.0.1:{self.server.port}/#dev={secret}"
        self.assertTrue(eventually(lambda: self.server.log.read_text().count(address) >= 1), self.server.log_tail())
        lines = [line for line in self.server.log.read_text().splitlines() if line.startswith("20")]
        self.assertFalse([line for line in lines if secret in line])

    def test_HTTP_5_dev_token_is_not_given_by_GET(self):
        self.assertIn(Http(self.server.address).get("/api/v1/auth/dev-token").status, (404, 405))


class EchoTest(E2eCase):
    def test_HTTP_2_an_error_echoes_the_beginning_of_a_name_at_most(self):
        long = "Q" * 4000
        thread, run = self.finished_run()
        answers = {
            "dialect": self.api.get(f"/api/v1/agent/runs/{thread}/events?runId={run}&dialect={long}"),
            "event id": self.api.get(f"/api/v1/agent/runs/{thread}/events?runId={run}&lastEventId={long}"),
            "group": self.api.get(f"/api/v1/usage?groupBy={long}"),
            "cursor": self.api.get(f"/api/v1/agent/threads?cursor={long}"),
            "thread": self.api.get(f"/api/v1/agent/history?threadId={long}"),
            "flow": self.api.post_run(run_input("x", forwarded={"flow": long})),
            "model": self.api.post_run(run_input("x", forwarded={"model": long})),
            "policy": self.api.post_run(run_input("x", forwarded={"onBusy": long})),
            "field": self.api.request("PATCH", f"/api/v1/agent/threads/{thread}", {long: 1}),
            "inner field": self.api.request("PUT", "/api/v1/profile", {"settings": {long: {}, "preferences": {long: 1}}}),
            "zone": self.api.request("PUT", "/api/v1/profile", {"settings": {"preferences": {"timezone": long}}}),
            "ticket": self.api.post("/api/v1/auth/tickets", {"for": long}),
            "path": self.api.get("/" + long),
        }
        for name, answer in answers.items():
            with self.subTest(name):
                self.assertGreaterEqual(answer.status, 400)
                self.assertNotIn(b"Q" * 65, answer.body)


class HealthTest(E2eCase):
    def test_HTTP_7_health_and_readiness_need_no_token(self):
        nobody = Http(self.server.address)

        self.assertEqual(nobody.get("/healthz").status, 200)
        self.assertEqual(nobody.get("/readyz").status, 200)

    def test_HTTP_7_the_console(self):
        answer = Http(self.server.address).get("/")

        self.assertEqual(answer.status, 200)
        self.assertIn("text/html", answer.headers["content-type"])

    def test_HTTP_8_no_CORS_by_default(self):
        answer = self.api.post("/api/v1/agent/runs", run_input("x"), headers={"Origin": "https://evil.example"})

        self.assertNotIn("access-control-allow-origin", answer.headers)


if __name__ == "__main__":
    unittest.main()
