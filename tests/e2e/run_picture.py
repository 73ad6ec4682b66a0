"""A run in a form for people to read: its events in each dialect, its rows, its ledger, and the provider's requests.

Ids are replaced by the name of their row: `<message 2>` is the visible row with seq 2, `<audit 1>` the row with seq -1.
Tool calls are numbered from 1; any other id is `<id N>`. Numbers that the provider did not report are `estimated`.
"""

import json
import re

from e2e_case import DIALECTS
from flow_case import squeeze
from model_case import ledger, message_rows, money

UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# How many characters are shown
CONTENT = 110  # of a row,
WORDS = 70  # of a message with which a stage begins,
REPLY = 400  # of a later message in a stage.


def picture(server, api, thread: str, run: str, requests: list[dict]) -> str:
    """`requests`: the bodies that the provider received for this run."""
    rows, calls = message_rows(server, thread), ledger(server, thread)
    frames = {name: api.read_events(thread, run, **dialect) for name, dialect in DIALECTS.items()}
    events = {name: [event_line(frame, name) for frame in got] for name, got in frames.items()}
    parts = {
        "v2 (each event has threadId and runId, too)": events["v2"],
        "ag-ui 1.0": joined(events["ag-ui 1.0"]),
        "ag-ui 0.0, where it differs": differences(joined(events["ag-ui 1.0"]), joined(events["ag-ui 0.0"])),
        "messages": row_lines(rows, calls),
        "ledger": [call_line(number, call) for number, call in enumerate(calls, 1)],
        "asked of the provider": request_lines(requests),
    }
    text = "".join(f"\n== {title} ==\n" + "".join(line + "\n" for line in lines) for title, lines in parts.items())
    return with_names(text, {thread: "<thread>", run: "<run>", **names(rows)})


def dump(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Names instead of ids.

def names(rows: list[dict]) -> dict[str, str]:
    by_row = {row["message_id"]: f"<message {row['seq']}>" if row["seq"] > 0 else f"<audit {-row['seq']}>"
              for row in rows}
    metadata = [json.loads(row["metadata"]) for row in sorted(rows, key=lambda row: row["seq"])]
    calls = dict.fromkeys(data["tool_call_id"] for data in metadata if "tool_call_id" in data)
    return by_row | {call: f"<call {number}>" for number, call in enumerate(calls, 1)}


def with_names(text: str, known: dict[str, str]) -> str:
    for ident, name in known.items():
        text = text.replace(f'"{ident}"', name).replace(ident, name)
    others = {ident: f"<id {number}>" for number, ident in enumerate(dict.fromkeys(UUID.findall(text)), 1)}
    return UUID.sub(lambda found: others[found[0]], text).replace('"<id', "<id").replace('>"', ">")


# Events.

def event_line(frame, dialect: str) -> str:
    left_out = ("type", "timestamp") + (("threadId", "runId") if dialect == "v2" else ())
    body = without_estimates({key: value for key, value in frame.json.items() if key not in left_out})
    return " ".join([frame.event, *(f"{key}={dump(value)}" for key, value in body.items())])


def without_estimates(body: dict) -> dict:
    if body.get("metadata", {}).get("usageComplete", True):
        return body
    counts = ("inputTokens", "outputTokens", "totalTokens")
    usage = [{**entry, **dict.fromkeys(counts, "estimated")} for entry in body["usage"]]
    return {**body, "usage": usage, "metadata": {**body["metadata"], "cost": "estimated"}}


def joined(lines: list[str]) -> list[str]:
    """The deltas of one message or tool call as one line, because where they are cut depends on timing."""
    out: list[str] = []
    for line in lines:
        head, found, delta = line.partition(" delta=")
        if found and out and out[-1].startswith(head + " delta="):
            out[-1] = out[-1][:-1] + delta[1:]
        else:
            out.append(line)
    return out


def differences(base: list[str], other: list[str]) -> list[str]:
    if len(base) != len(other):
        return other
    return [line for mine, line in zip(base, other) if mine != line] or ["(nowhere)"]


# Rows.

def is_estimated(row: dict, calls: list[dict]) -> bool:
    return any(not call["usage_complete"] for call in calls if call["message_id"] == row["message_id"])


def spent(source: dict, estimated: bool) -> str:
    if estimated:
        return "estimated"
    return f"{source['input_tokens']}+{source['output_tokens']} = {money(source['cost'])}" if source["cost"] else "0"


def row_lines(rows: list[dict], calls: list[dict]) -> list[str]:
    """The rows, in the order in which they were written."""
    lines = [f"{'seq':>3}  {'role':9}  mask  {'type':16}  {'stage':12}  {'status':15}  {'tokens = cost':19}  content"]
    for row in rows:
        data = json.loads(row["metadata"])
        lines.append(f"{row['seq']:>3}  {row['role']:9}  {row['visibility_mask']:<4}  {data['type']:16}  "
                     f"{data.get('stage', ''):12}  {data.get('status', ''):15}  "
                     f"{spent(row, is_estimated(row, calls)):19}  {squeeze(row['content'], CONTENT)}".rstrip())
    return lines


def call_line(number: int, call: dict) -> str:
    status = call["status"] + (f" {call['error_code']}" if call["error_code"] else "")
    return f"{number:<2}  {call['stage']:12}  {status:10}  {spent(call, not call['usage_complete']):19}  {call['message_id']}"


# Requests to the provider.

def request_lines(requests: list[dict]) -> list[str]:
    lines: list[str] = []
    for number, request in enumerate(requests, 1):
        messages = request["messages"]
        earlier = next((at for at in range(number - 1, 0, -1) if begins_with(messages, requests[at - 1]["messages"])), 0)
        known = len(requests[earlier - 1]["messages"]) if earlier else 0
        lines.append(f"{number:<2}  {how(request)}" + (f"; after the messages of {earlier}:" if earlier else ""))
        lines += [f"      {message_line(message, REPLY if earlier else WORDS)}" for message in messages[known:]]
    return lines


def begins_with(messages: list[dict], start: list[dict]) -> bool:
    return messages[:len(start)] == start


def how(request: dict) -> str:
    offered = ", ".join(tool["function"]["name"] for tool in request.get("tools", []))
    form = request.get("response_format", {}).get("type")
    return (f"tools: {offered}" if offered else "no tools") + (f"; answer as {form}" if form else "")


def message_line(message: dict, limit: int) -> str:
    calls = "".join(f" {call['function']['name']} {call['id']} {call['function']['arguments']}"
                    for call in message.get("tool_calls", []))
    ident = f" {message['tool_call_id']}" if "tool_call_id" in message else ""
    words = squeeze(message.get("content") or "", limit)
    return f"{message['role'] + ident:9}  " + (f"{words} calls{calls}" if calls else words).strip()
