"""HTTP-3: every route × every verb × every kind of caller. The routes come from /openapi.json, which the server checks
against its router. A route without a row here fails the test."""

import json
import re
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from e2e_case import E2eCase, Server, new_id, offline, run_input

from http_client import Cut, Response
from issuer import Issuer, hs256, jwt
from runnel_server import BINARY, Api

VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass
class Row:
    """The statuses of one operation. `request` makes a new request of the owner each time: (path, body)."""
    request: Callable[["MatrixTest"], tuple[str, dict | bytes | None]]
    owner: int
    other: int | None = None  # None: the same as for the owner, because each user gets their own data.
    open: bool = False  # Needs no token.


def at(path: str, body: dict | bytes | None = None):
    return lambda case: (path, body)


def on_thread(form: str, body: dict | None = None):
    return lambda case: (form.format(thread=case.finished()[0]), body)


def on_run(form: str, body: dict | None = None):
    return lambda case: (form.format(*case.finished()), body)


def ticket_for_run(case: "MatrixTest"):
    thread, run = case.finished()
    return "/api/v1/auth/tickets", {"for": "sse", "threadId": thread, "runId": run}


def on_contact(body: dict | None = None):
    return lambda case: (f"{CONTACTS}/{case.contact()}", body)


def on_event(form: str = "", body: dict | None = None):
    return lambda case: (f"{EVENTS}/{case.event()}{form}", body)


def on_invite(answer: str):
    return lambda case: (f"{INVITES}/{case.invite()}/{answer}", None)


def on_task(form: str = ""):
    return lambda case: (f"{TASKS}/{case.finished()[1]}{form}", None)


RUNS = "/api/v1/agent/runs"
TASKS = "/api/v1/tasks"
CONTACTS = "/api/v1/contacts"
CALENDAR = "/api/v1/calendar"
EVENTS = f"{CALENDAR}/events"
THREAD_EVENTS = "/api/v1/agent/threads/{thread_id}/events"
INVITES = f"{CALENDAR}/invites"
MEETING = {"title": "mine", "start_at": "2026-11-20T12:00:00Z", "end_at": "2026-11-20T13:00:00Z"}
MEMORY = "/api/v1/memory"
THREADS = "/api/v1/agent/threads"
ROWS: dict[tuple[str, str], Row] = {
    ("GET", "/"): Row(at("/"), 200, open=True),
    ("GET", "/healthz"): Row(at("/healthz"), 200, open=True),
    ("GET", "/readyz"): Row(at("/readyz"), 200, open=True),
    ("GET", "/metrics"): Row(at("/metrics"), 200, open=True),
    ("GET", "/openapi.json"): Row(at("/openapi.json"), 200, open=True),
    ("POST", "/api/v1/auth/tickets"): Row(ticket_for_run, 201, other=404),
    ("POST", RUNS): Row(lambda case: (RUNS, run_input("hello")), 202),
    ("POST", "/api/v1/agent/ag-ui"): Row(lambda case: ("/api/v1/agent/ag-ui", run_input("hello")), 200),
    ("GET", f"{RUNS}/{{thread_id}}"): Row(on_run(RUNS + "/{}?runId={}"), 200, other=404),
    ("GET", f"{RUNS}/{{thread_id}}/events"): Row(on_run(RUNS + "/{}/events?runId={}"), 200, other=404),
    ("GET", f"{RUNS}/{{thread_id}}/stages"): Row(on_run(RUNS + "/{}/stages?runId={}"), 200, other=404),
    ("POST", f"{RUNS}/{{thread_id}}/cancel"): Row(on_run(RUNS + "/{}/cancel?runId={}"), 200, other=404),
    ("POST", TASKS): Row(at(TASKS, {"message": "hello"}), 202),
    ("GET", f"{TASKS}/{{task_id}}"): Row(on_task(), 200, other=404),
    # A GET that asks for no WebSocket. What one that does is answered with is in test_task_sockets.py.
    ("GET", f"{TASKS}/{{task_id}}/ws"): Row(on_task("/ws"), 426),
    ("POST", f"{TASKS}/{{task_id}}/cancel"): Row(on_task("/cancel"), 200, other=404),
    ("GET", "/api/v1/agent/approvals"): Row(at("/api/v1/agent/approvals"), 200),
    ("POST", f"{RUNS}/{{thread_id}}/approvals/{{tool_call_id}}"):
        Row(on_thread(RUNS + "/{thread}/approvals/call_1", {"decision": "approve"}), 404, other=404),
    ("GET", THREAD_EVENTS): Row(on_thread("/api/v1/agent/threads/{thread}/events"), 200, other=404),
    ("GET", "/api/v1/agent/history"): Row(on_thread("/api/v1/agent/history?threadId={thread}"), 200, other=404),
    ("GET", "/api/v1/usage"): Row(on_thread("/api/v1/usage?threadId={thread}&groupBy=day"), 200, other=404),
    ("GET", "/api/v1/flows"): Row(at("/api/v1/flows"), 200),
    ("GET", "/api/v1/models"): Row(at("/api/v1/models"), 200),
    ("GET", "/api/v1/tools"): Row(at("/api/v1/tools"), 200),
    ("GET", "/api/v1/profile"): Row(at("/api/v1/profile"), 200),
    ("PUT", "/api/v1/profile"): Row(at("/api/v1/profile", {"username": "mine"}), 200),
    ("GET", THREADS): Row(at(THREADS), 200),
    ("GET", f"{THREADS}/{{thread_id}}"): Row(on_thread(THREADS + "/{thread}"), 200, other=404),
    ("PATCH", f"{THREADS}/{{thread_id}}"): Row(on_thread(THREADS + "/{thread}", {"title": "mine"}), 200, other=404),
    ("DELETE", f"{THREADS}/{{thread_id}}"): Row(on_thread(THREADS + "/{thread}"), 204, other=404),
    ("GET", CONTACTS): Row(at(CONTACTS), 200),
    ("POST", CONTACTS): Row(at(CONTACTS, {"name": "mine"}), 201),
    ("GET", f"{CONTACTS}/{{contact_id}}"): Row(on_contact(), 200, other=404),
    ("PATCH", f"{CONTACTS}/{{contact_id}}"): Row(on_contact({"name": "mine"}), 200, other=404),
    ("DELETE", f"{CONTACTS}/{{contact_id}}"): Row(on_contact(), 204, other=404),
    # The other user is not a guest. What a guest may do is in test_calendar.py.
    ("GET", EVENTS): Row(at(EVENTS + "?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z"), 200),
    ("POST", EVENTS): Row(at(EVENTS, MEETING), 201),
    ("GET", f"{EVENTS}/{{event_id}}"): Row(on_event(), 200, other=404),
    ("PATCH", f"{EVENTS}/{{event_id}}"): Row(on_event(body={"title": "mine"}), 200, other=404),
    ("DELETE", f"{EVENTS}/{{event_id}}"): Row(on_event(), 204, other=404),
    ("POST", f"{EVENTS}/{{event_id}}/share"): Row(on_event("/share", {"user_ids": ["guest"]}), 200, other=404),
    ("GET", INVITES): Row(at(INVITES), 200),
    ("POST", f"{INVITES}/{{invite_id}}/accept"): Row(on_invite("accept"), 200, other=404),
    ("POST", f"{INVITES}/{{invite_id}}/reject"): Row(on_invite("reject"), 200, other=404),
    ("GET", f"{CALENDAR}/feed"): Row(at(f"{CALENDAR}/feed"), 200),
    ("POST", f"{CALENDAR}/feed"): Row(at(f"{CALENDAR}/feed"), 201),
    ("DELETE", f"{CALENDAR}/feed"): Row(at(f"{CALENDAR}/feed"), 204),
    # Whoever knows the address may read it.
    ("GET", f"{CALENDAR}/feeds/{{feed}}"): Row(lambda case: (case.feed(), None), 200, open=True),
    ("POST", f"{CALENDAR}/import"): Row(at(f"{CALENDAR}/import", b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"), 200),
    ("GET", f"{MEMORY}/{{kind}}"): Row(at(f"{MEMORY}/user"), 200),
    ("PUT", f"{MEMORY}/{{kind}}"): Row(at(f"{MEMORY}/user", {"about": "mine"}), 200),
    ("PATCH", f"{MEMORY}/{{kind}}"): Row(at(f"{MEMORY}/work_profile", {"role": "mine"}), 200),
    ("DELETE", f"{MEMORY}/{{kind}}"): Row(at(f"{MEMORY}/user"), 204),
}
# Only in dev mode. A server with keys is not in dev mode.
DEV_ONLY = {("POST", "/api/v1/auth/dev-token")}


class MatrixTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY.exists():
            raise AssertionError(f"there is no server at {BINARY}: build it, or set RUNNEL_BIN")
        directory = tempfile.TemporaryDirectory(prefix="runnel-matrix-")
        cls.addClassCleanup(directory.cleanup)
        cls.issuer = Issuer(Path(directory.name), "RS256")
        config = offline(auth=cls.issuer.settings(),
                         http={"requests_per_user_per_s": 100000, "request_burst_per_user": 100000,
                               "streams_per_user": 100000})
        cls.server = Server(Path(directory.name), config)
        cls.server.start()
        cls.addClassCleanup(cls.server.close)
        cls.owner, cls.other, cls.host = (Api(cls.server.address, cls.issuer.token(user))
                                          for user in ("owner", "other", "host"))
        cls.document = Api(cls.server.address, None).get("/openapi.json").json
        cls.strangers = {name: Api(cls.server.address, token) for name, token in cls.bad_tokens().items()}

    @classmethod
    def bad_tokens(cls) -> dict[str, str | None]:
        issuer, claims = cls.issuer, cls.issuer.claims("owner")
        public = issuer.public.read_bytes()
        other_issuer = Issuer(issuer.public.parent, "RS256", kid="stranger")
        header = {"typ": "JWT", "kid": issuer.kid}
        return {
            "anonymous": None,
            "expired": issuer.token("owner", exp=int(time.time()) - 1),
            "not yet valid": issuer.token("owner", nbf=int(time.time()) + 3600),
            "wrong audience": issuer.token("owner", aud="another"),
            "wrong issuer": issuer.token("owner", iss="https://evil.example"),
            "wrong algorithm": jwt({**header, "alg": "RS512"}, claims, issuer.sign),
            "none": jwt({**header, "alg": "none"}, claims, lambda text: b""),
            "HS256 with the public key": jwt({**header, "alg": "HS256"}, claims, hs256(public)),
            "HS256 with the public key, called RS256": jwt({**header, "alg": "RS256"}, claims, hs256(public)),
            "another's key": jwt({**header, "alg": "RS256"}, claims, other_issuer.sign),
            "another's kid": other_issuer.token("owner"),
        }

    def operations(self) -> set[tuple[str, str]]:
        return {(verb.upper(), path) for path, item in self.document["paths"].items()
                for verb in item if verb.upper() in VERBS}

    def finished(self) -> tuple[str, str]:
        thread, run = self.owner.start_run("hello", thread=new_id("thread"))
        self.assertEqual(self.owner.finish(thread, run), "RUN_FINISHED")
        return thread, run

    def contact(self) -> str:
        return self.owner.request("POST", CONTACTS, {"name": "A friend"}).json["contact_id"]

    def event(self) -> str:
        return self.owner.request("POST", EVENTS, MEETING).json["event_id"]

    def invite(self) -> str:
        """An invitation of the owner, to an event of somebody else."""
        event = self.host.request("POST", EVENTS, MEETING).json["event_id"]
        shared = self.host.request("POST", f"{EVENTS}/{event}/share", {"user_ids": ["owner"]})
        return shared.json["items"][0]["invite_id"]

    def feed(self) -> str:
        return self.owner.request("POST", f"{CALENDAR}/feed").json["address"]

    def ask(self, api: Api, verb: str, path: str, body: dict | bytes | None) -> Response:
        if verb == "GET" and re.fullmatch(THREAD_EVENTS.format(thread_id="[^/]+"), path):
            with api.open(verb, path, body) as stream:  # It does not end.
                return Response(stream.status, stream.headers, b"" if stream.status == 200 else stream.connection.read_body())
        return api.request(verb, path, body)

    def test_HTTP_7_every_route_has_a_row(self):
        self.assertEqual(self.operations() - DEV_ONLY - set(ROWS), set(), "routes without a row")
        self.assertEqual(set(ROWS) - self.operations(), set(), "rows without a route")

    def test_HTTP_3_owner_and_other(self):
        for (verb, pattern), row in ROWS.items():
            with self.subTest(f"{verb} {pattern}"):
                path, body = row.request(self)
                expected = row.owner if row.other is None else row.other
                answer = self.ask(self.other, verb, path, body)
                self.assertEqual(answer.status, expected, f"other: {answer.body[:300]}")
                if row.other == 404:
                    self.assertEqual(answer.error_code, "NOT_FOUND")
                # The other user's attempt has changed nothing.
                self.assertEqual(self.ask(self.owner, verb, path, body).status, row.owner)

    def test_HTTP_3_foreign_and_missing_look_the_same(self):
        for (verb, pattern), row in ROWS.items():
            if row.other != 404:
                continue
            with self.subTest(f"{verb} {pattern}"):
                path, body = row.request(self)
                thread = self.finished()[0]
                foreign = self.ask(self.other, verb, path, body)
                asked = json.dumps([path, body])
                gone = re.sub(r"\b(thread-|con_|evt_|inv_)|(?<=/tasks/)", "gone-", asked)
                self.assertNotEqual(gone, asked)
                missing = self.ask(self.other, verb, *json.loads(gone))
                self.assertEqual(foreign.body, missing.body, thread)

    def test_HTTP_3_nobody_else_comes_in(self):
        for (verb, pattern), row in ROWS.items():
            path, body = row.request(self)
            for name, api in self.strangers.items():
                with self.subTest(f"{verb} {pattern}, {name}"):
                    answer = self.ask(api, verb, path, body)
                    if row.open:
                        self.assertEqual(answer.status, row.owner)
                    else:
                        self.assertEqual(answer.status, 401, answer.body[:300])
                        self.assertIn("Bearer", answer.headers["www-authenticate"])
            with self.subTest(f"{verb} {pattern}, unchanged"):
                self.assertEqual(self.ask(self.owner, verb, path, body).status, row.owner)

    def test_HTTP_3_other_verbs_are_405_for_everyone(self):
        taken: dict[str, set[str]] = {}
        for verb, pattern in self.operations() - DEV_ONLY:
            taken.setdefault(pattern, set()).update({verb, "HEAD"} if verb == "GET" else {verb})
        everyone = {"owner": self.owner, "other": self.other, **self.strangers}
        for pattern, verbs in taken.items():
            path = re.sub(r"\{\w+\}", "thread-x", pattern)
            for verb in set(VERBS) - verbs:
                for name, api in everyone.items():
                    with self.subTest(f"{verb} {pattern}, {name}"):
                        answer = self.ask(api, verb, path, None)
                        self.assertEqual(answer.status, 405, answer.body[:300])
                        if verb != "HEAD":
                            self.assertEqual(set(answer.headers["allow"].split(", ")), verbs)

    def test_HTTP_3_head_asks_as_get_does(self):
        for (verb, pattern), row in ROWS.items():
            if verb != "GET":
                continue
            with self.subTest(pattern):
                path, _ = row.request(self)
                self.assertEqual(self.ask(self.owner, "HEAD", path, None).status, row.owner)
                self.assertEqual(self.ask(self.other, "HEAD", path, None).status,
                                 row.owner if row.other is None else row.other)
                self.assertEqual(self.ask(self.strangers["anonymous"], "HEAD", path, None).status,
                                 row.owner if row.open else 401)

    def test_HTTP_5_a_server_with_keys_gives_no_dev_token(self):
        for api in (self.owner, self.strangers["anonymous"]):
            self.assertEqual(api.post("/api/v1/auth/dev-token").status, 404)

    def test_HTTP_4_a_bearer_in_the_url_is_refused(self):
        token = self.issuer.token("owner")
        for name in ("access_token", "token", "authorization", "bearer", "Access_Token"):
            with self.subTest(name):
                answer = self.strangers["anonymous"].get(f"{THREADS}?{name}={token}")
                self.assertIn(answer.status, (400, 401))
                self.assertNotIn(token.encode(), answer.body)


class EllipticTest(E2eCase):
    """ES256, with two keys at the same time."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="runnel-es256-")
        cls.addClassCleanup(directory.cleanup)
        cls.old, cls.new = (Issuer(Path(directory.name), "ES256", kid=kid) for kid in ("old", "new"))
        settings = cls.new.settings()
        settings["keys"] += f",old={cls.old.public}"
        cls.server = Server(Path(directory.name), offline(word_delay_ms=80, words=80, auth=settings))
        cls.server.start()
        cls.addClassCleanup(cls.server.close)

    def test_HTTP_3_keys_rotate_by_kid(self):
        for issuer in (self.old, self.new):
            self.assertEqual(Api(self.server.address, issuer.token("ada")).get(THREADS).status, 200)
        crossed = jwt({"alg": "ES256", "kid": "new"}, self.old.claims("ada"), self.old.sign)
        self.assertEqual(Api(self.server.address, crossed).get(THREADS).status, 401)
        unnamed = jwt({"alg": "ES256"}, self.old.claims("ada"), self.old.sign)
        self.assertEqual(Api(self.server.address, unnamed).get(THREADS).status, 401)

    def test_HTTP_3_a_stream_ends_with_its_token_and_resumes_with_another(self):
        starter = Api(self.server.address, self.new.token("ada"))
        thread, run = starter.start_run("slow")
        expires = int(time.time()) + 3
        short = Api(self.server.address, self.new.token("ada", exp=expires))

        seen = []
        with self.assertRaises(Cut), short.events(thread, run, dialect="ag-ui") as stream:
            self.assertEqual(stream.status, 200)
            for frame in stream:
                seen.append(frame)
        self.assertLess(time.time() - expires, 3)
        self.assertGreaterEqual(time.time(), expires)

        answer = short.get(THREADS)
        self.assert_error(answer, 401)
        self.assertEqual(answer.json["error"]["details"], {"reason": "expired"})
        rest = starter.read_events(thread, run, dialect="ag-ui", after=seen[-1].id)
        whole = starter.read_events(thread, run, dialect="ag-ui")
        self.assertEqual([frame.id for frame in seen + rest], [frame.id for frame in whole])
        self.assertEqual(rest[-1].event, "RUN_FINISHED")


if __name__ == "__main__":
    unittest.main()
