"""Seeds bugs into the evidence of a real run of the harness. The checker must catch each one; otherwise it proves
nothing."""

import copy
import shutil
import sqlite3
from pathlib import Path

from checker import check, is_delta
from evidence import Database, Evidence, read_database
from flow_checks import check_flows


def _drop_a_log_row(db: sqlite3.Connection) -> None:
    """A commit is lost in the middle of a log."""
    db.execute("delete from log where rowid = (select l.rowid from log l join runs r on r.id = l.run_id "
               "where l.first_n > 1 and l.last_n < r.last_n limit 1)")


def _end_a_run_twice(db: sqlite3.Connection) -> None:
    db.execute("drop trigger if exists trg_log_ended")
    run, n, epoch = db.execute("select id, last_n, epoch from runs where status = 'completed' limit 1").fetchone()
    db.execute("insert into log(run_id, first_n, last_n, epoch, body) values (?, ?, ?, ?, ?)",
               (run, n + 1, n + 1, epoch, f'[{{"n":{n + 1},"idx":-1,"ts":0,"fact":"run_canceled","usage":[]}}]'))
    db.execute("update runs set last_n = last_n + 1 where id = ?", (run,))


def _renumber_a_message(db: sqlite3.Connection) -> None:
    db.execute("update agent_chat_messages set seq = seq + 1 where id = "
               "(select max(id) from agent_chat_messages where seq > 0)")


def _forget_a_run(db: sqlite3.Connection) -> None:
    db.execute("pragma foreign_keys = on")
    db.execute("delete from runs where id = (select max(id) from runs)")


def _lose_a_call(db: sqlite3.Connection) -> None:
    db.execute("delete from model_calls where row_no = (select max(row_no) from model_calls where total_tokens > 0)")


STORE_BUGS = (_drop_a_log_row, _end_a_run_twice, _renumber_a_message, _forget_a_run, _lose_a_call)


def _last_of(db: sqlite3.Connection, kind: str) -> tuple[int, int]:
    """The run and the number of a checkpoint of this kind that is the last one of its run."""
    return db.execute("select run_id, number from checkpoints c where kind = ? and number = "
                      "(select max(number) from checkpoints where run_id = c.run_id) limit 1", (kind,)).fetchone()


def _lose_a_checkpoint(db: sqlite3.Connection) -> None:
    db.execute("delete from checkpoints where rowid = (select rowid from checkpoints where kind = 'turn' limit 1)")


def _lose_the_last_stage(db: sqlite3.Connection) -> None:
    db.execute("delete from checkpoints where run_id = ? and number = ?", _last_of(db, "stage"))


def _keep_a_stage_twice(db: sqlite3.Connection) -> None:
    """As if a writer had written it after it had lost the run."""
    db.execute("insert into checkpoints(run_id, number, stage, kind, body) "
               "select run_id, number + 1, stage, kind, body from checkpoints where run_id = ? and number = ?",
               _last_of(db, "stage"))


def _keep_another_result(db: sqlite3.Connection) -> None:
    db.execute("update checkpoints set body = json_set(body, '$.result', '{}') where rowid = "
               "(select rowid from checkpoints where kind = 'tool' limit 1)")


def _ask_a_finished_stage_again(db: sqlite3.Connection) -> None:
    """The last call of the answering stage is changed to a call of the first stage."""
    db.execute("drop trigger trg_call_opening_frozen")
    db.execute("update model_calls set stage = (select stage from checkpoints k where k.run_id = model_calls.run_id "
               "and k.kind = 'stage' order by k.number limit 1) "
               "where row_no = (select max(c.row_no) from model_calls c join checkpoints k on k.run_id = c.run_id "
               "and k.kind = 'stage' where c.status = 'completed' and c.stage not in "
               "(select stage from checkpoints where run_id = c.run_id and kind = 'stage'))")


def _leave_a_tool_call_open(db: sqlite3.Connection) -> None:
    db.execute("drop trigger trg_tool_call_closes_once")
    db.execute("update tool_calls set status = 'open', ended_at = null where (run_id, id) = "
               "(select run_id, id from tool_calls limit 1)")


def _lose_a_raw_result(db: sqlite3.Connection) -> None:
    db.execute("update agent_chat_messages set metadata = json_set(metadata, '$.status', 'failed') where id = "
               "(select m.id from agent_chat_messages m join checkpoints c on c.run_id = m.run_id and "
               "c.stage = json_extract(m.metadata, '$.stage') where m.seq < 0 and c.kind = 'stage' "
               "and json_extract(m.metadata, '$.status') = 'success' limit 1)")


FLOW_BUGS = (_lose_a_checkpoint, _lose_the_last_stage, _keep_a_stage_twice, _keep_another_result,
             _ask_a_finished_stage_again, _leave_a_tool_call_open, _lose_a_raw_result)


def _lose_an_event(evidence: Evidence) -> None:
    """Removes a durable event: a delta that was lost in a crash may be missing."""
    for read in evidence.reads:
        replay = evidence.replays.get(read.run, {}).get(read.dialect, []) if read.complete else []
        durable = {frame[0] for frame in replay}
        kept = [at for at, frame in enumerate(read.frames) if frame[0] in durable]
        if len(kept) > 2 and not read.error:
            del read.frames[kept[len(kept) // 2]]
            return


def _reuse_an_id(evidence: Evidence) -> None:
    read = next(r for r in evidence.reads if r.complete and len(r.frames) > 2)
    ident, event, data = read.frames[1]
    read.frames[1] = (ident, event, data.replace('"type"', '"other":1,"type"', 1))


def _show_what_is_not_durable(evidence: Evidence) -> None:
    read = next(r for r in evidence.reads if r.complete and not is_delta(r.dialect, r.frames[-2]))
    replay = evidence.replays[read.run][read.dialect]
    replay[:] = [frame for frame in replay if frame[0] != read.frames[-2][0]]


WIRE_BUGS = (_lose_an_event, _reuse_an_id, _show_what_is_not_durable)


def _with_bug(database: Path, bug) -> Database:
    target = database.with_name(f"seeded{bug.__name__}.db")
    shutil.copy(database, target)
    db = sqlite3.connect(target)
    bug(db)
    db.commit()
    db.close()
    try:
        return read_database(target)
    finally:
        target.unlink()


def missed_bugs(evidence: Evidence, database: Path) -> list[str]:
    """The names of the seeded bugs that the checker did not notice. The evidence itself must be correct."""
    missed = []
    for bug in STORE_BUGS:
        bad = copy.copy(evidence)
        bad.database = _with_bug(database, bug)
        if not check(bad):
            missed.append(bug.__name__)
    missed += [bug.__name__ for bug in FLOW_BUGS if not check_flows(_with_bug(database, bug))]
    for bug in WIRE_BUGS:
        bad = copy.deepcopy(evidence)
        bug(bad)
        if not check(bad):
            missed.append(bug.__name__)
    return missed
