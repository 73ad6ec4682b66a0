"""What the tests of the fake provider share."""

import json
import unittest

from fake_provider import FakeProvider
from http_client import Connection, Http, Response

ROUTE = "/v1/chat/completions"


def chat(model: str = "fake", text: str = "Good morning", **more) -> dict:
    return {"model": model, "stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": text}], **more}


def chunks(response: Response) -> list[dict]:
    """The chunks of a well-formed stream whose lines end in LF and that ends with `[DONE]`."""
    *events, done, nothing = response.body.split(b"\n\n")
    assert (done, nothing) == (b"data: [DONE]", b""), response.body[-100:]
    return [json.loads(event.removeprefix(b"data: ")) for event in events if not event.startswith(b":")]


def content(response: Response) -> str:
    return "".join(choice["delta"].get("content") or "" for chunk in chunks(response) for choice in chunk["choices"])


def fragments(response: Response) -> list[dict]:
    return [entry for chunk in chunks(response) for choice in chunk["choices"]
            for entry in choice["delta"].get("tool_calls", ())]


def finish(response: Response) -> str | None:
    return ([choice["finish_reason"] for chunk in chunks(response) for choice in chunk["choices"]
             if choice["finish_reason"]] or [None])[-1]


class FakeCase(unittest.TestCase):
    strict: str | None = None

    def setUp(self):
        self.fake = FakeProvider(strict=self.strict).start()
        self.addCleanup(self.fake.close)
        self.http = Http(self.fake.address, "sk-canary")

    def ask(self, model: str = "fake", **how) -> Response:
        return self.http.post(ROUTE, chat(model, **how))

    def scripted(self, answer) -> Response:
        self.fake.script(answer)
        return self.ask()

    def open(self, model: str = "fake") -> Connection:
        """Starts a call and returns its connection; none of the answer has been read."""
        connection = Connection(self.fake.address, timeout=5)
        self.addCleanup(connection.close)
        body = json.dumps(chat(model)).encode()
        connection.send("POST", ROUTE, {}, body)
        return connection

    def assert_left(self, connection: Connection, sent: int | None = None):
        """The call goes on until the client closes its connection, and the provider notices that."""
        self.assertTrue(self.fake.wait_for(lambda: bool(self.fake.calls)))
        self.assertEqual((self.fake.open_connections, self.fake.calls[0].outcome), (1, None))
        connection.close()
        self.assertTrue(self.fake.wait_for(lambda: self.fake.calls[0].outcome == "abandoned", 5))
        self.assertEqual((self.fake.open_connections, self.fake.connections[0].closed_by), (0, "client"))
        if sent is not None:
            self.assertEqual(self.fake.calls[0].sent, sent)
