#include <optional>
#include <utility>

#include "runnel/store/sqlite_calls.h"
#include "runnel/store/sqlite_intents.h"
#include "runnel/store/sqlite_rows.h"

// How a run comes to be and gets a writer: admit and claim.
namespace runnel::store::sqlite {

namespace {

// The run that the owner already has under this id, as the answer to a repeated admit (RUN-2).
std::optional<Admission> admitted_before(Db& db, AdmitRequest const& request) {
  Query query{db,
              "SELECT r.id, r.thread_id, s.thread_ref, r.epoch, r.status, r.input_hash = ?3 "
              "FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id "
              "WHERE r.owner_id = ?1 AND r.run_ref = ?2",
              request.owner.text, request.run.text, request.input_hash};
  if (!query.next()) return std::nullopt;
  Admission found;
  found.outcome = query.integer(5) != 0 ? Admission::Outcome::existing : Admission::Outcome::id_conflict;
  found.run = RunKey{query.integer(0)};
  found.thread = ThreadKey{query.integer(1)};
  found.thread_id = ThreadId{query.text(2)};
  found.epoch = query.integer(3);
  found.status = parse_run_status(query.text(4)).value();
  return found;
}

// HTTP-6. Intents run one after the other, so nobody is admitted between the count and the insert.
bool has_too_many_runs(Db& db, AdmitRequest const& request) {
  if (request.max_active_runs == 0) return false;
  Query query{db,
              "SELECT count(*) >= ?2 FROM "
              "(SELECT 1 FROM runs WHERE owner_id = ?1 AND ended_at IS NULL LIMIT ?2)",
              request.owner.text, request.max_active_runs};
  query.next();
  return query.integer(0) != 0;
}

// USE-9: there is no room for the least that a call can cost.
bool is_over_budget(Db& db, AdmitRequest const& request) {
  return full_budget(db, request.budgets, {request.owner.text, request.thread.text, std::nullopt}, Money{1})
      .has_value();
}

ThreadKey find_or_insert_thread(Db& db, AdmitRequest const& request) {
  {
    Query query{db, "SELECT id FROM agent_chat_sessions WHERE owner_id = ?1 AND thread_ref = ?2",
                request.owner.text, request.thread.text};
    if (query.next()) return ThreadKey{query.integer(0)};
  }
  auto const country = request.country.empty() ? std::nullopt : std::optional{request.country};
  db.run(
      "INSERT INTO agent_chat_sessions(owner_id, thread_ref, billing_country_snapshot, created_at, "
      "updated_at) "
      "VALUES (?1, ?2, ?3, ?4, ?4)",
      request.owner.text, request.thread.text, country, request.now);
  return ThreadKey{db.last_insert_id()};
}

std::optional<RunKey> active_run(Db& db, ThreadKey thread) {
  Query query{
      db, "SELECT id FROM runs WHERE thread_id = ?1 AND status IN ('pending','running','awaiting_approval')",
      thread.value};
  return query.next() ? std::optional{RunKey{query.integer(0)}} : std::nullopt;
}

// Behind all that wait, or before them.
std::int64_t queue_no(Db& db, ThreadKey thread, OnBusy policy) {
  Query query{db,
              "SELECT coalesce(max(queue_no), 0) + 1, coalesce(min(queue_no), 0) - 1 FROM runs "
              "WHERE thread_id = ?1 AND status = 'queued'",
              thread.value};
  query.next();
  return query.integer(policy == OnBusy::enqueue ? 0 : 1);
}

void insert_run(Db& db, AdmitRequest const& request, std::optional<std::int64_t> queue,
                Admission& admission) {
  bool const starts = admission.status == RunStatus::running;
  db.run(
      "INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, queue_no, epoch, node, input_hash, "
      "agui_version, created_at, started_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
      request.owner.text, request.run.text, admission.thread.value,
      std::string_view{to_string(admission.status)}, std::string_view{to_string(request.mode)}, queue,
      admission.epoch, starts ? std::optional{request.node.text} : std::nullopt, request.input_hash,
      request.agui_version, request.now, starts ? std::optional{request.now} : std::nullopt);
  admission.run = RunKey{db.last_insert_id()};
  db.run("INSERT INTO run_inputs(run_id, input) VALUES (?1, ?2)", admission.run.value, request.input);
}

void start_at_once(Db& db, AdmitRequest const& request, Admission& admission) {
  admission.outcome = Admission::Outcome::running;
  admission.status = RunStatus::running;
  admission.epoch = next_epoch(0, request.now);
  insert_run(db, request, std::nullopt, admission);
  insert_epoch(db, admission.run, admission.epoch, 1);
  RunState run;
  run.key = admission.run;
  run.thread = admission.thread;
  run.ref = request.run.text;
  run.epoch = admission.epoch;
  write_begin(db, run, request.begin, request.now);
  set_thread_status(db, admission.thread, ThreadStatus::running, request.now);
}

void queue_behind(Db& db, AdmitRequest const& request, RunKey active, Admission& admission) {
  admission.outcome = Admission::Outcome::queued;
  admission.status = RunStatus::queued;
  insert_run(db, request, queue_no(db, admission.thread, request.on_busy), admission);
  if (request.on_busy == OnBusy::enqueue) return;

  admission.cancel_first = active;
  db.run("UPDATE runs SET cancel_at = coalesce(cancel_at, ?2) WHERE id = ?1", active.value, request.now);
  if (request.on_busy == OnBusy::rollback) {
    db.run("UPDATE runs SET rolled_back = 1 WHERE id = ?1", active.value);
    db.run("UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = ?1", active.value);
  }
}

}  // namespace

Result<Admission> admit(Db& db, AdmitRequest const& request) {
  if (auto found = admitted_before(db, request)) return std::move(*found);

  Admission admission;
  admission.thread_id = request.thread;
  if (is_over_budget(db, request)) {
    admission.outcome = Admission::Outcome::over_budget;
    return admission;
  }
  if (has_too_many_runs(db, request)) {
    admission.outcome = Admission::Outcome::too_many_runs;
    return admission;
  }
  admission.thread = find_or_insert_thread(db, request);
  auto const active = active_run(db, admission.thread);
  if (!active) {
    start_at_once(db, request, admission);
  } else if (request.on_busy == OnBusy::reject) {
    admission.outcome = Admission::Outcome::thread_busy;
  } else {
    queue_behind(db, request, *active, admission);
  }
  return admission;
}

Result<Claim> claim(Db& db, ClaimRequest const& request) {
  auto run = find_state(db, request.run);
  if (!run) return Error{Errc::not_found, "claim of a run that does not exist"};
  if (run->status != RunStatus::pending && run->status != RunStatus::running) {
    return Error{Errc::conflict, "claim of run " + run->ref + ", which is " + to_string(run->status)};
  }
  if (run->last_n == 0 && !request.begin) {
    return Error{Errc::invalid, "claim of run " + run->ref + ", which has not begun, without its beginning"};
  }

  Claim claim;
  claim.previous_epoch = run->epoch;
  claim.epoch = run->epoch = next_epoch(run->epoch, request.now);
  claim.last_n = run->last_n;
  claim.next_idx = run->next_idx;
  claim.cancel_requested = run->cancel_requested;
  db.run(
      "UPDATE runs SET status = 'running', epoch = ?2, node = ?3, started_at = coalesce(started_at, ?4) "
      "WHERE id = ?1",
      run->key.value, run->epoch, request.node.text, request.now);
  insert_epoch(db, run->key, run->epoch, run->last_n + 1);
  if (run->last_n == 0) {
    write_begin(db, *run, *request.begin, request.now);
    claim.last_n = request.begin->facts.last_n;
    claim.next_idx = request.begin->facts.next_idx;
  }
  set_thread_status(db, run->thread, ThreadStatus::running, request.now);
  return claim;
}

}  // namespace runnel::store::sqlite
