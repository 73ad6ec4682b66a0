"""How a fake provider answers one request: which bytes it sends, in which writes, when, and how the answer ends."""

import dataclasses
import threading
from dataclasses import dataclass, field
from enum import Enum
from typing import Iterable, Iterator, Mapping

AS_GIVEN = None  # One write for each piece of the body.
WHOLE = 0  # The body in one write.

EVENT_STREAM = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


class Framing(Enum):
    """How the client learns the body's length."""

    CHUNKED = "chunked"  # Each write is an HTTP chunk.
    LENGTH = "length"
    CLOSE = "close"  # The body runs to the end of the connection.


class End(Enum):
    """What follows the last write."""

    ORDERLY = "orderly"  # The body ends as HTTP requires.
    DROP = "drop"  # The connection is closed inside the body.
    RESET = "reset"  # The same, by a TCP reset.
    HANG = "hang"  # Nothing more is sent until the client closes the connection.


@dataclass(frozen=True)
class Answer:
    """Immutable: the methods return a changed copy. `pieces` may be endless unless the framing is LENGTH."""

    pieces: Iterable[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)
    framing: Framing = Framing.CHUNKED
    size: int | None = AS_GIVEN  # Bytes per write.
    delay: float = 0  # Seconds before each write.
    head_delay: float = 0
    body_delay: float = 0  # Between the head and the first write.
    limit: int | None = None  # `end` happens after this many bytes of the body; None: after the whole body.
    end: End = End.ORDERLY
    headless: bool = False  # Nothing is sent, not even the head.
    gate: threading.Event | None = None  # Nothing is sent before it is set.

    def paced(self, size: int | None = AS_GIVEN, delay: float = 0) -> "Answer":
        return dataclasses.replace(self, size=size, delay=delay)

    def late(self, head: float = 0, body: float = 0) -> "Answer":
        return dataclasses.replace(self, head_delay=head, body_delay=body)

    def dropped(self, after: int) -> "Answer":
        return dataclasses.replace(self, limit=after, end=End.DROP)

    def reset(self, after: int) -> "Answer":
        return dataclasses.replace(self, limit=after, end=End.RESET)

    def hung(self, after: int) -> "Answer":
        """With `after` 0, the head is sent and nothing of the body."""
        return dataclasses.replace(self, limit=after, end=End.HANG)

    def silent(self) -> "Answer":
        """Nothing is sent, not even the head."""
        return dataclasses.replace(self, headless=True)

    def behind(self, gate: threading.Event) -> "Answer":
        """Nothing is sent before the test sets `gate`."""
        return dataclasses.replace(self, gate=gate)

    def until_close(self) -> "Answer":
        return dataclasses.replace(self, framing=Framing.CLOSE)

    def with_headers(self, **headers: str) -> "Answer":
        """An underscore in a name stands for a hyphen: `retry_after` is `retry-after`."""
        added = {name.replace("_", "-"): value for name, value in headers.items()}
        return dataclasses.replace(self, headers={**self.headers, **added})

    def writes(self) -> Iterator[bytes]:
        """The body, one write after another."""
        return limited(resized(self.pieces, self.size), self.limit)


def resized(pieces: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    """The same bytes in pieces of `size`; the last may be shorter."""
    if size is AS_GIVEN:
        yield from pieces
    elif size == WHOLE:
        yield b"".join(pieces)
    else:
        rest = b""
        for piece in pieces:
            rest += piece
            whole = len(rest) - len(rest) % size
            for at in range(0, whole, size):
                yield rest[at:at + size]
            rest = rest[whole:]
        if rest:
            yield rest


def limited(pieces: Iterable[bytes], limit: int | None) -> Iterator[bytes]:
    """The first `limit` bytes."""
    if limit is None:
        yield from pieces
        return
    left = limit
    for piece in pieces:
        if left == 0:
            return
        yield piece[:left]
        left -= min(left, len(piece))
