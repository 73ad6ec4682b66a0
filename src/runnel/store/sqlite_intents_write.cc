#include <optional>

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

Error fenced(AppendRequest const& request) {
  return Error{Errc::fenced, "run key " + std::to_string(request.run.value) + " at epoch " +
                                 std::to_string(request.epoch) + " before " +
                                 std::to_string(request.facts.first_n)};
}

Result<void> write_rows(Db& db, RunState const& run, AppendRequest const& request) {
  insert_log(db, run.key, request.epoch, request.facts);
  for (auto const& message : request.messages) {
    insert_message(db, run, message, request.now);
  }
  return settle_calls(db, request);
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

std::optional<std::string> unless_empty(std::string const& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

}  // namespace

Result<void> append(Db& db, AppendRequest const& request) {
  if (!advance(db, request)) {
    if (log_holds(db, request.run, request.epoch, request.facts)) return {};
    return fenced(request);
  }
  return write_rows(db, find_state(db, request.run).value(), request);
}

Result<Ended> end(Db& db, EndRequest const& request) {
  auto const& append = request.append;
  bool const advanced = advance(db, append);
  auto const run = find_state(db, append.run);
  if (!advanced) {
    if (run && run->status == request.status && log_holds(db, append.run, append.epoch, append.facts)) {
      return promoted_before(db, run->thread);
    }
    return fenced(append);
  }

  if (auto const written = write_rows(db, *run, append); !written) return written.error();
  interrupt_open_calls(db, run->key, append.now);
  db.run("UPDATE runs SET status = ?2, ended_at = ?3, error_code = ?4, error_id = ?5 WHERE id = ?1",
         run->key.value, std::string_view{to_string(request.status)}, append.now,
         unless_empty(request.error_code), unless_empty(request.error_id));
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
