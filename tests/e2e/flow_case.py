"""What the tests of flows share: a server with the shipped flows, and a model that says what the test specifies."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from model_case import ModelCase, ModelRun, model_config, provider

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import Reasoning, ToolCall, even, usage
from runnel_server import ROOT

SHIPPED = ROOT / "conf"
TOOL = "project_cli"


def copy_flows(target: Path) -> Path:
    """Copies the shipped flows, agents and texts, so that a test can change them."""
    target.mkdir(parents=True)
    for name in ("agents", "tasks", "system_agents", "contracts", "prompts"):
        shutil.copy(SHIPPED / f"{name}.yaml", target)
    shutil.copytree(SHIPPED / "flows", target / "flows")
    return target


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name}: {old!r} occurs {text.count(old)} times instead of once"
    path.write_text(text.replace(old, new))


def merge_flows(folder: Path, more: Path) -> Path:
    """Adds the files of `more`. A new file is copied; any other is appended to the shipped file."""
    for path in more.rglob("*.yaml"):
        target = folder / path.relative_to(more)
        known = target.read_text() if target.exists() else ""
        target.write_text(known + path.read_text())
    return folder


def as_text(content: str | dict) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def numbers(call: int) -> dict:
    """The usage that call 1, 2, 3 … reports: round numbers, different for each call."""
    return usage(100 * call, 10 * call)


@dataclass(frozen=True)
class Says:
    """A whole answer, in a few pieces."""

    content: str | dict
    thinks: str = ""
    pieces: int = 3

    @property
    def parts(self) -> list:
        return ([Reasoning(self.thinks)] if self.thinks else []) + even(as_text(self.content), self.pieces)

    def answer(self, call: int) -> Answer:
        return scripts.stream(self.parts, numbers=numbers(call))

    def __str__(self) -> str:
        return (f"thinks {self.thinks!r}, then " if self.thinks else "") + as_text(self.content)


@dataclass(frozen=True)
class Calls:
    """Asks for the tool's methods, one tool call for each (method, input), after some words."""

    methods: tuple[tuple[str, dict], ...]
    before: str = ""

    def arguments(self, method: str, value: dict) -> str:
        return json.dumps({"module": "calendar", "method": method, "input": value, "intent": "to see"})

    def answer(self, call: int) -> Answer:
        calls = [ToolCall(TOOL, self.arguments(method, value), f"provider-{call}-{i}", i, pieces=2)
                 for i, (method, value) in enumerate(self.methods)]
        return scripts.stream([*([self.before] if self.before else []), *calls], "tool_calls", numbers(call))

    def __str__(self) -> str:
        calls = " and ".join(f"calendar.{method} {json.dumps(value)}" for method, value in self.methods)
        return (f"{self.before!r}, then " if self.before else "") + f"calls {calls}"


@dataclass(frozen=True)
class Stalls:
    """Begins an answer and never ends it."""

    content: str = ""

    def answer(self, _: int) -> Answer:
        return scripts.stalled(even(self.content, 3) if self.content else [])

    def __str__(self) -> str:
        return f"begins {self.content} and stalls" if self.content else "stalls before the first word"


def calls(method: str, before: str = "", **value) -> Calls:
    return Calls(((method, value),), before)


class FlowCase(ModelCase):
    """The server uses the fake provider's models and the flows of `make_flows`; if that is None, the built-in ones."""

    @classmethod
    def make_flows(cls) -> Path | None:
        return None

    @classmethod
    def make_config(cls) -> dict:
        folder = cls.make_flows()
        flows = {"default": "router_worker", **({"dir": json.dumps(str(folder))} if folder else {})}
        return model_config(cls.prices_file, [provider(cls.fake.base_url)], {"default": "fake"}, flows=flows,
                            tools={"test": True})

    def start_flow(self, flow: str, *steps, text: str = "Am I free tomorrow?", thread: str | None = None) -> ModelRun:
        """Starts a run whose model answers with these steps."""
        self.asked = len(self.fake.calls)
        self.fake.script(*(step if isinstance(step, Answer) else step.answer(number)
                           for number, step in enumerate(steps, 1)))
        return ModelRun(self.api, *self.api.start_run(text, thread=thread, forwarded={"flow": flow}))

    def run_flow(self, flow: str, *steps, **how) -> ModelRun:
        """Does the same and reads the run to its end. Every answer must have been requested."""
        run = self.start_flow(flow, *steps, **how).read()
        self.assertEqual((self.fake.unused_script, len(self.requests)), (0, len(steps)), run.end)
        return run

    @property
    def requests(self) -> list[dict]:
        """The bodies that the provider received since the last run was started."""
        return [request.json for request in self.fake.calls[self.asked:]]

    def wait_for_text(self, run: ModelRun, text: str) -> None:
        """Waits until a live client has seen exactly this text."""
        shown = ""
        with self.api.events(run.thread, run.run, dialect="ag-ui", agui="1.0", timeout=5) as stream:
            while shown != text:
                frame = stream.next()
                self.assertIsNotNone(frame, f"the run ended after {shown!r}")
                shown += frame.json["delta"] if frame.event == "TEXT_MESSAGE_CONTENT" else ""

    def last_words(self, run: ModelRun) -> str:
        """The answer as a v2 client receives it."""
        return next(frame.json["answer"] for frame in self.api.read_events(run.thread, run.run)
                    if frame.event == "TEXT_MESSAGE_END")


def squeeze(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= limit else line[:limit - 1].rstrip() + "…"
