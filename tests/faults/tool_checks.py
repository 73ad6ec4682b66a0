"""Checks what a run with the real tool leaves: RUN-12, a call takes effect at most once, and its result says so.

Works only on plain data, so that it can be tested itself.
"""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from evidence import Evidence


@dataclass
class Booking:
    """A run that was to create one event with a title of its own, and to read its day afterwards."""

    events: list[str]  # The ids of the events with this title.
    results: list[dict]  # What TOOL_CALL_RESULT of v2 carries, in order.
    status: str  # Of the run.


def read_booking(evidence: Evidence, database: Path, run: str, title: str) -> Booking:
    """The database belongs to a server that is not running."""
    frames = evidence.replays.get(run, {}).get("v2", [])
    with closing(sqlite3.connect(database)) as db:
        events = [ident for ident, in db.execute("select id from calendar_events where title = ?", (title,))]
    return Booking(events, [json.loads(data) for _, event, data in frames if event == "TOOL_CALL_RESULT"],
                   evidence.database.runs[run].status)


def was_cut_off(result: dict) -> bool:
    """Whether the model was asked again because its turn was lost. Nothing was started for a call of a lost turn."""
    return result["error"]["error"]["code"] == "INTERRUPTED"


def check_booking(booking: Booking) -> list[str]:
    """RUN-12: the run completes, although it was killed. The event exists once, and the result has it."""
    found = [] if booking.status == "completed" else [f"the run is {booking.status}"]
    if len(booking.events) > 1:
        found.append(f"the event exists {len(booking.events)} times: {booking.events}")
    made = [result["result"] for result in booking.results if result["status"] == "success"]
    failed = [result for result in booking.results if result["status"] != "success" and not was_cut_off(result)]
    if failed or [result["method"] for result in made] != ["create", "read"]:
        return [*found, f"{len(booking.events)} events, and the results are {booking.results}"]
    created, read = (result["data"] for result in made)
    if [created["event_id"]] != booking.events:
        found.append(f"the result has the event {created['event_id']}, the calendar has {booking.events}")
    shown = [item["event_id"] for item in read["items"]]
    if shown.count(created["event_id"]) != 1:
        found.append(f"the day that was read afterwards has {shown}, the result has {created['event_id']}")
    return found


# What a kill can leave of the call, in this order.
NO_CALL, STARTED, EFFECT, RESULT = "no call", "a call that has no effect", "an effect without its result", "a result"
STATES = (NO_CALL, STARTED, EFFECT, RESULT)


def state_of(receipts: list[tuple[str, bool]]) -> str:
    """`receipts`: the status of the call's row and whether it has a receipt; empty if there is no row."""
    if not receipts:
        return NO_CALL
    status, has_receipt = receipts[0]
    return RESULT if status == "closed" else EFFECT if has_receipt else STARTED


def check_state(state: str, events: int) -> list[str]:
    """RUN-12: the effect and its receipt are one commit, so a kill leaves both or none."""
    expected = int(state in (EFFECT, RESULT))
    return [] if events == expected else [f"the kill left {state} and {events} events"]
