"""Compares what readers of all wires saw with what everybody gets afterwards. Works only on plain data.

A reader's items are frames of an event stream, or the numbered events of a task. Both have a place in the run and bytes that
never change, so one check is enough for both.
It checks the promises SSE-1, SSE-3, WIRE-1, RUN-15, AGUI-5, and TASK-2 to TASK-5 (docs/contract.md).
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from agui_order import order_violations

TASKS = "tasks"
Place = tuple[int, int]  # The epoch and number of a frame; 0 and the `idx` of a task's event.


@dataclass(frozen=True)
class Item:
    place: Place
    kind: str  # The type of the event.
    data: str

    def __str__(self) -> str:
        return f"[{self.place[0]}-{self.place[1]} {self.data[:160]}]"


@dataclass
class Seen:
    """What one connection, or one poll, gave to a reader."""

    step: int
    source: str  # What was read: `run r1` or `thread t1`.
    dialect: str
    wire: str  # get, post, join, thread, poll, websocket
    after: Place | None  # The cursor that the reader sent; None if it asked for everything.
    items: list[Item] = field(default_factory=list)
    ended: bool = False  # The server said that there is nothing more.
    beyond: Place | None = None  # It asked for more than there can be; this is the last item that it knew.
    any_run: bool = False  # It asked for the thread's active run, or else for the next one.
    aside: bool = False  # The reader looked somewhere else, and then went on where it was.
    # What a poll said about the oldest event that is kept, and about the newest one. If a WebSocket began later than asked,
    # the oldest one that was kept right after that.
    first_offset: int | None = None
    next_offset: int | None = None

    def __str__(self) -> str:
        return f"step {self.step}, {self.wire} of {self.source} in {self.dialect} after {self.after}"


# What one reader saw, one connection after the other.
Trail = list[Seen]
# By source and dialect: all items, read after everything had ended.
Wholes = dict[tuple[str, str], list[Item]]


def check_walk(trails: list[Trail], wholes: Wholes) -> list[str]:
    """A description of every broken promise; empty if there is none."""
    found = [text for (source, dialect), whole in wholes.items() for text in check_whole(source, dialect, whole)]
    known = with_forgotten(trails, wholes)
    for trail in trails:
        for seen in trail:
            kept = wholes[seen.source, seen.dialect]
            found += check_seen(seen, known[seen.source, seen.dialect], kept[0].place if kept else (0, 0))
        found += check_joined(trail)
    return found


def check_whole(source: str, dialect: str, whole: list[Item]) -> list[str]:
    """The places of a complete read increase, those of a task without gaps, and AG-UI's clients accept the order."""
    name = f"{source} in {dialect}"
    found = []
    for before, item in zip(whole, whole[1:]):
        if item.place <= before.place:
            found.append(f"{name}: {item} after {before}")
        elif dialect == TASKS and item.place[1] != before.place[1] + 1:
            found.append(f"{name}: a gap between {before} and {item}")
    if dialect.startswith("ag-ui") and source.startswith("run "):
        frames = [(f"{item.place[0]}-{item.place[1]}", item.kind, item.data) for item in whole]
        found += [f"{name}: {text}" for text in order_violations(frames)]
    return found


def with_forgotten(trails: list[Trail], wholes: Wholes) -> Wholes:
    """The complete reads, and before the events of each task those that it no longer keeps, as the first reader saw them."""
    known: dict[tuple[str, str], dict[Place, Item]] = {}
    for seen in (seen for trail in trails for seen in trail if seen.dialect == TASKS):
        items = known.setdefault((seen.source, TASKS), {})
        for item in seen.items:
            items.setdefault(item.place, item)
    out = dict(wholes)
    for key, items in known.items():
        kept = wholes[key]
        forgotten = [item for place, item in sorted(items.items()) if not kept or place < kept[0].place]
        out[key] = forgotten + kept
    return out


def check_seen(seen: Seen, known: list[Item], first_kept: Place) -> list[str]:
    """The items are those right behind the cursor, one after the other, byte for byte, and the end is the end."""
    places = [item.place for item in known]
    start = bisect_right(places, seen.after) if seen.after else 0
    if seen.dialect == TASKS:
        start, found = start_of_task(seen, places, start, first_kept)
    else:
        found = []
    if seen.any_run and seen.items and seen.items[0].place[1] == 1 and seen.items[0].place in places:
        start = places.index(seen.items[0].place)  # The start of a run; the places of a run are numbered from 1.
    if seen.wire == "thread" and seen.ended:
        found.append(f"{seen}: ended, but the stream of a thread stays open")
    for at, item in enumerate(seen.items):
        expected = known[start + at] if start + at < len(known) else None
        if item != expected:
            before = known[start + at - 1] if start + at else None
            return [*found, f"{seen}: item {at} is {item} instead of {expected}, behind {before}"]
    end = start + len(seen.items)
    if seen.ended and end != len(known) and not ends_early(seen):
        found.append(f"{seen}: ended behind {known[end - 1] if end else None}, before {known[end]}")
    return found


def start_of_task(seen: Seen, places: list[Place], start: int, first_kept: Place) -> tuple[int, list[str]]:
    """Where the items of a poll or a WebSocket begin, if the offset is older than what is kept (TASK-4). And what is wrong
    with that, and with the offsets that a poll named."""
    asked = seen.after[1] + 1 if seen.after else 0
    found = [f"{seen}: a gap between {before} and {item}" for before, item in zip(seen.items, seen.items[1:])
             if item.place[1] != before.place[1] + 1]
    if seen.beyond and seen.wire == "websocket" and seen.items and seen.items[0].place > seen.beyond:
        return places.index(seen.items[0].place), found  # It counts as the end, wherever that was then.
    if seen.first_offset is None:
        if seen.items and seen.items[0].place[1] != asked:
            found.append(f"{seen}: begins with {seen.items[0]}")
        return start, found
    first = max(asked, seen.first_offset)
    if (0, seen.first_offset) > first_kept:
        found.append(f"{seen}: first_offset {seen.first_offset}, but {first_kept[1]} is kept")
    if seen.items:
        begins = seen.items[0].place[1]
        if begins > first or (begins < first and seen.wire == "poll"):
            found.append(f"{seen}: begins with {seen.items[0]} instead of {first}")
        if seen.items[0].place in places and begins >= asked:
            start = places.index(seen.items[0].place)
    if seen.next_offset is not None:
        behind = seen.items[-1].place[1] + 1 if seen.items else min(first, seen.next_offset)
        if seen.next_offset != behind:
            found.append(f"{seen}: next_offset {seen.next_offset} behind {seen.items[-1] if seen.items else None}")
    return start, found


def ends_early(seen: Seen) -> bool:
    """The body of a POST ends at an interrupt (AGUI-4)."""
    return seen.wire == "post" and bool(seen.items) and seen.items[-1].kind == "RUN_FINISHED" and \
        '"type":"interrupt"' in seen.items[-1].data


def check_joined(trail: Trail) -> list[str]:
    """What a reader saw over all its reconnects: each item once, in order, whatever the dialect."""
    found: list[str] = []
    last: tuple[Seen, Item] | None = None
    for seen in (seen for seen in trail if not seen.aside):
        if seen.after is None or seen.wire == "join":
            last = None
        for item in seen.items:
            if last and item.place <= last[1].place:
                found.append(f"{seen}: {item} after {last[1]} of step {last[0].step}")
            last = seen, item
    return found


def counts(trails: Iterable[Trail]) -> dict[str, int]:
    """What the readers did, so that a walk that did nothing is noticed."""
    out: dict[str, int] = {}
    for trail in trails:
        for before, seen in zip([None, *trail], trail):
            resumed = seen.after is not None and bool(seen.items)
            for name, happened in (
                    (f"{seen.wire}s", True), ("from run to run", len({item.place[0] for item in seen.items}) > 1), ("resumed", resumed),
                    ("resumed in another dialect", resumed and before is not None and before.dialect != seen.dialect),
                    ("ended", seen.ended), ("behind the end", seen.ended and not seen.items),
                    ("older than what is kept", bool(seen.items and seen.dialect == TASKS and not seen.beyond and
                                                     seen.items[0].place[1] > (seen.after[1] + 1 if seen.after else 0)))):
                out[name] = out.get(name, 0) + happened
            out["items"] = out.get("items", 0) + len(seen.items)
    return out
