"""A strict parser for Runnel's event streams (SSE-1): `id`, `event`, `data`, blank line, LF only.

Every deviation is an error, even one that a browser would accept. The `data` line is kept as the bytes that were
received, so that two reads can be compared byte for byte.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property

# The events that have no id.
NOTICES = (b"event: CUSTOM",)

_ID = re.compile(rb"(0|[1-9][0-9]*)-([1-9][0-9]*)")


class SseError(Exception):
    """The stream is not what SSE-1 promises."""


@dataclass(frozen=True)
class Frame:
    id: str  # Empty for a notice, which is no fact of a run and so never a cursor.
    event: str
    data: bytes

    @property
    def position(self) -> tuple[int, int]:
        """(epoch, n): the order of the frames of one run, also if it had several writers."""
        epoch, n = self.id.split("-")
        return int(epoch), int(n)

    @cached_property
    def json(self) -> dict:
        return json.loads(self.data)


class SseParser:
    """Takes bytes and returns the complete frames. A frame that was cut stays in `pending` and is never returned."""

    def __init__(self):
        self.pending = b""
        self.comments: list[bytes] = []
        self.retries: list[int] = []
        self.places: list[str] = []  # Ids that came without an event: how far the client has read.
        self.needs_ids = True  # False for a stream that a client joins (AGUI-5).

    def feed(self, data: bytes) -> list[Frame]:
        if b"\r" in data:
            raise SseError(f"carriage return in the stream: {data[:200]!r}")
        self.pending += data
        *blocks, self.pending = self.pending.split(b"\n\n")
        frames = [self._block(block) for block in blocks]
        return [frame for frame in frames if frame]

    def _block(self, block: bytes) -> Frame | None:
        lines = block.split(b"\n")
        rest = []
        for line in lines:
            if line.startswith(b":"):
                self.comments.append(line)
            elif re.fullmatch(rb"retry: [0-9]+", line):
                self.retries.append(int(line[7:]))
            else:
                rest.append(line)
        if not self.needs_ids and len(rest) == 1 and rest[0].startswith(b"id: "):
            self.places.append(rest.pop()[4:].decode())
        return self._frame(rest) if rest else None

    def _frame(self, lines: list[bytes]) -> Frame:
        if lines[0] in NOTICES or (not self.needs_ids and lines[0].startswith(b"event: ")):
            lines = [b"id: ", *lines]
        names = [line.split(b": ", 1)[0] for line in lines]
        if names != [b"id", b"event", b"data"]:
            raise SseError(f"a frame must have id, event and data, each once and in this order: {lines!r}")
        ident, event, data = (line.split(b": ", 1)[1] for line in lines)
        if ident and not _ID.fullmatch(ident):
            raise SseError(f"bad id {ident!r}")
        try:
            body = json.loads(data)
        except ValueError as error:
            raise SseError(f"data is not JSON: {data[:200]!r}") from error
        if not isinstance(body, dict) or body.get("type") != event.decode():
            raise SseError(f"event {event!r} differs from the type in {data[:200]!r}")
        return Frame(ident.decode(), event.decode(), data)


def parse_all(raw: bytes) -> list[Frame]:
    """The frames of a whole body, which must end at a frame's end."""
    parser = SseParser()
    frames = parser.feed(raw)
    if parser.pending:
        raise SseError(f"the body ends inside a frame: {parser.pending[-200:]!r}")
    return frames
