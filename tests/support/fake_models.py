"""The model names that choose what the fake provider does: `fake-KIND[:VALUE]…[:OPTION=VALUE]…`."""

import json
import os
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import fake_scripts as scripts
from fake_answer import AS_GIVEN, WHOLE, Answer
from fake_chunks import (CALL_STYLES, USAGE_ALONE, USAGE_NOWHERE, USAGE_PLACES, Reasoning, ToolCall, Wire,
                         null_details, usage)
from fake_http import Request
from fake_vendors import VENDORS

ROOT = Path(__file__).resolve().parents[2]


class BadName(Exception):
    """The name asks for something that does not exist."""


def fixture_folder() -> Path | None:
    """The folder of the recorded streams, or None if there is none."""
    folder = Path(os.environ.get("RUNNEL_FIXTURES") or ROOT.parent / "shared" / "fixtures")
    return folder if folder.is_dir() else None


def fixture_file(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise BadName("no folder of recorded streams was found: name it with --fixtures or RUNNEL_FIXTURES")
    for ending in (".chunks.txt", ".raw.sse"):
        path = folder / f"{name}{ending}"
        if re.fullmatch(r"[\w-]+", name) and path.is_file():
            return path
    raise BadName(f"there is no recorded stream {name!r} in {folder}")


class Options:
    """What follows the kind in a name. Each value and option is taken once; `all_taken` refuses those left over."""

    def __init__(self, texts: list[str]):
        self._values = [text for text in texts if "=" not in text]
        self._named = dict(text.split("=", 1) for text in texts if "=" in text)

    def value(self, default: str | None = None) -> str | None:
        return self._values.pop(0) if self._values else default

    def number(self, default: int) -> int:
        return to_number(self.value(str(default)))

    def named(self, name: str, default: str | None = None, among=None) -> str | None:
        value = self._named.pop(name, default)
        if among and value is not default and value not in among:
            raise BadName(f"{name}={value} is unknown; it must be one of {', '.join(among)}")
        return value

    def named_number(self, name: str) -> int | None:
        value = self._named.pop(name, None)
        return None if value is None else to_number(value)

    def all_taken(self) -> None:
        if left := [*self._values, *self._named]:
            raise BadName(f"this kind of model does not take {', '.join(left)}")


def to_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise BadName(f"{text!r} is not a number")
    return int(text)


@dataclass(frozen=True)
class Call:
    """One request as a kind sees it."""

    request: Request
    options: Options
    attempt: int  # How many earlier requests had exactly this name.
    fixtures: Path | None
    word_delay: float

    @property
    def body(self) -> dict:
        return self.request.json

    @property
    def words(self) -> str:
        """What the user said last."""
        said = [plain(message) for message in self.body["messages"] if message.get("role") == "user"]
        if self.wants_json and len(said) > 1:
            said.pop()  # The last one is the task, with the form of the answer.
        return said[-1] if said else ""

    @property
    def wants_json(self) -> bool:
        return (self.body.get("response_format") or {}).get("type") == "json_object"

    def shaped(self, text: str) -> str:
        """The text. If JSON is asked for, an object with the text, as the JSON Schema in the last message requires."""
        if not self.wants_json:
            return text
        lines = plain(self.body["messages"][-1]).splitlines()
        schema = next((line for line in lines if line.startswith('{"type":"object"')), '{"properties":{"text":{}}}')
        return json.dumps({name: value_for(name, rule, text) for name, rule in json.loads(schema)["properties"].items()},
                          ensure_ascii=False)


def value_for(name: str, schema: dict, text: str):
    """A value that the schema allows, as in an answer that succeeded: an error field is null if it may be."""
    kinds = schema.get("type", "string")
    if name.startswith("error") and "null" in kinds:
        return None
    return schema["enum"][0] if "enum" in schema else {"array": [], "object": {}, "integer": 1, "number": 1,
                                                       "boolean": True}.get(kinds if isinstance(kinds, str) else "", text)


def plain(message: dict) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def tokens(text: str) -> list[str]:
    """The words, each with the space before it, and long words in pieces; joined, they are the text."""
    return re.findall(r"\s*\S{1,12}|\s+", text)


def wire_of(options: Options) -> Wire:
    return Wire(end_of_line=b"\r\n" if options.named("eol", "lf", ("lf", "crlf")) == "crlf" else b"\n",
                space=options.named("space", "yes", ("yes", "no")) == "yes",
                comment=b"keep-alive" if options.named("comments", "no", ("yes", "no")) == "yes" else None,
                multiline=options.named("multiline", "no", ("yes", "no")) == "yes",
                done=options.named("done", "yes", ("yes", "no")) == "yes",
                final_blank=options.named("blank", "yes", ("yes", "no")) == "yes")


def paced(answer: Answer, call: Call) -> Answer:
    size = call.options.named("size", "event")
    sizes = {"event": AS_GIVEN, "whole": WHOLE}
    delay = call.options.named_number("delay")
    usual = call.word_delay if size == "event" else 0
    return answer.paced(sizes[size] if size in sizes else max(1, to_number(size)),
                        usual if delay is None else delay / 1000)


def spoken(call: Call, parts: list, finish: str = "stop") -> Answer:
    """An answer with these parts, in the form that the options ask for."""
    options = call.options
    place = options.named("usage", USAGE_ALONE, (*USAGE_PLACES, "null-details"))
    said = options.named("finish", finish)
    numbers = usage(sum(len(tokens(plain(message))) for message in call.body["messages"]), len(parts))
    if place == "null-details":
        place, numbers = USAGE_ALONE, null_details(numbers)
    if not (call.body.get("stream_options") or {}).get("include_usage"):
        place = USAGE_NOWHERE
    return paced(scripts.stream(parts, None if said == "none" else said, numbers, place, wire_of(options),
                                call.request.model), call)


@dataclass(frozen=True)
class Kind:
    values: str
    says: str
    make: Callable[[Call], Answer]


KINDS: dict[str, Kind] = {}


def kind(name: str, values: str, says: str):
    def register(make: Callable[[Call], Answer]):
        KINDS[name] = Kind(values, says, make)
        return make
    return register


@kind("fake", "", "streams the user's words back")
def friendly(call: Call) -> Answer:
    said = f"You said: {call.words}" if call.words else "You said nothing."
    return spoken(call, tokens(call.shaped(f"{said}\n\nI am a fake model. I only repeat what I hear, but token by token.")))


@kind("fake-think", "", "streams reasoning first, then the user's words")
def think(call: Call) -> Answer:
    thoughts = [Reasoning(piece) for piece in tokens("The user says something. I could think about it, or repeat it.")]
    return spoken(call, [*thoughts, *tokens(call.shaped(f"You said: {call.words}"))])


@kind("fake-tool", "[:NAME]", "calls the tool NAME (default: the first one offered). If the user's words are a JSON "
                              "object, they are the arguments. Takes calls=STYLE. Answers a tool's result with text")
def tool(call: Call) -> Answer:
    named, style = call.options.value(), call.options.named("calls", "plain", (*CALL_STYLES, "cut"))
    last, offered = call.body["messages"][-1], call.body.get("tools") or []
    name = named or (offered[0]["function"]["name"] if offered else None)
    if last.get("role") == "tool":
        return spoken(call, tokens(call.shaped(f"The tool answered: {plain(last)}")))
    if name is None:
        return friendly(call)
    arguments = arguments_in(call.words)
    identity = f"call_fake_{len(call.body['messages'])}"
    if style == "cut":
        return spoken(call, [ToolCall(name, arguments[:-1], identity)], "length")
    return spoken(call, [ToolCall(name, arguments, identity, style=style)], "tool_calls")


def arguments_in(words: str) -> str:
    try:
        return words if isinstance(json.loads(words), dict) else "{}"
    except ValueError:
        return "{}"


@kind("fake-fixture", ":NAME", "replays the recorded stream NAME")
def fixture(call: Call) -> Answer:
    return paced(scripts.replay(fixture_file(call.options.value(""), call.fixtures), wire_of(call.options)), call)


@kind("fake-error", ":STATUS[:TIMES]", "an error. With TIMES: that many errors, then one answer, then errors again. "
                                       "Takes code=TEXT, and for Retry-After after=SECONDS, after_date=SECONDS, "
                                       "after_ms=MS")
def fails(call: Call) -> Answer:
    options = call.options
    status, times = options.number(500), options.value()
    headers = {"seconds": options.named_number("after"), "date": options.named_number("after_date"),
               "milliseconds": options.named_number("after_ms")}
    code, success = options.named("code"), friendly(call)
    if times is not None and call.attempt % (to_number(times) + 1) == to_number(times):
        return success
    return scripts.error(status, code=code).with_headers(**scripts.retry_headers(**headers))


@kind("fake-html", "[:STATUS]", "an HTML page (default: status 502)")
def page(call: Call) -> Answer:
    return scripts.html(call.options.number(502))


@kind("fake-drop", "[:BYTES]", "closes the connection after BYTES of the body (default: 200)")
def drop(call: Call) -> Answer:
    after = call.options.number(200)
    return friendly(call).dropped(after)


@kind("fake-reset", "[:BYTES]", "the same, by a TCP reset")
def reset(call: Call) -> Answer:
    after = call.options.number(200)
    return friendly(call).reset(after)


@kind("fake-hang", "[:head|:BYTES]", "stops sending: before the head, or after BYTES of the body (default: 0)")
def hang(call: Call) -> Answer:
    where = call.options.value("0")
    answer = friendly(call)
    return answer.silent() if where == "head" else answer.hung(to_number(where))


@kind("fake-malformed", "", "a data line that is not JSON")
def malformed(call: Call) -> Answer:
    return paced(scripts.malformed(), call)


@kind("fake-midstream", "", "an error object after some text. Takes code=TEXT")
def midstream(call: Call) -> Answer:
    return paced(scripts.reports_error("Some ", "text", code=call.options.named("code", "500")), call)


@kind("fake-flood", "[:MS]", "only comments, one every MS milliseconds (default: 10), without end")
def flood(call: Call) -> Answer:
    return scripts.keep_alive_flood(call.options.number(10) / 1000)


@kind("fake-line", "[:BYTES]", "one line of BYTES (default: 10000000)")
def line(call: Call) -> Answer:
    return scripts.long_line(call.options.number(10_000_000))


@kind("fake-drip", "[:MS]", "one byte every MS milliseconds (default: 100)")
def drip(call: Call) -> Answer:
    delay = call.options.number(100) / 1000
    return friendly(call).paced(1, delay)


@kind("fake-canary", "[:body|:stream|:html]", "an error that shows the caller's key, to test that nobody repeats it")
def canary(call: Call) -> Answer:
    where = call.options.value("body")
    if where not in ("body", "stream", "html"):
        raise BadName(f"{where!r} is unknown; it must be one of body, stream, html")
    return scripts.echoes_key(call.request.headers.get("authorization", ""), where)


OPTIONS = {
    "size=N|event|whole": "bytes per write; each write is an HTTP chunk of its own (default: event)",
    "delay=MS": "milliseconds before each write",
    "eol=crlf": "lines end in CR LF",
    "space=no": "`data:` without the space",
    "comments=yes": "a comment before each event",
    "multiline=yes": "a chunk's JSON is split over several data lines",
    "done=no": "no [DONE]",
    "blank=no": "no blank line at the end",
    "usage=PLACE": "chunk (alone in the last chunk), finish (in the chunk with the finish reason), none, null-details",
    "finish=REASON": "stop, length, content_filter, …; none: no chunk has a finish reason",
    "calls=STYLE": "only for fake-tool: " + ", ".join((*CALL_STYLES, "cut")),
    "strict=VENDOR": "refuses what the vendor refuses: " + ", ".join(VENDORS),
    "tag=TEXT": "has no effect except that the name is another one, with its own count of TIMES",
}


def is_ours(model: str) -> bool:
    """Whether the name chooses what the provider does."""
    name = model.partition(":")[0]
    return name == "fake" or name.startswith("fake-")


def parse(model: str) -> tuple[Kind, Options]:
    """The kind and the options of a name. A name that does not begin with `fake` is answered as `fake`."""
    if not is_ours(model):
        return KINDS["fake"], Options([])
    name, *rest = model.split(":")
    if name not in KINDS:
        raise BadName(f"there is no model {name!r}; the models are {', '.join(KINDS)}")
    options = Options(rest)
    options.named("tag")
    return KINDS[name], options


def table() -> str:
    """All names and options, for --help."""
    rows = [(name + kind.values, kind.says) for name, kind in KINDS.items()] + [("", "")] + list(OPTIONS.items())
    return "\n".join(textwrap.fill(right, 118, initial_indent=f"  {left:<34}", subsequent_indent=" " * 36)
                     for left, right in rows)
