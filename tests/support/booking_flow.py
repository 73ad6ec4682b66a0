"""A flow whose model calls the real tool: the test of crashes and the benchmark of tools need calls that have effects.

The flow has one stage. Its model has no memory: it says the turns of the run one after the other, each when the request
has the results of the turns before it, and then its answer.
"""

import json
from pathlib import Path

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import ToolCall, even, usage
from fake_http import Request
from staged_flows import TOOL, staged_config

BOOKING = "booking"
ANSWER = "It is in the calendar."
DAY = "2026-11-20"
LUNCH = {"start_at": f"{DAY}T12:00:00+08:00", "end_at": f"{DAY}T13:00:00+08:00"}
READ = {"mode": "day", "date": DAY}

_FLOW = f"""\
name: {BOOKING}
description: One stage with the real tool.
stages:
  act: {{start: true, task: converse, tools: [{TOOL}], model: staged-act, answer: true}}
"""

Turn = list[ToolCall]


def booking_config(directory: Path, base_url: str, **more: dict) -> dict:
    """A server with this flow, its model and the real tool."""
    config = staged_config(directory, base_url)
    (directory / "conf" / "flows" / f"{BOOKING}.yaml").write_text(_FLOW)
    return {**config, "tools": {"test": False}, **more}


def tool_turn(*calls: tuple[str, dict]) -> Turn:
    """A turn with these calls: each a method of the calendar and its input."""
    return [ToolCall(TOOL, json.dumps({"module": "calendar", "method": method, "input": value}), f"provider-{at}", at,
                     style="whole") for at, (method, value) in enumerate(calls)]


def booking_turns(title: str) -> list[Turn]:
    """Books a lunch, then looks at the day."""
    return [tool_turn(("create", {"title": title, **LUNCH})), tool_turn(("read", READ))]


class TurnsModel:
    """Makes the answers of a `FakeProvider` (its `otherwise`)."""

    def __init__(self, turns: list[Turn] | None = None):
        self.turns = turns or []

    def __call__(self, request: Request) -> Answer:
        messages = request.json["messages"]
        last_user = max(at for at, message in enumerate(messages) if message["role"] == "user")
        done = sum(bool(message.get("tool_calls")) for message in messages[last_user:])
        if done < len(self.turns):
            return scripts.stream(self.turns[done], "tool_calls", usage(100, 10))
        return scripts.stream(even(ANSWER, 4), "stop", usage(100, 10))
