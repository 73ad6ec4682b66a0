"""What a fault test leaves behind, as plain data: the rows of the store, what clients saw, and what was answered."""

import json
import sqlite3
from dataclasses import asdict, dataclass, field
from pathlib import Path

import totals


@dataclass
class Run:
    ref: str
    owner: str
    thread: str
    status: str
    epoch: int
    last_n: int
    rolled_back: bool
    epochs: list[tuple[int, int]]  # (epoch, first_n), ascending.


@dataclass
class LogRow:
    run: str
    first_n: int
    last_n: int
    epoch: int
    facts: list[dict]


@dataclass
class Message:
    thread: str
    run: str
    id: str
    seq: int
    role: str
    mask: int
    content: str
    metadata: dict = field(default_factory=dict)


@dataclass
class Checkpoint:
    run: str
    number: int
    stage: str
    kind: str  # stage, turn, tool, rejected
    body: dict


@dataclass
class Call:
    """An attempt to call a model."""

    stage: str
    status: str


# Input tokens, output tokens and cost in 1e-12 CNY.
Spent = tuple[int, int, int]


@dataclass
class Account:
    """What one run spent, according to the ledger of its model calls and to the rows of its messages."""

    calls: Spent = (0, 0, 0)
    rows: Spent = (0, 0, 0)
    unsettled: int = 0  # Calls that are open or not booked on a row.


@dataclass
class Database:
    integrity: str
    runs: dict[str, Run] = field(default_factory=dict)
    log: dict[str, list[LogRow]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    threads: dict[str, str] = field(default_factory=dict)  # Reference to status.
    accounts: dict[str, Account] = field(default_factory=dict)  # By run.
    checkpoints: dict[str, list[Checkpoint]] = field(default_factory=dict)  # By run, ascending.
    calls: dict[str, list[Call]] = field(default_factory=dict)  # By run, oldest first.
    open_tool_calls: dict[str, list[str]] = field(default_factory=dict)  # By run: the ids of tool calls.
    has_receipts: bool = False  # The tool has receipts: a call that a crash interrupted is made again (decision 047).
    wrong_totals: list[str] = field(default_factory=list)  # Totals that are not the sum of their rows.


# A frame as it was seen: (id, event, data).
Frame = tuple[str, str, str]


@dataclass
class Read:
    """One client's view of one run over all its connections."""

    run: str
    dialect: str  # "v2", "v1", "ag-ui 1.0", "ag-ui 0.0"
    frames: list[Frame] = field(default_factory=list)
    complete: bool = False  # The client saw the terminal.
    connections: int = 0
    resumed_midway: int = 0  # Connections that resumed after an event and received more.
    error: str = ""  # A refusal that no client should get.


@dataclass
class Evidence:
    accepted: set[str]  # Runs for which a client got 202 or 200.
    refused: set[str]  # Runs for which the only answer was 409.
    attempted: set[str]
    database: Database
    reads: list[Read]
    replays: dict[str, dict[str, list[Frame]]]  # By run and dialect: a complete read after everything ended.
    history: dict[str, list[str]]  # By thread: message ids, oldest first.

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), default=sorted, ensure_ascii=False))


def read_database(path: Path) -> Database:
    """Reads the database of a server that is not running."""
    db = sqlite3.connect(path)
    try:
        db.row_factory = sqlite3.Row
        out = Database(integrity=db.execute("pragma integrity_check").fetchone()[0])
        _read_runs(db, out)
        for row in db.execute("select r.run_ref, l.first_n, l.last_n, l.epoch, l.body from log l "
                              "join runs r on r.id = l.run_id order by l.run_id, l.first_n"):
            entry = LogRow(row["run_ref"], row["first_n"], row["last_n"], row["epoch"], json.loads(row["body"]))
            out.log.setdefault(entry.run, []).append(entry)
        for row in db.execute("select s.thread_ref, r.run_ref, m.message_id, m.seq, m.role, m.visibility_mask, "
                              "m.content, m.metadata from agent_chat_messages m join agent_chat_sessions s "
                              "on s.id = m.session_id join runs r on r.id = m.run_id order by s.id, m.seq"):
            out.messages.append(Message(*row[:-1], json.loads(row["metadata"])))
        for row in db.execute("select r.run_ref, c.number, c.stage, c.kind, c.body from checkpoints c "
                              "join runs r on r.id = c.run_id order by c.run_id, c.number"):
            out.checkpoints.setdefault(row["run_ref"], []).append(Checkpoint(*row[:-1], json.loads(row["body"])))
        for run, call in db.execute("select r.run_ref, c.id from tool_calls c join runs r on r.id = c.run_id "
                                    "where c.status = 'open' order by c.run_id, c.id"):
            out.open_tool_calls.setdefault(run, []).append(call)
        _read_accounts(db, out)
        out.threads = dict(db.execute("select thread_ref, status from agent_chat_sessions").fetchall())
        out.wrong_totals = totals.differences(path)
        return out
    finally:
        db.close()


def _read_accounts(db: sqlite3.Connection, out: Database) -> None:
    for ref in out.runs:
        out.accounts[ref] = Account()
    for ref, unsettled, *spent in db.execute(
            "select r.run_ref, sum(c.status = 'open' or c.message_id is null), sum(c.input_tokens), "
            "sum(c.output_tokens), sum(c.cost) from model_calls c join runs r on r.id = c.run_id group by r.id"):
        out.accounts[ref].calls, out.accounts[ref].unsettled = tuple(spent), unsettled
    for ref, stage, status in db.execute("select r.run_ref, c.stage, c.status from model_calls c "
                                         "join runs r on r.id = c.run_id order by c.row_no"):
        out.calls.setdefault(ref, []).append(Call(stage, status))
    for ref, *spent in db.execute(
            "select r.run_ref, sum(m.input_tokens), sum(m.output_tokens), sum(m.cost) "
            "from agent_chat_messages m join runs r on r.id = m.run_id group by r.id"):
        out.accounts[ref].rows = tuple(spent)


def _read_runs(db: sqlite3.Connection, out: Database) -> None:
    epochs: dict[int, list[tuple[int, int]]] = {}
    for run, epoch, first_n in db.execute("select run_id, epoch, first_n from run_epochs order by run_id, epoch"):
        epochs.setdefault(run, []).append((epoch, first_n))
    for row in db.execute("select r.*, s.thread_ref from runs r join agent_chat_sessions s on s.id = r.thread_id"):
        out.runs[row["run_ref"]] = Run(row["run_ref"], row["owner_id"], row["thread_ref"], row["status"],
                                       row["epoch"], row["last_n"], bool(row["rolled_back"]),
                                       epochs.get(row["id"], []))
