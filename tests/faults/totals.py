"""USE-8, USE-9, HTTP-9: compares the totals that the database keeps with the rows from which they are computed."""

import sqlite3
from collections import defaultdict
from pathlib import Path

DAY = 86_400_000
OF_ALL = -1  # The day of a total over all days.
BYTES = "coalesce(sum(length(CAST({} AS BLOB))), 0)"


def differences(database: Path) -> list[str]:
    """The totals that are not the sum of their rows; empty if all agree. Both are read in one transaction."""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
    db.row_factory = sqlite3.Row
    try:
        db.execute("BEGIN")
        found = [*compare("spent", spent(db), kept_spent(db)),
                 *compare("spent by run", spent_by_run(db), kept_by_run(db)),
                 *compare("usage", used(db), kept_usage(db)), *compare("bytes of run", stored(db), kept_bytes(db)),
                 *compare("bytes of user", stored_by_user(db), kept_storage(db))]
        db.execute("ROLLBACK")
        return found
    finally:
        db.close()


def compare(what: str, rows: dict, totals: dict) -> list[str]:
    """A total of zero may be missing."""
    def is_nothing(value) -> bool:
        return not any(value) if isinstance(value, tuple) else not value

    keys = sorted(rows.keys() | totals.keys(), key=str)
    return [f"{what} {key}: rows {rows.get(key)}, total {totals.get(key)}" for key in keys
            if rows.get(key) != totals.get(key) and not (is_nothing(rows.get(key)) and is_nothing(totals.get(key)))]


def spent(db) -> dict:
    sums = defaultdict(int)
    for call in db.execute("SELECT owner_id, thread_ref, started_at, cost FROM model_calls"):
        for key in (("", OF_ALL), ("", call["started_at"] // DAY), (call["thread_ref"], OF_ALL)):
            sums[call["owner_id"], *key] += call["cost"]
    return sums


def whole(row) -> int:
    """A sum of costs is stored as two sums, of their upper and of their lower halves."""
    return (row["high"] << 32) + row["low"]


def kept_spent(db) -> dict:
    return {(row["owner_id"], row["thread_ref"], row["day"]): whole(row) for row in db.execute(
        "SELECT owner_id, thread_ref, day, cost_high AS high, cost_low AS low FROM spent_totals")}


def spent_by_run(db) -> dict:
    return dict(db.execute("SELECT run_id, sum(cost) FROM model_calls WHERE run_id IS NOT NULL "
                           "GROUP BY run_id").fetchall())


def kept_by_run(db) -> dict:
    return {row["id"]: whole(row) for row in db.execute("SELECT id, spent_high AS high, spent_low AS low FROM runs")}


USED = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


def used(db) -> dict:
    sums = defaultdict(lambda: (0,) * 7)
    for call in db.execute("SELECT * FROM model_calls WHERE status <> 'open'"):
        for thread in ("", call["thread_ref"]):
            key = (call["owner_id"], thread, call["started_at"] // DAY, call["model"])
            more = (1, 1 - call["usage_complete"], call["cost"], *(call[name] for name in USED))
            sums[key] = tuple(a + b for a, b in zip(sums[key], more))
    return sums


def kept_usage(db) -> dict:
    return {(row["owner_id"], row["thread_ref"], row["day"], row["model"]):
            (row["calls"], row["incomplete_calls"], whole(row), *(row[name] for name in USED))
            for row in db.execute("SELECT *, cost_high AS high, cost_low AS low FROM usage_totals")}


def stored(db) -> dict:
    """The bytes of each run: those that are deleted with its log, and the others. Logs that are being deleted are left
    out, because their bytes count until the last row is deleted."""
    return {row["id"]: (row["log"], row["kept"]) for row in db.execute(
        f"SELECT r.id, (SELECT {BYTES.format('body')} FROM log WHERE run_id = r.id) + "
        f"(SELECT {BYTES.format('body')} FROM checkpoints WHERE run_id = r.id) AS log, "
        f"(SELECT {BYTES.format('content')} + {BYTES.format('metadata')} FROM agent_chat_messages "
        "WHERE run_id = r.id) + "
        f"(SELECT {BYTES.format('input')} FROM run_inputs WHERE run_id = r.id) AS kept FROM runs r "
        "WHERE r.log_expired = 0 AND r.thread_id NOT IN (SELECT thread_id FROM purges WHERE thread_id IS NOT NULL)")}


def kept_bytes(db) -> dict:
    return {row["id"]: (row["log_bytes"], row["kept_bytes"]) for row in db.execute(
        "SELECT id, log_bytes, kept_bytes FROM runs WHERE log_expired = 0 AND thread_id NOT IN "
        "(SELECT thread_id FROM purges WHERE thread_id IS NOT NULL)")}


def stored_by_user(db) -> dict:
    """The bytes of each user's ended runs and of the rows of modules."""
    return dict(db.execute("SELECT owner_id, sum(bytes) FROM (SELECT owner_id, log_bytes + kept_bytes AS bytes "
                           "FROM runs WHERE ended_at IS NOT NULL AND owner_id <> '' UNION ALL "
                           "SELECT owner_id, bytes FROM calendar_events UNION ALL "
                           "SELECT owner_id, 300 FROM calendar_invites UNION ALL "
                           "SELECT owner_id, 200 + length(CAST(uid AS BLOB)) FROM calendar_imports UNION ALL "
                           "SELECT owner_id, bytes FROM contacts UNION ALL SELECT owner_id, bytes FROM memories"
                           ") AS parts GROUP BY owner_id").fetchall())


def kept_storage(db) -> dict:
    return dict(db.execute("SELECT owner_id, bytes FROM storage_totals").fetchall())
