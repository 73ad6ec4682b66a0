"""Readers of every wire that come and go at random: they drop a connection at any byte, come back with what they have, in
another dialect, and ask for what is long over. Each remembers what it saw; `wire_checks.py` judges it afterwards."""

import json
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from agui_order import order_violations  # noqa: E402
from http_client import Connection, EventStream, HttpError, Response  # noqa: E402
from runnel_server import Api  # noqa: E402
from sse import Frame, SseError, SseParser  # noqa: E402
from tasks import task_path  # noqa: E402
from web_socket import CLOSE, PING, PONG, TEXT, Refused, WebSocket, follow  # noqa: E402
from wire_checks import TASKS, Item, Place, Seen, Trail  # noqa: E402

DIALECTS = {"v2": {"dialect": "v2"}, "v1": {"dialect": "v1"}, "ag-ui 1.0": {"dialect": "ag-ui", "agui": "1.0"},
            "ag-ui 0.0": {"dialect": "ag-ui", "agui": "0.0"}}
VERSIONS = {"ag-ui 1.0": {"protocolVersion": "1.0"}, "ag-ui 0.0": {}}
BROKEN = (OSError, HttpError)
LATER = (429, 503)  # The server is full. The reader comes back.
COME_BACK = (1012, 1013)
WITHOUT_LIMIT = 10**9


@dataclass
class Started:
    """A run that somebody has started."""

    api: Api
    thread: str
    run: str
    body: dict | None = None  # The input with which it was posted, if that can be posted again.
    over: bool = False

    @property
    def name(self) -> str:
        return f"run {self.run}"

    def has_begun(self) -> bool:
        return "startedAt" in self.api.status(self.thread, self.run).json


def place_of(ident: str) -> Place:
    epoch, n = ident.split("-")
    return int(epoch), int(n)


def ident_of(place: Place | None) -> str | None:
    return None if place is None else f"{place[0]}-{place[1]}"


def thread_name(thread: str) -> str:
    return f"thread {thread}"


def random_size(rng: random.Random) -> int:
    """How many bytes a reader gets before its connection drops."""
    return rng.choice((0, rng.randrange(300), rng.randrange(3000), rng.randrange(30_000), WITHOUT_LIMIT, WITHOUT_LIMIT))


def read_bytes(stream: EventStream, size: int, seconds: float) -> bytes:
    """The first bytes of the body, up to its end, and no longer than this. What breaks it off is not an error."""
    deadline = time.monotonic() + seconds
    try:
        while len(stream.raw) < size and (left := deadline - time.monotonic()) > 0:
            stream.give_up_after(left)
            if not stream.read_some():
                break
    except BROKEN:
        pass
    return stream.raw[:size]


def frames_in(raw: bytes, whole: bool) -> list[Item]:
    """The complete frames. A `whole` body has nothing behind the last one."""
    return as_items(parsed(SseParser(), raw, whole))


def parsed(parser: SseParser, raw: bytes, whole: bool) -> list[Frame]:
    frames = parser.feed(raw)
    if whole and parser.pending:
        raise SseError(f"the stream ends inside a frame: {parser.pending[-200:]!r}")
    return frames


def as_items(frames: list[Frame]) -> list[Item]:
    return [Item(place_of(frame.id), frame.event, frame.data.decode()) for frame in frames]


def events_in(body: bytes) -> list[Item]:
    """The events of a poll, each as the bytes that were sent."""
    text, decoder = body.decode(), json.JSONDecoder()
    at = text.index('"events":[') + len('"events":[')
    items = []
    while text[at] != "]":
        if text[at] in ",\n":
            at += 1
            continue
        event, end = decoder.raw_decode(text, at)
        items.append(task_item(event, text[at:end]))
        at = end
    return items


def task_item(event: dict, text: str) -> Item:
    return Item((0, event["idx"]), event["type"], text)


@dataclass
class Reader:
    """One reader of one source. A subclass knows one family of wires, which share their cursor."""

    source: Started
    rng: random.Random
    trail: Trail = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    cursor: Place | None = None
    ends: int = 0  # How often the server has said that there is nothing more.

    @property
    def name(self) -> str:
        """What it reads."""
        return self.source.name

    @property
    def done(self) -> bool:
        """Whether it has come back often enough after the end."""
        return self.ends > 1 or bool(self.problems)

    def step(self, number: int) -> None:
        """One connection, or one poll."""
        seen = self.connect(number)
        if seen:
            self.trail.append(seen)
            self.ends += seen.ended

    def connect(self, number: int) -> Seen | None:
        raise NotImplementedError

    def refused(self, seen: Seen, answer: Response | Refused) -> None:
        if answer.status not in LATER:
            self.problems.append(f"{seen}: answered with {answer.status}: {answer.body[:300]!r}")


@dataclass
class StreamReader(Reader):
    """Reads event streams. All their dialects have the same ids."""

    dialect: str = "v2"
    wire = "get"

    def connect(self, number: int) -> Seen | None:
        rng = self.rng
        if rng.random() < 0.5:
            self.dialect = rng.choice(list(DIALECTS))
        if self.source.body and self.dialect in VERSIONS and rng.random() < 0.2:
            return self._read(Seen(number, self.name, self.dialect, "post", None, aside=True))
        if self.dialect in VERSIONS and rng.random() < 0.3:
            seen = self._read(Seen(number, self.name, self.dialect, "join", None))
            self.cursor = seen.after if seen and seen.after else self.cursor
        else:
            after = None if rng.random() < 0.05 else self.cursor
            seen = self._read(Seen(number, self.name, self.dialect, self.wire, after))
        if seen and seen.items:
            self.cursor = seen.items[-1].place
        return seen

    def _read(self, seen: Seen) -> Seen | None:
        size, seconds = random_size(self.rng), self.rng.choice((0.05, 0.2, 0.5, 1.0))
        try:
            with self.open(seen) as stream:
                if stream.status == 204:
                    seen.ended = True
                    return seen
                if stream.status != 200:
                    answer = Response(stream.status, stream.headers, stream.connection.read_body())
                    return self.refused(seen, answer)
                raw = read_bytes(stream, size, seconds)
                seen.ended = stream.ended and len(raw) == len(stream.raw)
                seen.items = self.beginning(seen, raw) if seen.wire == "join" else frames_in(raw, seen.ended)
        except SseError as error:
            self.problems.append(f"{seen}: {error}")
        except BROKEN:
            return None
        return seen

    def open(self, seen: Seen) -> EventStream:
        """The cursor is in the header, as an EventSource sends it, or in the query."""
        source = self.source
        if seen.wire == "post":  # The same input again: no second run begins, and it is the stream of the first (RUN-2, AGUI-2).
            return source.api.open("POST", "/api/v1/agent/ag-ui", {**source.body, **VERSIONS[self.dialect]})
        if seen.wire == "join":
            stream = source.api.open("GET", source.api.events_path(source.thread, source.run, **DIALECTS[self.dialect]) + "&join=1")
            stream.parser.needs_ids = False
            return stream
        key = self.rng.choice(("after", "last"))
        return source.api.events(source.thread, source.run, **{key: ident_of(seen.after)}, **DIALECTS[self.dialect])

    def beginning(self, seen: Seen, raw: bytes) -> list[Item]:
        """AGUI-5: what a client that joins gets first has no ids. Then the stream goes on behind a place that it names."""
        parser = SseParser()
        parser.needs_ids = False
        frames = parsed(parser, raw, seen.ended)
        self.problems += [f"{seen}: {text}" for text in
                          order_violations([(frame.id, frame.event, frame.data.decode()) for frame in frames])]
        first = [frame.event for frame in frames[:3]]
        if first != ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"][: len(frames)]:
            self.problems.append(f"{seen}: begins with {first}")
        if parser.places:
            seen.after = place_of(parser.places[0])
        return as_items([frame for frame in frames if frame.id])


@dataclass
class ThreadReader(StreamReader):
    """Follows all runs of a thread on one stream (RUN-15)."""

    wire = "thread"

    @property
    def name(self) -> str:
        return thread_name(self.source.thread)

    @property
    def done(self) -> bool:
        return len(self.trail) > 9 or bool(self.problems)

    def connect(self, number: int) -> Seen | None:
        if self.rng.random() < 0.5:
            self.dialect = self.rng.choice(list(DIALECTS))
        after = None if self.rng.random() < 0.05 else self.cursor
        from_start = after is None and self.rng.random() < 0.7
        seen = self._read(Seen(number, self.name, self.dialect, self.wire, after, any_run=after is None and not from_start))
        if seen and seen.items:
            self.cursor = seen.items[-1].place
        return seen

    def open(self, seen: Seen) -> EventStream:
        begin = {} if seen.after or seen.any_run else {"from": "start"}
        key = self.rng.choice(("after", "lastEventId"))
        return self.source.api.thread_events(self.source.thread, **{key: ident_of(seen.after)}, **begin, **DIALECTS[self.dialect])


class CutSocket(WebSocket):
    """A WebSocket that breaks off after so many bytes, at the latest after so many seconds."""

    left: int | None = None
    deadline = 0.0

    def cut_after(self, size: int, seconds: float) -> None:
        self.left, self.deadline = size, time.monotonic() + seconds

    def _more(self) -> None:
        if self.left is None:
            return super()._more()
        seconds = self.deadline - time.monotonic()
        if self.left <= 0 or seconds <= 0:
            raise ConnectionError("dropped by the reader")
        self.socket.settimeout(seconds)
        before = len(self._rest)
        super()._more()
        new = len(self._rest) - before
        self._rest = self._rest[: before + min(new, self.left)]
        self.left -= new


@dataclass
class TaskReader(Reader):
    """Polls and WebSockets of a task. Both count events by their `idx`."""

    def connect(self, number: int) -> Seen | None:
        start = self.rng.random()
        cursor, beyond = self.cursor, None
        if start < 0.1:
            cursor = None
        elif start < 0.3 and cursor:  # Something that it has seen; often it is no longer kept.
            cursor = (0, self.rng.randrange(cursor[1] + 1))
        elif start < 0.35:  # Nothing there yet.
            beyond = cursor or (0, -1)
            cursor = (0, beyond[1] + 2000 + self.rng.randrange(2000))
        wire = self.rng.choice(("poll", "poll", "websocket"))
        seen = Seen(number, self.name, TASKS, wire, cursor, beyond=beyond, aside=cursor != self.cursor)
        try:
            done = self._poll(seen) if wire == "poll" else self._follow(seen)
        except BROKEN:
            return None
        if done and seen.items and not seen.aside:
            self.cursor = seen.items[-1].place
        return seen if done else None

    @staticmethod
    def _offset(seen: Seen) -> int:
        return seen.after[1] + 1 if seen.after else 0

    def _poll(self, seen: Seen) -> bool:
        path = task_path(self.source.run, **{"from": self._offset(seen), "wait": self.rng.choice((0, 0, 1))})
        if self.rng.random() < 0.1:
            self._drop_poll(path)
            return False
        answer = self.source.api.get(path)
        if answer.status != 200:
            self.refused(seen, answer)
            return False
        page = answer.json
        seen.items = events_in(answer.body)
        seen.ended = page["status"] != "running"
        seen.first_offset, seen.next_offset = page["first_offset"], page["next_offset"]
        return True

    def _drop_poll(self, path: str) -> None:
        """Leaves in the middle of the answer, or of the wait for it."""
        with Connection(self.source.api.address, 0.05) as connection:
            connection.send("GET", path, self.source.api.headers(None))
            connection.read_head()
            connection.read_body(1 + self.rng.randrange(2000))

    def _follow(self, seen: Seen) -> bool:
        try:
            with follow(self.source.api, self.source.run, self._offset(seen), kind=CutSocket) as socket:
                socket.cut_after(random_size(self.rng), self.rng.choice((0.05, 0.2, 0.5, 1.0)))
                self._take(socket, seen)
            if seen.items and seen.items[0].place[1] > self._offset(seen):  # What it asked for is no longer kept.
                seen.first_offset = self.source.api.get(task_path(self.source.run, **{"from": WITHOUT_LIMIT})).json["first_offset"]
        except Refused as answer:
            self.refused(seen, answer)
            return False
        return True

    def _take(self, socket: CutSocket, seen: Seen) -> None:
        try:
            while True:
                frame = socket.read()
                if frame.opcode == TEXT:
                    text = frame.payload.decode()
                    seen.items.append(task_item(json.loads(text), text))
                elif frame.opcode == PING:
                    socket.send(PONG, frame.payload)
                elif frame.opcode == CLOSE:
                    seen.ended = frame.code == 1000
                    if not seen.ended and frame.code not in COME_BACK:
                        self.problems.append(f"{seen}: closed with {frame.code}")
                    return
        except OSError:
            return  # The connection was dropped.


def every_item(started: Started, dialect: str) -> list[Item]:
    """All that there is, read once from the start of a source that has ended."""
    if dialect != TASKS:
        with started.api.events(started.thread, started.run, **DIALECTS[dialect]) as stream:
            while stream.read_some():
                pass
            return frames_in(stream.raw, True)
    answer = started.api.get(task_path(started.run))
    assert answer.status == 200, (answer.status, answer.body)
    return events_in(answer.body)


def new_reader(started: Started, rng: random.Random) -> Reader:
    chance = rng.random()
    if chance < 0.35:
        return TaskReader(started, rng)
    return (ThreadReader if chance < 0.55 else StreamReader)(started, rng, dialect=rng.choice(list(DIALECTS)))
