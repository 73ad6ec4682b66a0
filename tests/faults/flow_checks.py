"""Checks that a run went through its flow once: facts show each checkpoint, and no result is lost or doubled.

RUN-12 and USE-8, checked on plain data: a run's checkpoints, log, model calls and audit rows.
"""

import json
from collections import Counter

from evidence import Call, Checkpoint, Database, LogRow, Message

# A step that both facts and checkpoints show: the request for a tool call, or the result of a tool call or a stage.
Step = tuple[str, str]


def check_flows(db: Database) -> list[str]:
    messages: dict[str, list[Message]] = {}
    for message in db.messages:
        messages.setdefault(message.run, []).append(message)
    found = []
    for run in db.runs.values():
        rows, checkpoints = db.log.get(run.ref, []), db.checkpoints.get(run.ref, [])
        problems = [*check_numbers(checkpoints), *check_told(rows, checkpoints), *check_tool_calls(rows, checkpoints),
                    *check_outcomes(rows, db.has_receipts),
                    *check_closed(rows, db.open_tool_calls.get(run.ref, [])),
                    *check_model_calls(rows, checkpoints, db.calls.get(run.ref, [])),
                    *check_audits(rows, checkpoints, messages.get(run.ref, [])),
                    *check_replaced_words(rows, messages.get(run.ref, []))]
        found += [f"run {run.ref}: {text}" for text in problems]
    return found


def check_numbers(checkpoints: list[Checkpoint]) -> list[str]:
    numbers = [checkpoint.number for checkpoint in checkpoints]
    return [] if numbers == list(range(1, len(numbers) + 1)) else [f"checkpoints are numbered {numbers}"]


def check_told(rows: list[LogRow], checkpoints: list[Checkpoint]) -> list[str]:
    """A checkpoint is in the same commit as the facts that show it, so both show the same steps in the same order. A
    checkpoint that a writer wrote after it had lost the run would have no facts."""
    told, kept = _told_steps(rows, _asked(checkpoints)), _kept_steps(checkpoints)
    if told == kept:
        return []
    lost, untold = Counter(told) - Counter(kept), Counter(kept) - Counter(told)
    return [f"facts show {name} of {step}, but no checkpoint has it" for name, step in sorted(lost)] + \
        [f"a checkpoint has {name} of {step}, which no fact shows" for name, step in sorted(untold)] + \
        ([] if lost or untold else [f"checkpoints have {kept}, but facts show {told}"])


def check_tool_calls(rows: list[LogRow], checkpoints: list[Checkpoint]) -> list[str]:
    """A tool call is durable before it starts, and at the end has one result: the one that the model was given."""
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
                found.append(f"call {fact['call']} was started, but no checkpoint has it")
            if fact["fact"] == "tool_result" and fact["call"] not in asked and not _begins_in(row, fact["call"]):
                found.append(f"call {fact['call']} has a result, but no checkpoint has the call")
            if fact["fact"] == "tool_result" and fact["call"] in kept and \
                    _as_json(kept[fact["call"]]) != _as_json(fact["result"]):
                found.append(f"the checkpoint of call {fact['call']} has another result than its fact")
    return found


def check_outcomes(rows: list[LogRow], has_receipts: bool) -> list[str]:
    """The outcome of every tool call is known, except of one that an earlier writer started with the test tool: this
    tool keeps no record of its calls, so the call is not made again."""
    found, started = [], {}
    for row in rows:
        for fact in row.facts:
            if fact["fact"] == "tool_started":
                started[fact["call"]] = row.epoch
            if fact["fact"] != "tool_result" or _ends(row):
                continue
            taken_over = not has_receipts and started.get(fact["call"], row.epoch) != row.epoch
            unknown = _as_json(fact["result"]).get("error", {}).get("code") == "OUTCOME_UNKNOWN"
            if taken_over != unknown:
                who = "another" if taken_over else "no other"
                found.append(f"call {fact['call']}, which {who} writer had started, has the result {fact['result']}")
    return found


def check_closed(rows: list[LogRow], still_open: list[str]) -> list[str]:
    """No tool call of an ended run is open, so nothing can take effect for it any more."""
    return [f"call {call} is open, but the run has ended" for call in still_open if rows and _ends(rows[-1])]


def check_model_calls(rows: list[LogRow], checkpoints: list[Checkpoint], calls: list[Call]) -> list[str]:
    """No finished stage calls a model again, and each answer that was used led to exactly one checkpoint."""
    found = []
    order = [fact["stage"] for fact in _facts(rows) if fact["fact"] == "step_started"]
    asked = list(dict.fromkeys(call.stage for call in calls))
    in_one_go = [stage for at, stage in enumerate(call.stage for call in calls)
                 if at == 0 or calls[at - 1].stage != stage]
    if in_one_go != asked or asked != order[: len(asked)]:
        found.append(f"the model calls were made by the stages {in_one_go}, but the stages began in the order {order}")
    answered = Counter(call.stage for call in calls if call.status == "completed")
    kept = Counter(checkpoint.stage for checkpoint in checkpoints if checkpoint.kind != "tool")
    for stage in (checkpoint.stage for checkpoint in checkpoints if checkpoint.kind == "stage"):
        if answered[stage] != kept[stage]:
            found.append(f"stage {stage} had {answered[stage]} answers, but checkpoints for {kept[stage]}")
    return found


def check_audits(rows: list[LogRow], checkpoints: list[Checkpoint], messages: list[Message]) -> list[str]:
    """RUN-8: the raw result of each finished stage is on one row. So is the result of the stage that answered, if it
    has a contract."""
    rows_of = Counter(audit.metadata.get("stage") for audit in messages
                      if audit.seq < 0 and audit.metadata.get("status") == "success")
    finished = Counter(checkpoint.stage for checkpoint in checkpoints if checkpoint.kind == "stage")
    found = [f"stage {stage} finished {count} times" for stage, count in finished.items() if count > 1]
    answering = {fact["stage"] for fact in _facts(rows) if fact["fact"] == "answer_completed"}
    for stage in rows_of.keys() | finished.keys():
        most = finished[stage] + (stage in answering)
        if not finished[stage] <= rows_of[stage] <= most:
            found.append(f"stage {stage} has {rows_of[stage]} rows with its result, finished {finished[stage]} times")
    return found


def check_replaced_words(rows: list[LogRow], messages: list[Message]) -> list[str]:
    """RUN-14: the text of a model call that a crash cut off is not context for later runs, even if the text itself had
    ended."""
    found, ended = [], None
    context = {message.id for message in messages if message.mask & 2}
    for fact in _facts(rows):
        if fact["fact"] == "text_ended":
            ended = fact["message"]
        elif fact["fact"] == "usage_recorded":
            ended = None
        elif fact["fact"] == "writer_changed" and ended in context:
            found.append(f"the text {ended} was replaced, but is still context")
    return found


def _facts(rows: list[LogRow]) -> list[dict]:
    return [fact for row in rows for fact in row.facts]


def _ends(row: LogRow) -> bool:
    """Whether the run ends in this commit, which then also closes everything that is open."""
    return row.facts[-1]["fact"] in ("run_finished", "run_failed", "run_canceled")


def _asked(checkpoints: list[Checkpoint]) -> set[str]:
    """The tool calls that a turn requested."""
    return {call["id"] for checkpoint in checkpoints if checkpoint.kind == "turn" for call in checkpoint.body["calls"]}


def _told_steps(rows: list[LogRow], asked: set[str]) -> list[Step]:
    """The steps that facts show, except those that only close a run: its last step, and tool calls that were cut."""
    last_start = max((fact["n"] for fact in _facts(rows) if fact["fact"] == "step_started"), default=0)
    out: list[Step] = []
    for row in rows:
        for fact in row.facts:
            if fact["fact"] == "step_finished" and fact["n"] < last_start:
                out.append(("the result", fact["stage"]))
            elif fact.get("call") in asked and fact["fact"] == "tool_call_ended":
                out.append(("the request", fact["call"]))
            elif fact.get("call") in asked and fact["fact"] == "tool_result" and not _ends(row):
                out.append(("the result", fact["call"]))
    return out


def _kept_steps(checkpoints: list[Checkpoint]) -> list[Step]:
    out: list[Step] = []
    for checkpoint in checkpoints:
        if checkpoint.kind == "stage":
            out.append(("the result", checkpoint.stage))
        elif checkpoint.kind == "turn":
            out += [("the request", call["id"]) for call in checkpoint.body["calls"]]
        elif checkpoint.kind == "tool":
            out.append(("the result", checkpoint.body["call"]))
    return out


def _begins_in(row: LogRow, call: str) -> bool:
    """Whether the tool call's arguments end in this commit. A call that was cut off while its arguments arrived is
    closed in the same commit."""
    return any(fact["fact"] == "tool_call_ended" and fact["call"] == call for fact in row.facts)


def _as_json(value):
    return json.loads(value) if isinstance(value, str) else value
