"""HTTP-4: tickets, for requests to which a browser cannot add a header."""

import re
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

from e2e_case import Api, E2eCase, Server, new_id, offline, run_input

TICKETS = "/api/v1/auth/tickets"
WORDS = 40


class TicketsTest(E2eCase):
    config = offline(word_delay_ms=20, words=WORDS)

    def setUp(self):
        self.browser = Api(self.server.address)  # Sends no token.
        self.thread, self.run_id = self.api.start_run(thread=new_id("thread"))

    def ticket(self, thread: str | None = None, run: str | None = None) -> str:
        answer = self.api.post(TICKETS, {"for": "sse", "threadId": thread or self.thread, "runId": run or self.run_id})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["ticket"]

    def url(self, ticket: str, thread: str | None = None, run: str | None = None) -> str:
        return Api.events_path(thread or self.thread, run or self.run_id, "ag-ui") + f"&ticket={quote(ticket)}"

    def assert_invalid(self, target: str, ticket: str, **kw):
        answer = self.browser.get(target, **kw)
        self.assert_error(answer, 401, "INVALID_TICKET")
        self.assertIn("www-authenticate", answer.headers)
        if ticket:
            self.assertNotIn(ticket.encode(), answer.body)

    def test_HTTP_4_a_ticket_says_until_when_it_must_be_used(self):
        answer = self.api.post(TICKETS, {"for": "sse", "threadId": self.thread, "runId": self.run_id})

        self.assertEqual(answer.status, 201)
        self.assertEqual(sorted(answer.json), ["expiresAt", "ticket"])
        self.assertRegex(answer.json["ticket"], r"\Atkt_[A-Za-z0-9_-]{43}\Z")
        self.assertRegex(answer.json["expiresAt"], r"\A[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z\Z")
        self.assertEqual(answer.headers["cache-control"], "no-store")

    def test_HTTP_4_event_source_reconnects_to_the_same_url(self):
        url = self.url(self.ticket())
        seen = []
        while not seen or seen[-1].event != "RUN_FINISHED":
            headers = {"Last-Event-ID": seen[-1].id} if seen else {}
            with self.browser.open("GET", url, headers=headers) as stream:
                self.assertEqual(stream.status, 200)
                for _ in range(10):  # After ten frames the connection is lost.
                    if (frame := stream.next()) is None:
                        break
                    seen.append(frame)

        with self.api.events(self.thread, self.run_id, "ag-ui") as stream:
            whole = list(stream)
        self.assertEqual([f.id for f in seen], [f.id for f in whole])
        headers = {"Last-Event-ID": seen[-1].id}
        self.assertEqual(self.browser.get(url, headers=headers).status, 204, "status 204 stops an EventSource")

    def test_HTTP_4_two_streams_share_a_ticket(self):
        url = self.url(self.ticket())

        with self.browser.open("GET", url) as first, self.browser.open("GET", url) as second:
            self.assertEqual([f.id for f in first], [f.id for f in second])

    def test_HTTP_4_a_ticket_opens_no_other_run(self):
        ticket = self.ticket()
        other_thread, other_run = self.api.start_run(thread=new_id("thread"))

        self.assert_invalid(self.url(ticket, other_thread, other_run), ticket)
        self.assert_invalid(self.url(ticket, self.thread, other_run), ticket)
        self.assert_invalid(self.url(ticket, other_thread, self.run_id), ticket)
        self.assert_invalid(f"/api/v1/agent/runs/{self.thread}/events?ticket={ticket}", ticket)
        with self.browser.open("GET", self.url(ticket)) as stream:
            self.assertEqual(stream.status, 200, "the ticket must still open its own run")

    def test_HTTP_4_a_ticket_opens_no_other_route_and_no_other_method(self):
        ticket = self.ticket()
        query = f"runId={self.run_id}&threadId={self.thread}&ticket={ticket}"
        runs = f"/api/v1/agent/runs/{self.thread}"

        for method, path in (("GET", runs), ("POST", f"{runs}/cancel"), ("GET", "/api/v1/agent/history"),
                             ("GET", "/api/v1/agent/threads"), ("POST", "/api/v1/agent/runs"), ("POST", TICKETS),
                             ("DELETE", f"/api/v1/agent/threads/{self.thread}")):
            with self.subTest(f"{method} {path}"):
                self.assert_error(self.browser.request(method, f"{path}?{query}"), 401, "UNAUTHORIZED")
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertIn(self.browser.request(method, f"{runs}/events?{query}").status, (204, 405))
        self.assertEqual(self.api.status(self.thread, self.run_id).status, 200)

    def test_HTTP_3_nobody_gets_a_ticket_for_anothers_run(self):
        other = self.server.api("mallory")

        for body in ({"threadId": self.thread, "runId": self.run_id}, {"threadId": self.thread, "runId": "none"}):
            answer = other.post(TICKETS, {"for": "sse", **body})
            self.assert_error(answer, 404, "NOT_FOUND")
        self.assert_error(self.browser.post(TICKETS, {"for": "websocket"}), 401, "UNAUTHORIZED")

    def test_HTTP_4_a_ticket_for_a_websocket_opens_no_stream(self):
        answer = self.api.post(TICKETS, {"for": "websocket"})

        self.assertEqual(answer.status, 201)
        self.assert_invalid(self.url(answer.json["ticket"]), answer.json["ticket"])

    def test_HTTP_1_an_unknown_field_is_named(self):
        answer = self.api.post(TICKETS, {"for": "websocket", "colour": "red"})

        self.assert_error(answer, 400, "INVALID_REQUEST")
        self.assertIn("colour", answer.json["error"]["message"])

    def test_HTTP_4_head_says_what_get_would(self):
        url = self.url(self.ticket())

        head = self.browser.open("HEAD", url)
        head.close()

        self.assertEqual(head.status, 200)
        self.assertEqual(head.headers["content-type"], "text/event-stream")
        with self.browser.open("GET", url) as stream:
            self.assertEqual(stream.status, 200)
        wrong = self.browser.open("HEAD", self.url("tkt_" + "A" * 43))
        wrong.close()
        self.assertEqual(wrong.status, 401)

    def test_HTTP_4_header_and_ticket_together_are_refused(self):
        self.assert_error(self.api.get(self.url(self.ticket())), 400, "INVALID_REQUEST")

    def test_HTTP_4_what_is_no_ticket(self):
        ticket = self.ticket()
        for wrong in ("", "tkt_", "tkt_" + "A" * 43, ticket[:-1], ticket + "A", ticket.upper(), self.api.token,
                      "x" * 5000, "\u00e4\u00f6"):
            with self.subTest(wrong[:60]):
                self.assert_invalid(self.url(wrong), wrong)
        self.assert_error(self.browser.get(self.url(ticket) + f"&ticket={ticket}"), 400, "INVALID_REQUEST")

    def test_HTTP_4_tokens_in_a_url_are_refused_aloud(self):
        for name in ("access_token", "token", "Authorization", "bearer", "JWT"):
            for api in (self.browser, self.api):
                answer = api.get(f"{Api.events_path(self.thread, self.run_id)}&{name}={self.api.token}")
                self.assert_error(answer, 400, "TOKEN_IN_URL")
                self.assertNotIn(self.api.token.encode(), answer.body)

    def test_HTTP_4_tickets_are_neither_logged_nor_stored(self):
        ticket = self.ticket()
        self.browser.open("GET", self.url(ticket)).close()
        self.browser.get(f"/api/v1/{ticket}")
        self.assert_invalid(self.url(ticket, run="other"), ticket)
        files = [self.server.log, *self.server.data.rglob("*")]

        for file in files:
            if file.is_file():
                self.assertNotIn(ticket[4:].encode(), file.read_bytes(), file.name)


class TicketsOverRestartTest(unittest.TestCase):
    def test_HTTP_4_tickets_survive_a_crash(self):
        with tempfile.TemporaryDirectory(prefix="runnel-e2e-") as directory:
            with Server(Path(directory), offline(word_delay_ms=20, words=100)) as server:
                api, browser = server.api(), Api(server.address)
                thread, run = api.start_run()
                ticket = api.post(TICKETS, {"for": "sse", "threadId": thread, "runId": run}).json["ticket"]
                unused = api.post(TICKETS, {"for": "sse", "threadId": thread, "runId": run}).json["ticket"]
                url = f"{Api.events_path(thread, run)}&ticket="
                with browser.open("GET", url + ticket) as stream:
                    last = stream.next()
                    server.restart()

                for known in (ticket, unused):
                    with browser.open("GET", url + known, headers={"Last-Event-ID": last.id}) as stream:
                        self.assertEqual(stream.status, 200)
                        self.assertEqual([f.event for f in stream][-1], "RUN_FINISHED")

    def test_HTTP_4_a_stop_does_not_wait_for_streams_on_tickets(self):
        with tempfile.TemporaryDirectory(prefix="runnel-e2e-") as directory:
            config = offline(word_delay_ms=20, words=3000, runtime={"drain_timeout_s": 0})
            with Server(Path(directory), config) as server:
                api, browser = server.api(), Api(server.address)
                thread, run = api.start_run()
                ticket = api.post(TICKETS, {"for": "sse", "threadId": thread, "runId": run}).json["ticket"]
                with browser.open("GET", f"{Api.events_path(thread, run)}&ticket={ticket}") as stream:
                    stream.next()
                    self.assertEqual(server.stop(timeout=15), 0)


class RunsPerUserTest(E2eCase):
    config = offline(word_delay_ms=20, words=3000, runtime={"runs_per_user": 2})

    def test_HTTP_6_one_run_more_than_the_limit_is_refused(self):
        first = self.api.start_run(thread=new_id("thread"))
        self.api.start_run(thread=new_id("thread"))

        for route in ("/api/v1/agent/runs", "/api/v1/agent/ag-ui"):
            answer = self.api.post(route, run_input("one more"))
            self.assertEqual(self.assert_error(answer, 429, "TOO_MANY_RUNS"), {"limit": 2})
            self.assertRegex(answer.headers["retry-after"], re.compile(r"\A[1-9][0-9]*\Z"))
        self.assertEqual(self.server.api("other").post_run(run_input("hello")).status, 202,
                         "each user has a limit of their own")
        self.api.cancel(*first)
        self.wait_status(*first, "canceled")
        self.assertEqual(self.api.post_run(run_input("room again")).status, 202)


if __name__ == "__main__":
    unittest.main()
