#include <optional>
#include <string>
#include <vector>

#include "runnel/store/sqlite_calls.h"
#include "runnel/store/sqlite_intents.h"
#include "runnel/store/sqlite_rows.h"

// What a run's writer does, and how runs end: append, end, request_cancel, discard.
namespace runnel::store::sqlite {

namespace {

// Moves the end of the log from right before `facts` to their last. The fence: false where the run has
// another writer, another end, or is over.
bool advance(Db& db, AppendRequest const& request) {
  return db.run(
             "UPDATE runs SET last_n = ?4, next_idx = ?5 "
             "WHERE id = ?1 AND epoch = ?2 AND last_n = ?3 AND status = 'running'",
             request.run.value, request.epoch, request.facts.first_n - 1, request.facts.last_n,
             request.facts.next_idx) == 1;
}

// The same fence, for an end, which moves the end of the log when all else is written.
bool may_continue(RunState const& run, AppendRequest const& request) {
  return run.epoch == request.epoch && run.last_n == request.facts.first_n - 1 &&
         run.status == RunStatus::running;
}

Error fenced(AppendRequest const& request) {
  return Error{Errc::fenced, "run key " + std::to_string(request.run.value) + " at epoch " +
                                 std::to_string(request.epoch) + " before " +
                                 std::to_string(request.facts.first_n)};
}

// They continue the run's without a gap; among themselves they do (requests.h).
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
  return {};
}

void insert_messages(Db& db, RunState const& run, AppendRequest const& request) {
  for (auto const& message : request.messages) {
    insert_message(db, run, message, request.now);
  }
}

// What comes with the facts and the messages, when those are written.
Result<void> write_rest(Db& db, AppendRequest const& request) {
  if (auto ok = settle_calls(db, request); !ok) return ok;
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

// The answer to a repeated end: what the first one promoted, if nobody has claimed it yet.
Ended promoted_before(Db& db, ThreadKey thread) {
  Query query{db, "SELECT id FROM runs WHERE thread_id = ?1 AND status = 'pending'", thread.value};
  return Ended{query.next() ? std::optional{RunKey{query.integer(0)}} : std::nullopt};
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
  auto const& append = request.append;
  auto const run = find_state(db, append.run);
  if (!run) return fenced(append);
  if (!may_continue(*run, append)) {
    if (run->status == request.status && log_holds(db, append.run, append.epoch, append.facts)) {
      return promoted_before(db, run->thread);
    }
    return fenced(append);
  }

  insert_log(db, run->key, append.epoch, append.facts);
  insert_messages(db, *run, append);
  if (auto const written = write_rest(db, append); !written) return written.error();
  interrupt_open_calls(db, run->key, append.now);
  db.run(
      "UPDATE runs SET last_n = ?2, next_idx = ?3, status = ?4, ended_at = ?5, error_code = ?6, error_id = "
      "?7 "
      "WHERE id = ?1",
      run->key.value, append.facts.last_n, append.facts.next_idx, std::string_view{to_string(request.status)},
      append.now, unless_empty(request.error_code), unless_empty(request.error_id));
  if (run->rolled_back) {
    db.run("UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = ?1", run->key.value);
  }
  auto const final_status =
      request.status == RunStatus::completed ? ThreadStatus::completed : ThreadStatus::failed;
  set_thread_status(db, run->thread, final_status, append.now);
  return Ended{promote_next(db, run->thread)};
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

  auto const epoch = next_epoch(run->epoch, request.now);
  insert_epoch(db, run->key, epoch, 1);
  insert_log(db, run->key, epoch, request.facts);
  db.run(
      "UPDATE runs SET status = 'canceled', queue_no = NULL, epoch = ?2, last_n = ?3, next_idx = ?4, "
      "ended_at = ?5 WHERE id = ?1",
      run->key.value, epoch, request.facts.last_n, request.facts.next_idx, request.now);
  return {};
}

}  // namespace runnel::store::sqlite
