"""Whether a run went through its flow once: each checkpoint is told of by facts, and no result is lost or doubled.

RUN-12 and USE-8 over the checkpoints of a run, its log, its model calls and its audit rows, as plain data.
"""

import json
from collections import Counter

from evidence import Call, Checkpoint, Database, LogRow, Message

# A step that facts and checkpoints both tell of: the asking for a call; the result of a call, or of a stage.
Step = tuple[str, str]


def check_flows(db: Database) -> list[str]:
    messages: dict[str, list[Message]] = {}
    for message in db.messages:
        messages.setdefault(message.run, []).append(message)
    found = []
    for run in db.runs.values():
        rows, checkpoints = db.log.get(run.ref, []), db.checkpoints.get(run.ref, [])
        problems = [*check_numbers(checkpoints), *check_told(rows, checkpoints), *check_tool_calls(rows, checkpoints),
                    *check_outcomes(rows),
                    *check_model_calls(rows, checkpoints, db.calls.get(run.ref, [])),
                    *check_audits(rows, checkpoints, messages.get(run.ref, [])),
                    *check_replaced_words(rows, messages.get(run.ref, []))]
        found += [f"run {run.ref}: {text}" for text in problems]
    return found


def check_numbers(checkpoints: list[Checkpoint]) -> list[str]:
    numbers = [checkpoint.number for checkpoint in checkpoints]
    return [] if numbers == list(range(1, len(numbers) + 1)) else [f"checkpoints are numbered {numbers}"]


def check_told(rows: list[LogRow], checkpoints: list[Checkpoint]) -> list[str]:
    """A checkpoint is in the commit of the facts that tell of it: so both tell the same, in the same order. One that a
    writer left after it had lost the run would be told of by nothing."""
    told, kept = _told_steps(rows, _asked(checkpoints)), _kept_steps(checkpoints)
    if told == kept:
        return []
    lost, untold = Counter(told) - Counter(kept), Counter(kept) - Counter(told)
    return [f"{name} of {step} was told, and no checkpoint kept it" for name, step in sorted(lost)] + \
        [f"a checkpoint keeps {name} of {step}, which no fact tells of" for name, step in sorted(untold)] + \
        ([] if lost or untold else [f"checkpoints keep {kept}, told was {told}"])


def check_tool_calls(rows: list[LogRow], checkpoints: list[Checkpoint]) -> list[str]:
    """A call is durable before it starts, and has one result at the end, the one that the model was told."""
    found, asked = [], _asked(checkpoints)
    results = Counter(fact["call"] for fact in _facts(rows) if fact["fact"] == "tool_result")
    for call in asked:
        if results[call] != 1:
            found.append(f"call {call} has {results[call]} results")
    kept = {checkpoint.body["call"]: checkpoint.body["result"] for checkpoint in checkpoints
            if checkpoint.kind == "tool"}
    for row in rows:
        for fact in row.facts:
            if fact["fact"] == "tool_started" and fact["call"] not in asked:
                found.append(f"call {fact['call']} was started before a checkpoint kept it")
            if fact["fact"] == "tool_result" and fact["call"] not in asked and not _begins_in(row, fact["call"]):
                found.append(f"call {fact['call']} was asked for, and no checkpoint kept it")
            if fact["fact"] == "tool_result" and fact["call"] in kept and \
                    _as_json(kept[fact["call"]]) != _as_json(fact["result"]):
                found.append(f"the checkpoint of call {fact['call']} keeps another result than was told")
    return found


def check_outcomes(rows: list[LogRow]) -> list[str]:
    """A call that an earlier writer started is not made again: the test tool keeps no receipts, so nobody knows what
    came of it. Of any other call it is known."""
    found, started = [], {}
    for row in rows:
        for fact in row.facts:
            if fact["fact"] == "tool_started":
                started[fact["call"]] = row.epoch
            if fact["fact"] != "tool_result" or _ends(row):
                continue
            taken_over = started.get(fact["call"], row.epoch) != row.epoch
            unknown = _as_json(fact["result"]).get("error", {}).get("code") == "OUTCOME_UNKNOWN"
            if taken_over != unknown:
                who = "another" if taken_over else "no other"
                found.append(f"call {fact['call']}, which {who} writer had started, has the result {fact['result']}")
    return found


def check_model_calls(rows: list[LogRow], checkpoints: list[Checkpoint], calls: list[Call]) -> list[str]:
    """No finished stage is asked again, and each answer that counted led to exactly one checkpoint."""
    found = []
    order = [fact["stage"] for fact in _facts(rows) if fact["fact"] == "step_started"]
    asked = list(dict.fromkeys(call.stage for call in calls))
    in_one_go = [stage for at, stage in enumerate(call.stage for call in calls)
                 if at == 0 or calls[at - 1].stage != stage]
    if in_one_go != asked or asked != order[: len(asked)]:
        found.append(f"models were asked by the stages {in_one_go}, which began as {order}")
    answered = Counter(call.stage for call in calls if call.status == "completed")
    kept = Counter(checkpoint.stage for checkpoint in checkpoints if checkpoint.kind != "tool")
    for stage in (checkpoint.stage for checkpoint in checkpoints if checkpoint.kind == "stage"):
        if answered[stage] != kept[stage]:
            found.append(f"stage {stage} had {answered[stage]} answers and kept {kept[stage]} of them")
    return found


def check_audits(rows: list[LogRow], checkpoints: list[Checkpoint], messages: list[Message]) -> list[str]:
    """RUN-8: the raw result of each finished stage on one row; where the one that answered has a contract, its, too."""
    rows_of = Counter(audit.metadata.get("stage") for audit in messages
                      if audit.seq < 0 and audit.metadata.get("status") == "success")
    finished = Counter(checkpoint.stage for checkpoint in checkpoints if checkpoint.kind == "stage")
    found = [f"stage {stage} finished {count} times" for stage, count in finished.items() if count > 1]
    answering = {fact["stage"] for fact in _facts(rows) if fact["fact"] == "answer_completed"}
    for stage in rows_of.keys() | finished.keys():
        most = finished[stage] + (stage in answering)
        if not finished[stage] <= rows_of[stage] <= most:
            found.append(f"stage {stage} has {rows_of[stage]} rows of its result, and finished {finished[stage]} times")
    return found


def check_replaced_words(rows: list[LogRow], messages: list[Message]) -> list[str]:
    """RUN-14: words of a model call that a crash cut off, also where they had ended, are no context of later runs."""
    found, ended = [], None
    context = {message.id for message in messages if message.mask & 2}
    for fact in _facts(rows):
        if fact["fact"] == "text_ended":
            ended = fact["message"]
        elif fact["fact"] == "usage_recorded":
            ended = None
        elif fact["fact"] == "writer_changed" and ended in context:
            found.append(f"the words {ended} were replaced, and are context all the same")
    return found


def _facts(rows: list[LogRow]) -> list[dict]:
    return [fact for row in rows for fact in row.facts]


def _ends(row: LogRow) -> bool:
    """Whether the run ends in this commit: it closes then what is open."""
    return row.facts[-1]["fact"] in ("run_finished", "run_failed", "run_canceled")


def _asked(checkpoints: list[Checkpoint]) -> set[str]:
    """The calls that some turn asked for."""
    return {call["id"] for checkpoint in checkpoints if checkpoint.kind == "turn" for call in checkpoint.body["calls"]}


def _told_steps(rows: list[LogRow], asked: set[str]) -> list[Step]:
    """Without what only closes a run: its last step, and calls that were cut off."""
    last_start = max((fact["n"] for fact in _facts(rows) if fact["fact"] == "step_started"), default=0)
    out: list[Step] = []
    for row in rows:
        for fact in row.facts:
            if fact["fact"] == "step_finished" and fact["n"] < last_start:
                out.append(("the result", fact["stage"]))
            elif fact.get("call") in asked and fact["fact"] == "tool_call_ended":
                out.append(("the asking", fact["call"]))
            elif fact.get("call") in asked and fact["fact"] == "tool_result" and not _ends(row):
                out.append(("the result", fact["call"]))
    return out


def _kept_steps(checkpoints: list[Checkpoint]) -> list[Step]:
    out: list[Step] = []
    for checkpoint in checkpoints:
        if checkpoint.kind == "stage":
            out.append(("the result", checkpoint.stage))
        elif checkpoint.kind == "turn":
            out += [("the asking", call["id"]) for call in checkpoint.body["calls"]]
        elif checkpoint.kind == "tool":
            out.append(("the result", checkpoint.body["call"]))
    return out


def _begins_in(row: LogRow, call: str) -> bool:
    """Whether the call's words end in this very commit: one that was cut off while they arrived is closed at once."""
    return any(fact["fact"] == "tool_call_ended" and fact["call"] == call for fact in row.facts)


def _as_json(value):
    return json.loads(value) if isinstance(value, str) else value
