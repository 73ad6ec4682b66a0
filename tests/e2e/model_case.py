"""What the tests of models share: a server that uses a fake provider's models, and access to its ledger."""

import json
import sqlite3
import tempfile
from decimal import Decimal
from pathlib import Path

from e2e_case import E2eCase

from fake_provider import FakeProvider
from http_client import Http
from runnel_server import TERMINALS, Server

# CNY per million tokens of the prompt and of the answer, unless a test sets other prices.
INPUT, OUTPUT = 2, 3
PRICE = {"per_million_tokens": {"input": INPUT, "output": OUTPUT, "cache_hit": 0.2}}
PICO = 10**12


def price_list(models: dict | None = None) -> dict:
    """A price list without time windows, so that a test costs the same at any hour."""
    return {"currency": "CNY", "models": models or {"fake*": [PRICE]}}


def provider(base_url: str, name: str = "fake", models: tuple[str, ...] = ("fake*",), **more) -> dict:
    return {"name": name, "profile": "local", "base_url": base_url, "models": list(models), **more}


def model_config(prices: Path | str, providers: list[dict], models: dict | None = None, **more) -> dict:
    """The lists are written as JSON, which is valid YAML."""
    settings = {"prices": json.dumps(str(prices)), "providers": json.dumps(providers), **(models or {})}
    return {"models": settings, **more}


def money(pico: int) -> str:
    """The amount as the API writes it: without zeros at the end."""
    return f"{(Decimal(pico) / PICO).normalize():f}"


def input_estimate(*messages: str) -> int:
    """The estimate of docs/pricing.md for ASCII text, plus four tokens for each message."""
    return sum(text_estimate(text) + 4 for text in messages)


def text_estimate(text: str) -> int:
    return (3 * len(text) + 9) // 10


class ModelCase(E2eCase):
    """A server and a fake provider for each class."""

    prices: dict = price_list()

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="runnel-models-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.fake = FakeProvider().start()
        cls.addClassCleanup(lambda: cls.fake.close())  # A test may have replaced cls.fake.
        cls.prices_file = cls.folder / "prices.yaml"
        cls.prices_file.write_text(json.dumps(cls.prices))
        cls.config = cls.make_config()
        super().setUpClass()

    @classmethod
    def make_config(cls) -> dict:
        return model_config(cls.prices_file, [provider(cls.fake.base_url)], {"default": "fake"})

    def run_model(self, model: str, text: str = "hello", thread: str | None = None, api=None) -> "ModelRun":
        api = api or self.api
        return ModelRun(api, *api.start_run(text, thread=thread, forwarded={"model": model})).read()

    def calls(self, thread: str) -> list[dict]:
        return ledger(self.server, thread)

    def usage(self, thread: str, api=None) -> dict:
        answer = (api or self.api).get(f"/api/v1/usage?threadId={thread}&groupBy=model")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def metrics(self) -> dict[str, float]:
        lines = Http(self.server.address).get("/metrics").body.decode().splitlines()
        return {name: float(value) for name, value in (l.rsplit(" ", 1) for l in lines if not l.startswith("#"))}

    def assert_books(self, thread: str, api=None) -> int:
        """USE-8: every attempt has ended and is booked on one row; rows, ledger and totals agree. Returns the cost."""
        calls, rows = self.calls(thread), message_rows(self.server, thread)
        self.assertEqual([c for c in calls if c["status"] == "open" or c["message_id"] is None], [])
        costs = {row["message_id"]: 0 for row in rows}
        for call in calls:
            costs[call["message_id"]] += call["cost"]
        self.assertEqual({row["message_id"]: row["cost"] for row in rows}, costs)
        total = sum(call["cost"] for call in calls)
        usage = self.usage(thread, api)
        self.assertEqual(usage["total"]["cost"], money(total))
        self.assertEqual(sum(Decimal(group["cost"]) for group in usage["groups"]) * PICO, total)
        for wire, column in (("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")):
            self.assertEqual(usage["total"][wire], sum(call[column] for call in calls))
            self.assertEqual(usage["total"][wire], sum(row[column] for row in rows))
        return total

    def asked_estimate(self) -> int:
        """The input tokens of the provider's last request, as the server estimates them."""
        return input_estimate(*(message["content"] for message in self.fake.calls[-1].json["messages"]))

    def wait_for_calls(self, count: int) -> None:
        self.assertTrue(self.fake.wait_for(lambda: len(self.fake.calls) >= count))


class ModelRun:
    """A run and the frames that an ag-ui client received."""

    def __init__(self, api, thread: str, run: str):
        self.api, self.thread, self.run = api, thread, run
        self.frames: list = []

    def read(self) -> "ModelRun":
        self.frames = self.api.read_events(self.thread, self.run, dialect="ag-ui", agui="1.0")
        return self

    def joined(self, event: str) -> str:
        return "".join(frame.json["delta"] for frame in self.frames if frame.event == event)

    @property
    def text(self) -> str:
        return self.joined("TEXT_MESSAGE_CONTENT")

    @property
    def reasoning(self) -> str:
        return self.joined("REASONING_MESSAGE_CONTENT")

    @property
    def kinds(self) -> list[str]:
        return [frame.event for frame in self.frames]

    @property
    def terminals(self) -> list[str]:
        return [kind for kind in self.kinds if kind in TERMINALS]

    @property
    def end(self) -> dict:
        return self.frames[-1].json

    @property
    def outcome(self) -> str:
        """RUN_FINISHED, or the code of the error."""
        return self.end.get("code", self.end["type"])


def ledger(server: Server, thread: str) -> list[dict]:
    """The attempts of a thread, oldest first."""
    return query(server, "SELECT * FROM model_calls WHERE thread_ref = ? ORDER BY row_no", thread)


def message_rows(server: Server, thread: str) -> list[dict]:
    """All messages of a thread, including those that nobody can see."""
    return query(server, "SELECT m.* FROM agent_chat_messages m JOIN agent_chat_sessions s ON s.id = m.session_id "
                         "WHERE s.thread_ref = ? ORDER BY m.id", thread)


def query(server: Server, sql: str, *values) -> list[dict]:
    database = sqlite3.connect(f"file:{server.database}?mode=ro", uri=True, timeout=10)
    database.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in database.execute(sql, values)]
    finally:
        database.close()
