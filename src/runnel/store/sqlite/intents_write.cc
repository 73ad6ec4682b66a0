#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "runnel/store/sqlite/calls.h"
#include "runnel/store/sqlite/intents.h"
#include "runnel/store/sqlite/reads.h"
#include "runnel/store/sqlite/rows.h"
#include "runnel/store/stored_bytes.h"

// What a run's writer does, and how runs end: append, end, force_end, release, request_cancel, discard.
namespace runnel::store::sqlite {

namespace {

// Moves the end of the log from right before `facts` to their last number. This is the fence: returns false
// if the run has another writer, its log ends elsewhere, or it is not running.
bool advance(Db& db, AppendRequest const& request) {
  auto const bytes = bytes_of(request);
  return db.run(
             "UPDATE runs SET last_n = ?4, next_idx = ?5, log_bytes = log_bytes + ?6, kept_bytes = "
             "kept_bytes + ?7 "
             "WHERE id = ?1 AND epoch = ?2 AND last_n = ?3 AND status = 'running'",
             request.run.value, request.epoch, request.facts.first_n - 1, request.facts.last_n,
             request.facts.next_idx, bytes.log, bytes.kept) == 1;
}

// The same fence for an end, which moves the end of the log only after everything else is written.
bool may_continue(RunState const& run, AppendRequest const& request) {
  return run.epoch == request.epoch && run.last_n == request.facts.first_n - 1 &&
         run.status == RunStatus::running;
}

Error fenced(AppendRequest const& request) {
  return Error{Errc::fenced, "run key " + std::to_string(request.run.value) + " at epoch " +
                                 std::to_string(request.epoch) + " before " +
                                 std::to_string(request.facts.first_n)};
}

// They must continue the run's checkpoints without a gap. That they have no gaps among themselves is checked
// in request_checks.h.
Result<void> insert_checkpoints(Db& db, RunKey run, std::vector<Checkpoint> const& checkpoints) {
  if (checkpoints.empty()) return {};
  {
    Query last{db, "SELECT coalesce(max(number), 0) FROM checkpoints WHERE run_id = ?1", run.value};
    last.next();
    if (checkpoints.front().number != last.integer(0) + 1) {
      return Error{Errc::invalid, "checkpoint " + std::to_string(checkpoints.front().number) +
                                      " of run key " + std::to_string(run.value) + ", whose last is " +
                                      std::to_string(last.integer(0))};
    }
  }
  for (auto const& checkpoint : checkpoints) {
    db.run("INSERT INTO checkpoints(run_id, number, stage, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
           run.value, checkpoint.number, checkpoint.stage, checkpoint.kind, checkpoint.body);
  }
  // The run has made progress, so the crashes of its earlier writers do not count against it.
  db.run("UPDATE runs SET crashes = 0 WHERE id = ?1 AND crashes <> 0", run.value);
  return {};
}

void ask_for_approval(Db& db, AppendRequest const& request, ToolCallStart const& start) {
  db.run(
      "INSERT INTO approvals(run_id, call_id, name, args, args_hash, asked_at, expires_at) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      request.run.value, start.id.text, start.name, start.question->args, start.args_hash, request.now,
      start.question->expires_at);
  db.run("UPDATE runs SET status = 'awaiting_approval', node = NULL, released = 1 WHERE id = ?1",
         request.run.value);
}

Result<void> write_tool_calls(Db& db, AppendRequest const& request) {
  for (auto const& start : request.tool_starts) {
    auto const inserted = db.run(
        "INSERT INTO tool_calls(run_id, id, name, args_hash, epoch, started_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
        request.run.value, start.id.text, start.name, start.args_hash, request.epoch, request.now);
    if (inserted != 1) {
      return Error{Errc::invalid, "the start of tool call " + start.id.text + ", which has been started"};
    }
    if (start.question) ask_for_approval(db, request, start);
  }
  for (auto const& id : request.tool_ends) {
    auto const closed = db.run(
        "UPDATE tool_calls SET status = 'closed', ended_at = ?3, receipt = NULL "
        "WHERE run_id = ?1 AND id = ?2 AND status = 'open'",
        request.run.value, id.text, request.now);
    if (closed != 1) {
      return Error{Errc::invalid,
                   "the end of tool call " + id.text + ", which is not open or not this run's"};
    }
  }
  return {};
}

void insert_messages(Db& db, RunState const& run, AppendRequest const& request) {
  for (auto const& message : request.messages) {
    insert_message(db, run, message, request.now);
  }
}

// Writes the rest of the request, after its facts and messages.
Result<void> write_rest(Db& db, AppendRequest const& request) {
  if (auto ok = settle_calls(db, request); !ok) return ok;
  if (auto ok = write_tool_calls(db, request); !ok) return ok;
  return insert_checkpoints(db, request.run, request.checkpoints);
}

std::optional<RunKey> promote_next(Db& db, ThreadKey thread) {
  std::optional<RunKey> next;
  {
    Query query{db,
                "SELECT id FROM runs WHERE thread_id = ?1 AND status = 'queued' ORDER BY queue_no LIMIT 1",
                thread.value};
    if (!query.next()) return std::nullopt;
    next = RunKey{query.integer(0)};
  }
  db.run("UPDATE runs SET status = 'pending', queue_no = NULL WHERE id = ?1", next->value);
  return next;
}

// The answer to a repeated end: the run that the first one promoted, if nobody has claimed it yet.
Ended promoted_before(Db& db, ThreadKey thread) {
  Query query{db, "SELECT id FROM runs WHERE thread_id = ?1 AND status = 'pending'", thread.value};
  return Ended{query.next() ? std::optional{RunKey{query.integer(0)}} : std::nullopt, false};
}

// One of the two ways in which a run may end.
struct Ending {
  AppendRequest const& append;
  RunStatus status;
  std::string const& error_code;
  std::string error_id;
  bool is_canceled;
};

// RUN-4: an accepted cancel takes precedence over the ending that the writer intended.
Ending choose_ending(EndRequest const& request, bool cancel_requested) {
  if (request.if_canceled && cancel_requested) {
    auto const& canceled = *request.if_canceled;
    return {canceled.append, RunStatus::canceled, canceled.error_code, "", true};
  }
  return {request.append, request.status, request.error_code, request.error_id, false};
}

// The answer to an end that does not fit the state of the run: it either repeats an end that was committed,
// or comes too late.
Result<Ended> ended_before(Db& db, RunState const& run, EndRequest const& request) {
  for (bool const canceled : {false, true}) {
    auto const ending = choose_ending(request, canceled);
    if (run.status != ending.status || ending.is_canceled != canceled) continue;
    if (!log_holds(db, run.key, ending.append.epoch, ending.append.facts)) continue;
    auto ended = promoted_before(db, run.thread);
    ended.canceled = ending.is_canceled;
    return ended;
  }
  return fenced(request.append);
}

// Whether the last facts are written. Nobody reads a lost log, so they may be left out of it.
enum class LogUse { write, leave };

Result<Ended> end_run(Db& db, EndRequest const& request, LogUse log) {
  auto const run = find_state(db, request.append.run);
  if (!run) return fenced(request.append);
  if (!may_continue(*run, request.append)) return ended_before(db, *run, request);

  auto const ending = choose_ending(request, run->cancel_requested);
  auto const& append = ending.append;
  if (log == LogUse::write) insert_log(db, run->key, append.epoch, append.facts);
  insert_messages(db, *run, append);
  if (auto const written = write_rest(db, append); !written) return written.error();
  interrupt_open_calls(db, run->key, append.now);
  auto const bytes = bytes_of(append);
  db.run(
      "UPDATE runs SET last_n = ?2, next_idx = ?3, status = ?4, ended_at = ?5, error_code = ?6, error_id = "
      "?7, "
      "log_bytes = log_bytes + ?8, kept_bytes = kept_bytes + ?9 WHERE id = ?1",
      run->key.value, append.facts.last_n, append.facts.next_idx, std::string_view{to_string(ending.status)},
      append.now, unless_empty(ending.error_code), unless_empty(ending.error_id), bytes.log, bytes.kept);
  if (run->rolled_back) {
    db.run("UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = ?1", run->key.value);
  }
  auto const final_status =
      ending.status == RunStatus::completed ? ThreadStatus::completed : ThreadStatus::failed;
  end_thread(db, run->thread, final_status, ending.error_id, append.now);
  return Ended{promote_next(db, run->thread), ending.is_canceled};
}

}  // namespace

Result<void> append(Db& db, AppendRequest const& request) {
  if (!advance(db, request)) {
    if (log_holds(db, request.run, request.epoch, request.facts)) return {};
    return fenced(request);
  }
  insert_log(db, request.run, request.epoch, request.facts);
  if (!request.messages.empty()) insert_messages(db, find_state(db, request.run).value(), request);
  return write_rest(db, request);
}

Result<Ended> end(Db& db, EndRequest const& request) {
  return end_run(db, request, LogUse::write);
}

namespace {

bool is_active(RunState const& run) {
  return run.status == RunStatus::pending || run.status == RunStatus::running;
}

Error changed_meanwhile(RunState const& run) {
  return Error{Errc::conflict, "the end of run " + run.ref + ", which has changed meanwhile"};
}

// For a run that is still as it was seen.
Result<Ended> force_end_of(Db& db, RunState const& run, ForceEndRequest const& request, LogUse log) {
  auto end_of_it = request.end;
  auto const& facts = request.end.append.facts;
  auto const now = request.end.append.now;
  end_of_it.append.epoch = take_epoch(db, run.thread, now);
  end_of_it.if_canceled.reset();
  insert_epoch(db, run.key, end_of_it.append.epoch, facts.first_n);
  db.run(
      "UPDATE runs SET status = 'running', epoch = ?2, node = ?3, started_at = coalesce(started_at, ?4), "
      "last_n = ?5, log_expired = ?6 WHERE id = ?1",
      run.key.value, end_of_it.append.epoch, request.node.text, now, facts.first_n - 1, request.log_is_lost);
  return end_run(db, end_of_it, log);
}

}  // namespace

Result<Ended> force_end(Db& db, ForceEndRequest const& request) {
  auto const& facts = request.end.append.facts;
  auto const run = find_state(db, request.end.append.run);
  if (!run) return Error{Errc::not_found, "the end of a run that does not exist"};
  if (is_ended(run->status) && log_holds(db, run->key, run->epoch, facts)) {
    return promoted_before(db, run->thread);
  }
  if (!is_active(*run) || run->epoch != request.seen_epoch) return changed_meanwhile(*run);
  if (std::max(run->last_n, last_logged(db, run->key)) + 1 != facts.first_n) return changed_meanwhile(*run);
  return force_end_of(db, *run, request, LogUse::write);
}

Result<Ended> force_end_without_log(Db& db, ForceEndRequest const& request) {
  auto const run = find_state(db, request.end.append.run);
  if (!run) return Error{Errc::not_found, "the end of a run that does not exist"};
  if (!is_active(*run) || run->epoch != request.seen_epoch ||
      run->last_n >= request.end.append.facts.first_n) {
    return changed_meanwhile(*run);
  }
  return force_end_of(db, *run, request, LogUse::leave);
}

Result<void> release(Db& db, RunKey run, Epoch epoch) {
  auto const released = db.run(
      "UPDATE runs SET released = 1 WHERE id = ?1 AND epoch = ?2 AND status = 'running'", run.value, epoch);
  if (released == 1) return {};
  return Error{Errc::fenced, "cannot release run key " + std::to_string(run.value) + " at epoch " +
                                 std::to_string(epoch) + ": it has another writer or is not running"};
}

Result<CancelOutcome> request_cancel(Db& db, RunKey key, std::int64_t now) {
  auto const run = find_state(db, key);
  if (!run) return Error{Errc::not_found, "cancel of a run that does not exist"};
  if (run->status != RunStatus::queued && !is_ended(run->status)) {
    db.run("UPDATE runs SET cancel_at = coalesce(cancel_at, ?2) WHERE id = ?1", key.value, now);
  }
  return CancelOutcome{key, run->status};
}

Result<void> discard(Db& db, DiscardRequest const& request) {
  auto const run = find_state(db, request.run);
  if (!run) return Error{Errc::not_found, "discard of a run that does not exist"};
  if (run->status != RunStatus::queued) {
    if (run->status == RunStatus::canceled && log_holds(db, run->key, run->epoch, request.facts)) return {};
    return Error{Errc::conflict, "discard of run " + run->ref + ", which is " + to_string(run->status)};
  }

  auto const epoch = take_epoch(db, run->thread, request.now);
  insert_epoch(db, run->key, epoch, 1);
  insert_log(db, run->key, epoch, request.facts);
  db.run(
      "UPDATE runs SET status = 'canceled', queue_no = NULL, epoch = ?2, last_n = ?3, next_idx = ?4, "
      "ended_at = ?5, log_bytes = log_bytes + ?6 WHERE id = ?1",
      run->key.value, epoch, request.facts.last_n, request.facts.next_idx, request.now,
      request.facts.body.size());
  return {};
}

}  // namespace runnel::store::sqlite
