"""Finds the broken promises in the evidence. Works only on plain data, so that it can be tested itself.

It checks the promises SSE-1, SSE-3, SSE-7, RUN-3, RUN-8, RUN-11, RUN-12, RUN-14 and USE-8 (docs/contract.md).
"""

import json
from collections import Counter

from agui_order import order_violations
from evidence import Database, Evidence, Frame, LogRow, Message, Read, Run
from flow_checks import check_flows

TERMINAL_STATUS = {"run_finished": "completed", "run_failed": "failed", "run_canceled": "canceled"}
DELTA_EVENTS = {"TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_ARGS"}

_COMMON = {
    "run_started": "RUN_STARTED", "step_started": "STEP_STARTED", "step_finished": "STEP_FINISHED",
    "run_finished": "RUN_FINISHED", "run_failed": "RUN_ERROR", "answer_completed": "TEXT_MESSAGE_END",
    "tool_call_started": "TOOL_CALL_START", "tool_call_ended": "TOOL_CALL_END", "tool_result": "TOOL_CALL_RESULT",
}
_AG_UI = _COMMON | {
    "text_started": "TEXT_MESSAGE_START", "text_delta": "TEXT_MESSAGE_CONTENT", "text_ended": "TEXT_MESSAGE_END",
    "tool_args_delta": "TOOL_CALL_ARGS", "card_shown": "ACTIVITY_SNAPSHOT", "writer_changed": "CUSTOM",
}
_WHOLE = _COMMON | {"run_canceled": "RUN_ERROR", "tool_args": "TOOL_CALL_ARGS"}
WITHOUT_DELTAS = ("v2", "v1")
# The event with which each dialect shows a fact. A fact that is not listed may be shown or not.
SHOWN = {
    "v2": _WHOLE,
    "v1": _WHOLE,
    "ag-ui 1.0": _AG_UI | {"run_canceled": "RUN_FINISHED"},
    "ag-ui 0.0": _AG_UI | {"run_canceled": "RUN_ERROR"},
}


def is_delta(dialect: str, frame: Frame) -> bool:
    """In dialects without deltas, TOOL_CALL_ARGS is a whole fact."""
    return dialect not in WITHOUT_DELTAS and frame[1] in DELTA_EVENTS


def position(ident: str) -> tuple[int, int]:
    epoch, n = ident.split("-")
    return int(epoch), int(n)


def check(evidence: Evidence) -> list[str]:
    """A description of every broken promise; empty if there is none."""
    db = evidence.database
    found = [] if db.integrity == "ok" else [f"integrity_check: {db.integrity}"]
    found += check_admission(evidence)
    for run in db.runs.values():
        rows = db.log.get(run.ref, [])
        found += check_log(run, rows)
        found += check_texts(run, rows)
        found += check_replays(run, rows, evidence.replays.get(run.ref, {}))
    found += check_messages(db)
    found += check_accounts(db)
    found += db.wrong_totals
    found += check_flows(db)
    found += check_history(evidence)
    for read in evidence.reads:
        found += check_read(read, db.runs.get(read.run), evidence.replays.get(read.run, {}).get(read.dialect))
    return found


def check_admission(evidence: Evidence) -> list[str]:
    runs = evidence.database.runs
    found = [f"run {ref}: accepted, but it does not exist" for ref in sorted(evidence.accepted - runs.keys())]
    found += [f"run {ref}: refused with 409, but it exists" for ref in sorted(evidence.refused & runs.keys())]
    found += [f"run {ref}: it exists, but no client started it" for ref in sorted(runs.keys() - evidence.attempted)]
    found += [f"run {run.ref}: still {run.status}" for run in runs.values()
              if run.status not in TERMINAL_STATUS.values()]
    found += [f"thread {ref}: still {status}" for ref, status in evidence.database.threads.items()
              if status not in ("completed", "failed")]
    return found


def check_log(run: Run, rows: list[LogRow]) -> list[str]:
    """The log has no gaps: numbers from 1; epochs that only increase and are announced; one terminal, at the end."""
    found, n, epoch = [], 0, None
    terminals = []
    for row in rows:
        numbers = [fact["n"] for fact in row.facts]
        if row.first_n != n + 1 or numbers != list(range(row.first_n, row.last_n + 1)):
            found.append(f"run {run.ref}: log row {row.first_n}..{row.last_n} with facts {numbers} after n {n}")
        if epoch is not None and row.epoch != epoch:
            first = row.facts[0]
            announced = (first["fact"], first.get("previous_epoch"), first.get("after_n"))
            if row.epoch < epoch:
                found.append(f"run {run.ref}: epoch {row.epoch} after {epoch}")
            elif announced != ("writer_changed", epoch, row.first_n - 1):
                found.append(f"run {run.ref}: epoch {row.epoch} at {row.first_n} begins with {announced}")
        n, epoch = row.last_n, row.epoch
        terminals += [(fact["n"], fact["fact"]) for fact in row.facts if fact["fact"] in TERMINAL_STATUS]
    if len(terminals) != 1:
        found.append(f"run {run.ref}: {len(terminals)} terminals: {terminals}")
    elif terminals[0][0] != n:
        found.append(f"run {run.ref}: facts after the terminal at {terminals[0][0]}")
    elif TERMINAL_STATUS[terminals[0][1]] != run.status:
        found.append(f"run {run.ref}: status {run.status}, but its terminal is {terminals[0][1]}")
    if run.last_n != n:
        found.append(f"run {run.ref}: last_n {run.last_n}, but its log ends at {n}")
    unknown = {row.epoch for row in rows} - {epoch for epoch, _ in run.epochs}
    if unknown:
        found.append(f"run {run.ref}: the log has epochs {sorted(unknown)}, which the run does not have")
    return found


def check_texts(run: Run, rows: list[LogRow]) -> list[str]:
    """The joined durable deltas of a message are the text in the fact that ends it."""
    found, texts = [], {}
    for fact in (fact for row in rows for fact in row.facts):
        message = fact.get("message")
        if fact["fact"] == "text_started":
            if message in texts:
                found.append(f"run {run.ref}: message {message} starts twice")
            texts[message] = ""
        elif fact["fact"] == "text_delta":
            texts[message] = texts.get(message, "") + fact["text"]
        elif fact["fact"] in ("text_ended", "answer_completed"):
            said = fact["text"] if fact["fact"] == "text_ended" else fact["answer"]
            if texts.get(message) != said:
                found.append(f"run {run.ref}: message {message} ends as {said!r}, its deltas are {texts.get(message)!r}")
    return found


def shows_nothing(fact: dict) -> bool:
    """True for an empty delta, and for a new writer before the run's first fact."""
    if fact["fact"] == "writer_changed":
        return fact["after_n"] == 0
    return fact["fact"] in ("text_delta", "reasoning_delta", "tool_args_delta") and not fact["text"]


def check_replays(run: Run, rows: list[LogRow], replays: dict[str, list[Frame]]) -> list[str]:
    """A complete read shows exactly the log, in the form of its dialect."""
    found = []
    for dialect, frames in replays.items():
        shown = {ident: event for ident, event, _ in frames}
        facts = {f"{row.epoch}-{fact['n']}": fact for row in rows for fact in row.facts}
        for ident in shown.keys() - facts.keys():
            found.append(f"run {run.ref}, {dialect}: replay shows {ident}, which is not in the log")
        for ident, fact in facts.items():
            event = None if shows_nothing(fact) else SHOWN[dialect].get(fact["fact"])
            if event and shown.get(ident) != event:
                found.append(f"run {run.ref}, {dialect}: {fact['fact']} at {ident} shown as {shown.get(ident)}")
        if dialect not in WITHOUT_DELTAS:
            found += [f"run {run.ref}, {dialect}: {text}" for text in order_violations(frames)]
    return found


def check_messages(db: Database) -> list[str]:
    """seq is unique and has no gaps on both sides of 0. Each run that began has exactly one user row."""
    found, by_thread = [], {}
    for message in db.messages:
        by_thread.setdefault(message.thread, []).append(message)
    for thread, messages in by_thread.items():
        numbers = sorted(message.seq for message in messages)
        negative = sum(seq < 0 for seq in numbers)
        expected = [*range(-negative, 0), *range(1, len(numbers) - negative + 1)]
        if numbers != expected:
            found.append(f"thread {thread}: seq {numbers}")
        repeated = [ident for ident, count in Counter(m.id for m in messages).items() if count > 1]
        if repeated:
            found.append(f"thread {thread}: message ids that occur more than once: {repeated}")
    users = Counter(message.run for message in db.messages if message.role == "user")
    for run in db.runs.values():
        began = any(fact["fact"] == "step_started" for row in db.log.get(run.ref, []) for fact in row.facts)
        if users[run.ref] > 1 or (began and users[run.ref] == 0):
            found.append(f"run {run.ref}: {users[run.ref]} user rows")
    return found


def check_accounts(db: Database) -> list[str]:
    """USE-8: every call of an ended run is settled and booked on a row, and the rows have the same sum as the calls."""
    found = []
    for ref, account in db.accounts.items():
        run = db.runs.get(ref)
        if run is None or run.status not in TERMINAL_STATUS.values():
            continue
        if account.unsettled:
            found.append(f"run {ref}: {account.unsettled} calls are open or not booked")
        if tuple(account.calls) != tuple(account.rows):
            found.append(f"run {ref}: its calls spent {account.calls}, its rows {account.rows}")
    return found


def check_history(evidence: Evidence) -> list[str]:
    """/history has the visible rows, and under the same id each finished message and tool call that a client saw."""
    db, found = evidence.database, []
    for thread, ids in evidence.history.items():
        rows = [m.id for m in db.messages if m.thread == thread and m.seq > 0 and m.mask & 1]
        if ids != rows:
            found.append(f"thread {thread}: history {ids}, visible rows {rows}")
    rows_by_run: dict[str, dict[str, Message]] = {}
    for message in db.messages:
        rows_by_run.setdefault(message.run, {})[message.id] = message
    for run in db.runs.values():
        rows = rows_by_run.get(run.ref, {})
        named = set()
        for fact in (fact for row in db.log.get(run.ref, []) for fact in row.facts):
            if "message" not in fact or fact["fact"] in ("run_failed", "tool_progress"):
                continue  # In these facts `message` is a text for people, not an id.
            named.add(fact["message"])
            replaced = fact.get("outcome") == "superseded" and fact["text"]
            if replaced and not (fact["message"] in rows and rows[fact["message"]].mask == 0):
                found.append(f"run {run.ref}: superseded {fact['message']} has no row, or its row is visible (RUN-14)")
            promised = fact["fact"] in ("answer_completed", "tool_args", "tool_result")
            if promised and not (fact["message"] in rows and (run.rolled_back or rows[fact["message"]].mask & 1)):
                found.append(f"run {run.ref}: {fact['fact']} of {fact['message']} has no row in history")
            if fact["fact"] == "answer_completed" and fact["message"] in rows and \
                    rows[fact["message"]].content != fact["answer"]:
                found.append(f"run {run.ref}: the answer's row differs from the answer")
        stray = [m.id for m in rows.values() if m.seq > 0 and m.role != "user" and m.id not in named]
        if stray:
            found.append(f"run {run.ref}: no event mentions the rows {stray}")
        if run.rolled_back and any(m.mask for m in rows.values()):
            found.append(f"run {run.ref}: rolled back, but some of its rows are visible")
    return found


def check_read(read: Read, run: Run | None, replay: list[Frame] | None) -> list[str]:
    """What one client saw over all its connections is the log: nothing is lost, repeated, reordered or contradicted."""
    name = f"run {read.run}, a {read.dialect} reader"
    if read.error:
        return [f"{name}: {read.error}"]
    if run is None or replay is None:
        return [f"{name}: saw {len(read.frames)} frames of a run that does not exist"] if read.frames else []
    found = []
    places = [position(ident) for ident, _, _ in read.frames]
    for before, after in zip(places, places[1:]):
        if after <= before:
            found.append(f"{name}: {after} after {before}" + (" (twice)" if after == before else ""))
    durable = {ident: data for ident, _, data in replay}
    for frame in read.frames:
        ident, event, data = frame
        if ident in durable:
            if durable[ident] != data:
                found.append(f"{name}: {ident} was {data!r}, is {durable[ident]!r}")
        elif not is_delta(read.dialect, frame):
            found.append(f"{name}: saw {event} at {ident}, which is not durable")
        elif not is_void(position(ident), run):
            found.append(f"{name}: the delta at {ident} is neither durable nor void")
    seen = [ident for ident, _, _ in read.frames if ident in durable]
    expected = [ident for ident, _, _ in replay]
    if not read.complete:
        expected = expected[: len(seen)]
    if seen != expected:
        lost = [ident for ident in expected if ident not in set(seen)]
        found.append(f"{name}: lost {lost[:5]} of {len(expected)}" if lost else f"{name}: out of order")
    if read.complete and read.dialect not in WITHOUT_DELTAS:
        found += [f"{name}: {text}" for text in order_violations(read.frames)]
        found += contradicted_texts(name, read, replay)
    return found


def is_void(place: tuple[int, int], run: Run) -> bool:
    """Whether a writer that died had shown it, and it is beyond the durable end that the next writer found (SSE-1)."""
    epoch, n = place
    later = [first_n for other, first_n in run.epochs if other > epoch]
    return bool(later) and n >= later[0] and any(other == epoch for other, _ in run.epochs)


def contradicted_texts(name: str, read: Read, replay: list[Frame]) -> list[str]:
    """The client has exactly the durable text of every message that was not abandoned (RUN-14)."""
    abandoned = set()
    for _, event, data in replay:
        body = json.loads(data)
        if event == "TEXT_MESSAGE_END" and body["metadata"]["status"] in ("superseded", "canceled", "failed"):
            abandoned.add(body["messageId"])
    mine, theirs = _joined(read.frames), _joined(replay)
    return [f"{name}: message {message} reads {mine.get(message)!r}, is {text!r}"
            for message, text in theirs.items() if message not in abandoned and mine.get(message) != text]


def _joined(frames: list[Frame]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for _, event, data in frames:
        if event == "TEXT_MESSAGE_CONTENT":
            body = json.loads(data)
            texts[body["messageId"]] = texts.get(body["messageId"], "") + body["delta"]
    return texts
