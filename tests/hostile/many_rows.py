"""A database in which one user has very many rows. They are written directly into SQLite, because making them with
requests would take hours. The sums that the database keeps (totals, sizes) are computed from the rows at the end."""

import sqlite3
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from recount import recount  # noqa: E402

OLD = Path(__file__).resolve().parents[1] / "e2e" / "old_database" / "runnel.sql"
DAY = 86_400_000


def now_ms() -> int:
    return int(time.time() * 1000)


@contextmanager
def empty_database(path: Path):
    """A database with the tables of the stored one, but without the rows of any user; written in one transaction."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;" + OLD.read_text())
        db.execute("PRAGMA foreign_keys=ON")
        db.execute("BEGIN")
        for table in ("model_calls", "agent_chat_sessions", "profiles", "users"):
            db.execute(f"DELETE FROM {table}")
        yield db
        recount(db)
        db.execute("COMMIT")
    finally:
        db.close()


def add_thread(db, owner: str, name: str, updated: int | None = None) -> int:
    at = updated or now_ms()
    return db.execute("INSERT INTO agent_chat_sessions(owner_id, thread_ref, title, status, state_snapshot, "
                      "created_at, updated_at) VALUES (?, ?, 'many', 'completed', '{\"status\":\"completed\"}', ?, ?)",
                      (owner, name, at, at)).lastrowid


def add_run(db, owner: str, name: str, thread: int, ended: int) -> int:
    """Adds a run that has ended."""
    return db.execute("INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, epoch, input_hash, agui_version, "
                      "created_at, started_at, ended_at) VALUES (?, ?, ?, 'completed', 'chat', 1, 'none', '1.0', "
                      "?, ?, ?)",
                      (owner, name, thread, ended - 1000, ended - 1000, ended)).lastrowid


def add_log(db, run: int, rows: int, size: int) -> None:
    """Adds rows of `size` bytes. The trigger that protects the log of an ended run is removed during this time."""
    trigger = db.execute("SELECT sql FROM sqlite_master WHERE name = 'trg_log_ended'").fetchone()[0]
    db.execute("DROP TRIGGER trg_log_ended")
    body = "[" + " " * (size - 2) + "]"
    db.executemany("INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (?, ?, ?, 1, ?)",
                   ((run, n, n, body) for n in range(1, rows + 1)))
    db.execute(trigger)
    db.execute("UPDATE runs SET last_n = ? WHERE id = ?", (rows, run))


def add_messages(db, thread: int, run: int, rows: int, size: int) -> None:
    content, at = "x" * size, now_ms()
    db.executemany("INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, "
                   "visibility_mask, input_tokens, output_tokens, cost, currency, created_at) VALUES "
                   "(?, ?, ?, ?, 'user', ?, '{\"type\":\"user_input\"}', 3, 0, 0, 0, 'CNY', ?)",
                   ((thread, run, f"m-{thread}-{n}", n, content, at) for n in range(1, rows + 1)))


def add_calls(db, owner: str, run: int, rows: int, threads: int) -> None:
    """Adds booked calls of one pico each, with the names of `threads` threads. Half of them are from the last day, the
    others are 30 to 60 days old."""
    now = now_ms()
    times = [now - n * 2 * (DAY if n < rows // 2 else 30 * DAY) // rows for n in range(rows)]
    db.executemany(
        "INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, provider, model, "
        "started_at, input_estimate, cost_estimate, reserve, currency, status, ended_at, input_tokens, output_tokens, "
        "total_tokens, usage_complete, cost, cost_source, message_id) VALUES (?, ?, ?, ?, ?, 1, 'chat', 1, 'fake', "
        "'fake', ?, 1, 1, 1, 'CNY', 'completed', ?, 1, 1, 2, 1, 1, 'catalog_fallback', ?)",
        ((f"call-{owner}-{n}", owner, f"thread-{n % threads:06}", f"run-{n}", run, at, at, f"message-{n}")
         for n, at in enumerate(times)))
