"""Seeds bugs into what the readers of a real walk saw. The checker must catch each one; otherwise it proves nothing."""

import copy
from collections.abc import Callable
from dataclasses import replace

from wire_checks import TASKS, Item, Seen, Trail, Wholes, check_walk

Bug = Callable[[Seen], None]


def _lose_an_item(seen: Seen) -> None:
    del seen.items[len(seen.items) // 2]


def _repeat_an_item(seen: Seen) -> None:
    seen.items.insert(1, seen.items[0])


def _exchange_two_items(seen: Seen) -> None:
    seen.items[0:2] = seen.items[1::-1]


def _change_a_byte(seen: Seen) -> None:
    first = seen.items[1]
    seen.items[1] = Item(first.place, first.kind, first.data[:-1] + " }")


def _end_early(seen: Seen) -> None:
    seen.items, seen.ended = seen.items[:2], True
    seen.next_offset = seen.next_offset and seen.items[-1].place[1] + 1


def _begin_late(seen: Seen) -> None:
    """As if the switch from the stored events to the live ones had lost some."""
    del seen.items[0]


def _begin_again(seen: Seen) -> None:
    """As if the reader had come back one item too early."""
    first = seen.items[0].place
    seen.after = (first[0], first[1] - 1)
    seen.items.insert(0, replace(seen.items[0], place=seen.after))


BUGS: tuple[Bug, ...] = (_lose_an_item, _repeat_an_item, _exchange_two_items, _change_a_byte, _end_early, _begin_late, _begin_again)


def _fits(seen: Seen, dialect: str, wholes: Wholes) -> bool:
    """Whether the bugs can be seeded: enough items behind a cursor, and the last one is not the end."""
    whole = wholes[seen.source, seen.dialect]
    return seen.dialect == dialect and seen.after is not None and not seen.aside and len(seen.items) > 4 and \
        seen.items[0].place > whole[0].place


def missed_bugs(trails: list[Trail], wholes: Wholes) -> list[str]:
    """The names of the seeded bugs that the checker did not notice. What the readers saw must be correct."""
    missed = []
    for dialect in sorted({dialect for _, dialect in wholes}):
        where = next(((at, number) for at, trail in enumerate(trails) for number, seen in enumerate(trail)
                      if _fits(seen, dialect, wholes)), None)
        if where is None:
            missed.append(f"none could be seeded in {dialect}")
            continue
        at, number = where
        for bug in BUGS:
            bad = copy.deepcopy(trails[at])
            bug(bad[number])
            others = {key: wholes[key] for key in wholes if any((seen.source, seen.dialect) == key for seen in bad)}
            if not check_walk([bad], others):
                missed.append(f"{bug.__name__} in {dialect}")
    return missed
