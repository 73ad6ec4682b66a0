"""Flows of several stages for the tests of recovery, and a model that plays each of their stages.

The model has no memory: its answer depends only on the request, so that a server that dies and asks again gets the same
answer. Each stage has its own model, such as `staged-worker`.
"""

import json
import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import Part, Reasoning, ToolCall, even, usage
from fake_http import Request
from runnel_server import ROOT

SHIPPED = ROOT / "conf"
MODELS = "staged-*"
TOOL = "project_cli"

TWO_STAGES = "staged_worker"  # The worker shows text, tool calls and its answer.
THREE_STAGES = "intent_execution_organization"

_WORKER_FLOW = f"""\
name: {TWO_STAGES}
description: The router and the worker, which has tools.
stages:
  router:
    start: true
    task: route_request
    contract: RouterResult
    model: staged-router
  worker:
    listen: router
    task: do_work
    contract: WorkerResult
    prose: true
    tools: [{TOOL}]
    model: staged-worker
    answer: {{text: answer, status: status, error: error}}
"""


def write_flows(target: Path) -> Path:
    """Writes the shipped flows, with our models, and in addition `TWO_STAGES`."""
    target.mkdir(parents=True)
    for name in ("agents", "tasks", "system_agents", "contracts", "prompts"):
        shutil.copy(SHIPPED / f"{name}.yaml", target)
    shutil.copytree(SHIPPED / "flows", target / "flows")
    (target / "flows" / f"{TWO_STAGES}.yaml").write_text(_WORKER_FLOW)
    path = target / "flows" / f"{THREE_STAGES}.yaml"
    text = path.read_text()
    for stage in ("intent", "execution", "organization"):
        head = f"\n  {stage}:\n"
        assert text.count(head) == 1, f"{path.name} has no stage {stage}"
        text = text.replace(head, f"{head}    model: staged-{stage}\n")
    path.write_text(text)
    return target


def staged_config(directory: Path, base_url: str, offline: dict | None = None) -> dict:
    """A server with these flows, the test tool, and their model in addition to the offline one, the default."""
    prices = directory / "prices.yaml"
    price = {"per_million_tokens": {"input": 2, "output": 3, "cache_hit": 0.2}}
    prices.write_text(json.dumps({"currency": "CNY", "models": {MODELS: [price]}}))
    provider = {"name": "staged", "profile": "local", "base_url": base_url, "models": [MODELS]}
    models = {"default": "offline", "prices": json.dumps(str(prices)), "providers": json.dumps([provider]),
              **({"offline": offline} if offline else {})}
    return {"models": models, "tools": {"test": True},
            "flows": {"dir": json.dumps(str(write_flows(directory / "conf")))}}


class Place(NamedTuple):
    """The point in a run that a request comes from: its stage, how many turns with tools came before it, and how many
    outputs were rejected."""

    stage: str
    turns: int = 0
    rejected: int = 0


def _tool(number: int, method: str, **value) -> ToolCall:
    arguments = json.dumps({"module": "calendar", "method": method, "input": value, "intent": "to see"})
    return ToolCall(TOOL, arguments, f"provider-{number}", number, pieces=4)


_BRIEF = {"route": "NEEDS_EXECUTION", "intent_summary": "Wants the calendar.", "safety_flags": [],
          "execution_brief": "Look into the calendar.", "assistant_text": None}
_NO_BRIEF = "The brief is: look into the calendar."
_EXECUTED = {"status": "SUCCESS", "execution_summary": "Looked.", "execution_data": {"free": True},
             "error_message": None, "report_brief": "Free tomorrow."}
# The run's answer, in both flows.
ANSWER = "You are free tomorrow: nothing stands in the calendar between breakfast and midnight."

# Outputs that are rejected. When the stage is asked again, it gives the correct output.
_REJECTED = {"router": _NO_BRIEF, "intent": _NO_BRIEF,
             "execution": json.dumps({"status": "DONE"}),
             # All that matters is correct until the text is shown; only the field after it is wrong.
             "worker": json.dumps({"status": "SUCCESS", "answer": "You are not free.", "error": 1})}
_RESULTS = {"router": _BRIEF, "intent": _BRIEF, "execution": _EXECUTED,
            "worker": {"status": "SUCCESS", "error": None, "answer": ANSWER},
            "organization": {"response_metadata": {}, "assistant_text": ANSWER}}


def _turns(stage: str, slow_ms: int) -> tuple[list[Part], ...]:
    """What a stage with tools says before it answers. Its slow call takes `slow_ms`."""
    slow = _tool(1, "slow", ms=slow_ms)
    if stage == "execution":
        return [_tool(0, "echo", day=1), slow], [_tool(0, "echo", day=2)]
    if stage == "worker":
        words = [Reasoning("The calendar "), Reasoning("knows."), "Let me ", "look ", "into it."]
        return [*words, _tool(0, "echo", day=1)], [_tool(0, "echo", day=2), slow]
    return ()


STAGES = {TWO_STAGES: ("router", "worker"), THREE_STAGES: ("intent", "execution", "organization")}

# The places that a run goes through, in this order.
PLACES = {
    TWO_STAGES: (Place("router"), Place("router", 0, 1), Place("worker"), Place("worker", 1), Place("worker", 2),
                 Place("worker", 2, 1)),
    THREE_STAGES: (Place("intent"), Place("intent", 0, 1), Place("execution"), Place("execution", 1),
                   Place("execution", 2), Place("execution", 2, 1), Place("organization")),
}
# The checkpoints that it writes: the stage and kind of each.
CHECKPOINTS = {
    TWO_STAGES: [("router", "rejected"), ("router", "stage"), ("worker", "turn"), ("worker", "tool"),
                 ("worker", "turn"), ("worker", "tool"), ("worker", "tool"), ("worker", "rejected")],
    THREE_STAGES: [("intent", "rejected"), ("intent", "stage"), ("execution", "turn"), ("execution", "tool"),
                   ("execution", "tool"), ("execution", "turn"), ("execution", "tool"), ("execution", "rejected"),
                   ("execution", "stage")],
}


def place_of(request: Request) -> Place:
    """The stage's own conversation comes after its task. Task and repairs are messages of the user."""
    stage = request.model.removeprefix("staged-")
    messages = request.json["messages"]
    rejected = sum(message["role"] == "assistant" and message.get("content") == _REJECTED.get(stage)
                   for message in messages)
    if rejected:
        return Place(stage, len(_turns(stage, 0)), rejected)
    last_user = max(at for at, message in enumerate(messages) if message["role"] == "user")
    return Place(stage, sum(bool(message.get("tool_calls")) for message in messages[last_user:]))


def parts_at(place: Place, slow_ms: int) -> list[Part]:
    """What the model says at this place, in pieces as it sends them."""
    turns = _turns(place.stage, slow_ms)
    if place.turns < len(turns):
        return turns[place.turns]
    if place.stage in _REJECTED and not place.rejected:
        return even(_REJECTED[place.stage], 8)
    return even(json.dumps(_RESULTS[place.stage]), 8)


def answer_at(place: Place, slow_ms: int = 5) -> Answer:
    parts = parts_at(place, slow_ms)
    asks = any(isinstance(part, ToolCall) for part in parts)
    return scripts.stream(parts, "tool_calls" if asks else "stop", usage(100, 10))


class StagedModel:
    """Makes the answers of a `FakeProvider` (its `otherwise`), and can stop in the middle of an answer."""

    def __init__(self):
        self.asked: list[tuple[Place, list[dict]]] = []  # The place and the messages of every request.
        self._slow_ms = 5
        self._hold: tuple[Place, int] | None = None
        self._held = threading.Event()

    def begin(self, hold: tuple[Place, int] | None = None, slow_ms: int = 5) -> None:
        """Begins a new run. With `hold`, the first answer at that place stops after that many events."""
        self.asked, self._hold, self._slow_ms = [], hold, slow_ms
        self._held.clear()

    def wait_held(self, seconds: float) -> bool:
        """Waits until the answer that stops has been requested."""
        return self._held.wait(seconds)

    def __call__(self, request: Request) -> Answer:
        place = place_of(request)
        self.asked.append((place, request.json["messages"]))
        answer = answer_at(place, self._slow_ms)
        if not self._hold or self._hold[0] != place:
            return answer
        events, self._hold = self._hold[1], None
        self._held.set()
        return answer.hung(sum(map(len, list(answer.pieces)[:events])))
