"""The stream of an OpenAI-compatible provider: chunks from a script or a recording, and their framing as events."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

USAGE_ALONE = "chunk"  # In a last chunk with empty choices: OpenAI, DashScope, llama.cpp, Ollama, vLLM.
USAGE_ON_FINISH = "finish"  # On the chunk with the finish reason: DeepSeek, groq, Mistral.
USAGE_NOWHERE = "none"
USAGE_PLACES = (USAGE_ALONE, USAGE_ON_FINISH, USAGE_NOWHERE)

# How the fragments of a tool call are written.
CALL_STYLES = {
    "plain": "id and name first, then the arguments in pieces",
    "whole": "all in one fragment (groq, Ollama)",
    "empty": 'later fragments repeat "id":"" and "name":"" (DashScope, LM Studio)',
    "no-index": "no fragment has an index",
    "no-id": "no fragment has an id (some vLLM parsers)",
    "empty-id": 'every id is "" (LM Studio)',
}


@dataclass(frozen=True)
class Reasoning:
    text: str
    field: str = "reasoning_content"  # vLLM and Ollama: "reasoning".


@dataclass(frozen=True)
class ToolCall:
    name: str
    arguments: str = "{}"
    id: str = "call_fake_0"
    index: int = 0
    style: str = "plain"
    pieces: int = 3  # Into how many pieces the arguments are split.


@dataclass(frozen=True)
class Raw:
    """A data line that is sent unchanged, whether it is JSON or not."""

    data: str


Part = str | Reasoning | ToolCall | Raw | dict  # A string is a piece of text, a dict a whole chunk.


def usage(input_tokens: int = 10, output_tokens: int = 5, **more) -> dict:
    """`more` is added unchanged: `prompt_tokens_details=None`, `prompt_cache_hit_tokens=3`."""
    return {"prompt_tokens": input_tokens, "completion_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens, **more}


def null_details(numbers: dict) -> dict:
    return {**numbers, "prompt_tokens_details": None, "completion_tokens_details": None}


def chunk(delta: dict | None, finish: str | None = None, model: str = "fake", **more) -> dict:
    """If `delta` is None, the chunk has no choice."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    return {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1760000000, "model": model,
            "choices": choices, **more}


def fragments(call: ToolCall) -> list[dict]:
    """The `tool_calls` entries of one call, in order."""
    first = {"index": call.index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
    if call.style == "whole":
        first["function"]["arguments"] = call.arguments
        return [first]
    rest = [{"index": call.index, "function": {"arguments": piece}} for piece in even(call.arguments, call.pieces)]
    if call.style == "empty":
        rest = [{"index": call.index, "id": "", "type": "function", "function": {"name": "", **entry["function"]}}
                for entry in rest]
    all_of_them = [first, *rest]
    for entry in all_of_them:
        if call.style == "no-index":
            del entry["index"]
        if call.style == "no-id":
            entry.pop("id", None)
        if call.style == "empty-id":
            entry["id"] = ""
    return all_of_them


def even(text: str, count: int) -> list[str]:
    """The text in at most `count` pieces of about the same length."""
    size = max(1, -(-len(text) // count))
    return [text[at:at + size] for at in range(0, len(text), size)]


def deltas(part: Part) -> list[dict]:
    if isinstance(part, str):
        return [{"content": part}]
    if isinstance(part, Reasoning):
        return [{"content": None, part.field: part.text}]
    return [{"tool_calls": [entry]} for entry in fragments(part)]


def completion(parts: list[Part], finish: str | None = "stop", numbers: dict | None = None,
               usage_on: str = USAGE_ALONE, model: str = "fake") -> list[dict | Raw]:
    """A whole answer. If `finish` is None, no chunk says why it ended; if `numbers` is None, it has no usage."""
    out: list[dict | Raw] = [chunk({"role": "assistant", "content": ""}, model=model)]
    for part in parts:
        out += [part] if isinstance(part, (Raw, dict)) else [chunk(delta, model=model) for delta in deltas(part)]
    on_finish = {"usage": numbers} if numbers and usage_on == USAGE_ON_FINISH else {}
    if finish is not None or on_finish:
        out.append(chunk({}, finish, model, **on_finish))
    if numbers and usage_on == USAGE_ALONE:
        out.append(chunk(None, model=model, usage=numbers))
    return out


@dataclass(frozen=True)
class Wire:
    """How chunks become an event stream. Each default is what most providers do."""

    end_of_line: bytes = b"\n"
    space: bool = True  # A space follows `data:`.
    comment: bytes | None = None  # Sent before each event, for example b"keep-alive".
    multiline: bool = False  # A chunk's JSON is split over several `data` lines.
    done: bool = True  # `[DONE]` comes last.
    final_blank: bool = True  # The last event ends with a blank line. If false, even its own line end is missing.

    def frame(self, chunks: list[dict | Raw | bytes]) -> list[bytes]:
        """One piece per event; joined, they are the body."""
        lines = [self._data(item) for item in chunks] + ([b"[DONE]"] if self.done else [])
        events = [self._event(data) for data in lines]
        if events and not self.final_blank:
            events[-1] = events[-1][:-2 * len(self.end_of_line)]
        return events

    def _data(self, item: dict | Raw | bytes) -> bytes:
        if isinstance(item, bytes):
            return item
        if isinstance(item, Raw):
            return item.data.encode()
        style = {"indent": 1} if self.multiline else {"separators": (",", ":")}
        return json.dumps(item, ensure_ascii=False, **style).encode()

    def _event(self, data: bytes) -> bytes:
        field = b"data: " if self.space else b"data:"
        lines = [field + line for line in data.split(b"\n")]
        comment = b"" if self.comment is None else b": " + self.comment + 2 * self.end_of_line
        return comment + self.end_of_line.join(lines) + 2 * self.end_of_line


def recording(path: Path, wire: Wire = Wire()) -> list[bytes]:
    """The pieces of a recorded stream. `*.chunks.txt` holds one chunk per line; any other file is a body as sent."""
    data = path.read_bytes()
    if not path.name.endswith(".chunks.txt"):
        return [event for event in re.split(rb"(?<=\n\n)", data) if event]
    return wire.frame([line for line in data.split(b"\n") if line])
