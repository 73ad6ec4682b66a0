#include <optional>
#include <utility>

#include "runnel/store/sqlite/calls.h"
#include "runnel/store/sqlite/intents.h"
#include "runnel/store/sqlite/rows.h"
#include "runnel/store/stored_bytes.h"

// How a run is created and gets a writer: admit and claim.
namespace runnel::store::sqlite {

namespace {

// USE-9: whether a budget has no room for the least that a call can cost.
bool is_over_budget(Db& db, AdmitRequest const& request) {
  return full_budget(db, request.budgets, {request.owner.text, request.thread.text, std::nullopt}, Money{1})
      .has_value();
}

// What an admit finds. One statement reads all of it, because a statement costs more than the lookups in it.
struct Circumstances {
  std::optional<Admission> before;  // The answer if the owner already has a run with this id (RUN-2).
  std::optional<RunKey> disowned;   // A run with this id whose thread was deleted; its row still exists.
  bool too_many_runs = false;       // HTTP-6.
  std::int64_t stored_bytes = 0;    // HTTP-9.
  std::optional<ThreadKey> thread;  // Empty if it is new.
  std::optional<RunKey> active;
};

constexpr char kCircumstances[] = R"sql(
SELECT r.id, r.thread_id, (SELECT thread_ref FROM agent_chat_sessions WHERE id = r.thread_id), r.epoch, r.status,
       r.input_hash = ?4,
       (SELECT count(*) FROM (SELECT 1 FROM runs WHERE owner_id = ?1 AND ended_at IS NULL LIMIT ?5)),
       s.id,
       (SELECT a.id FROM runs a
        WHERE a.thread_id = s.id AND a.status IN ('pending','running','awaiting_approval')),
       (SELECT bytes FROM storage_totals WHERE owner_id = ?1),
       (SELECT owner_id = '' FROM agent_chat_sessions WHERE id = r.thread_id),
       (SELECT run_id FROM run_aliases WHERE owner_id = ?1 AND alias = ?3)
FROM (SELECT ?1 AS owner) o
LEFT JOIN runs r ON r.owner_id = o.owner AND r.run_ref = ?3
LEFT JOIN agent_chat_sessions s ON s.owner_id = o.owner AND s.thread_ref = ?2)sql";

std::optional<Admission> admitted_before(Query const& query) {
  if (query.is_null(0) || query.integer(10) != 0) return std::nullopt;
  Admission found;
  found.outcome = query.integer(5) != 0 ? Admission::Outcome::existing : Admission::Outcome::id_conflict;
  found.run = RunKey{query.integer(0)};
  found.thread = ThreadKey{query.integer(1)};
  found.thread_id = ThreadId{query.text(2)};
  found.epoch = query.integer(3);
  found.status = parse_run_status(query.text(4)).value();
  return found;
}

// The first columns of `kCircumstances`, for the run that has the id as an alias.
constexpr char kAliasedRun[] = R"sql(
SELECT r.id, r.thread_id, s.thread_ref, r.epoch, r.status, 0, 0, 0, 0, 0, s.owner_id = ''
FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id WHERE r.id = ?1)sql";

// Empty if the alias is left over from a deleted thread.
std::optional<Admission> known_as_alias(Db& db, std::int64_t run) {
  Query query{db, kAliasedRun, run};
  return query.next() ? admitted_before(query) : std::nullopt;
}

// Intents run one after the other, so what is found here stays true until the admit is finished.
Circumstances circumstances(Db& db, AdmitRequest const& request) {
  Query query{db,
              kCircumstances,
              request.owner.text,
              request.thread.text,
              request.run.text,
              request.input_hash,
              request.max_active_runs};
  query.next();
  Circumstances found;
  found.before = admitted_before(query);
  found.too_many_runs = request.max_active_runs > 0 && query.integer(6) >= request.max_active_runs;
  if (!query.is_null(7)) found.thread = ThreadKey{query.integer(7)};
  if (!query.is_null(8)) found.active = RunKey{query.integer(8)};
  found.stored_bytes = query.integer(9);
  if (query.integer(10) != 0) found.disowned = RunKey{query.integer(0)};
  if (!found.before && !query.is_null(11)) found.before = known_as_alias(db, query.integer(11));
  return found;
}

struct Owner {
  std::string profile;  // Empty if there is none.
  std::string country;
};

Owner read_owner(Db& db, AdmitRequest const& request) {
  Owner owner{"", request.country};
  if (request.profile_query.empty()) return owner;
  Query query{db, request.profile_query, request.owner.text};
  if (!query.next()) return owner;
  owner.profile = query.text(0);
  if (query.bytes(1) > 0) owner.country = query.text(1);
  return owner;
}

ThreadKey insert_running_thread(Db& db, AdmitRequest const& request, std::string const& country) {
  db.run(
      "INSERT INTO agent_chat_sessions(owner_id, thread_ref, title, status, state_snapshot, "
      "billing_country_snapshot, created_at, updated_at) "
      "VALUES (?1, ?2, ?3, 'running', '{\"status\":\"running\"}', ?4, ?5, ?5)",
      request.owner.text, request.thread.text, request.begin.title, unless_empty(country), request.now);
  return ThreadKey{db.last_insert_id()};
}

// The id of a run whose thread was deleted is free again.
void disown(Db& db, RunKey run) {
  db.run("UPDATE runs SET owner_id = '', run_ref = id WHERE id = ?1", run.value);
}

// Behind all queued runs if the policy is `enqueue`, otherwise before them.
std::int64_t queue_no(Db& db, ThreadKey thread, OnBusy policy) {
  Query query{db,
              "SELECT coalesce(max(queue_no), 0) + 1, coalesce(min(queue_no), 0) - 1 FROM runs "
              "WHERE thread_id = ?1 AND status = 'queued'",
              thread.value};
  query.next();
  return query.integer(policy == OnBusy::enqueue ? 0 : 1);
}

void insert_run(Db& db, AdmitRequest const& request, std::string const& profile,
                std::optional<std::int64_t> queue, Admission& admission) {
  bool const starts = admission.status == RunStatus::running;
  auto const begun = starts ? bytes_of(request.begin) : StoredBytes{};
  db.run(
      "INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, queue_no, epoch, node, input_hash, "
      "agui_version, created_at, started_at, profile, last_n, next_idx, log_bytes, kept_bytes) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
      request.owner.text, request.run.text, admission.thread.value,
      std::string_view{to_string(admission.status)}, std::string_view{to_string(request.mode)}, queue,
      admission.epoch, starts ? std::optional{request.node.text} : std::nullopt, request.input_hash,
      request.agui_version, request.now, starts ? std::optional{request.now} : std::nullopt,
      unless_empty(profile), starts ? request.begin.facts.last_n : 0,
      starts ? request.begin.facts.next_idx : 0, begun.log,
      begun.kept + static_cast<std::int64_t>(request.input.size()));
  admission.run = RunKey{db.last_insert_id()};
  db.run("INSERT INTO run_inputs(run_id, input) VALUES (?1, ?2)", admission.run.value, request.input);
}

Result<void> start_at_once(Db& db, AdmitRequest const& request, Circumstances const& found,
                           Admission& admission) {
  auto owner = read_owner(db, request);
  if (found.thread) {
    start_thread(db, *found.thread, request.begin.title, request.now);
  } else {
    admission.thread = insert_running_thread(db, request, owner.country);
  }
  admission.outcome = Admission::Outcome::running;
  admission.status = RunStatus::running;
  admission.epoch = take_epoch(db, admission.thread, request.now);
  insert_run(db, request, owner.profile, std::nullopt, admission);
  insert_epoch(db, admission.run, admission.epoch, 1);
  RunState run;
  run.key = admission.run;
  run.thread = admission.thread;
  run.ref = request.run.text;
  run.epoch = admission.epoch;
  admission.profile = std::move(owner.profile);
  return write_begin(db, run, request.begin, request.now);
}

void queue_behind(Db& db, AdmitRequest const& request, RunKey active, Admission& admission) {
  admission.outcome = Admission::Outcome::queued;
  admission.status = RunStatus::queued;
  insert_run(db, request, read_owner(db, request).profile, queue_no(db, admission.thread, request.on_busy),
             admission);
  if (request.on_busy == OnBusy::enqueue) return;

  admission.cancel_first = active;
  bool const rolls_back = request.on_busy == OnBusy::rollback;
  db.run(
      "UPDATE runs SET cancel_at = coalesce(cancel_at, ?2), rolled_back = max(rolled_back, ?3) WHERE id = ?1",
      active.value, request.now, rolls_back);
  if (rolls_back) {
    db.run("UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = ?1", active.value);
  }
}

}  // namespace

Result<Admission> admit(Db& db, AdmitRequest const& request) {
  auto found = circumstances(db, request);
  if (found.before) return std::move(*found.before);

  Admission admission;
  admission.thread_id = request.thread;
  if (is_over_budget(db, request)) {
    admission.outcome = Admission::Outcome::over_budget;
    return admission;
  }
  if (found.too_many_runs) {
    admission.outcome = Admission::Outcome::too_many_runs;
    return admission;
  }
  if (request.max_stored_bytes > 0 && found.stored_bytes >= request.max_stored_bytes) {
    admission.outcome = Admission::Outcome::over_quota;
    admission.stored_bytes = found.stored_bytes;
    return admission;
  }
  admission.thread = found.thread.value_or(ThreadKey{});
  if (found.active && request.on_busy == OnBusy::reject) {
    admission.outcome = Admission::Outcome::thread_busy;
    admission.run = *found.active;
    return admission;
  }
  if (found.disowned) disown(db, *found.disowned);
  if (found.active) {
    queue_behind(db, request, *found.active, admission);
  } else {
    // A refusal undoes everything.
    if (auto const begun = start_at_once(db, request, found, admission); !begun) return begun.error();
  }
  return admission;
}

namespace {

// The run's crashes, including one of the previous writer: it crashed if it had written something and did not
// release the run.
std::int64_t count_crashes(Db& db, RunState const& run) {
  Query query{db,
              "SELECT released, crashes, "
              "(SELECT e.first_n FROM run_epochs e WHERE e.run_id = r.id AND e.epoch = r.epoch) <= r.last_n "
              "FROM runs r WHERE r.id = ?1",
              run.key.value};
  query.next();
  bool const crashed = query.integer(0) == 0 && query.integer(2) != 0;
  return query.integer(1) + (crashed ? 1 : 0);
}

}  // namespace

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
  claim.epoch = run->epoch = take_epoch(db, run->thread, request.now);
  bool const begins = run->last_n == 0;
  claim.last_n = begins ? request.begin->facts.last_n : run->last_n;
  claim.next_idx = begins ? request.begin->facts.next_idx : run->next_idx;
  claim.cancel_requested = run->cancel_requested;
  claim.crashes = count_crashes(db, *run);
  auto const begun = begins ? bytes_of(*request.begin) : StoredBytes{};
  db.run(
      "UPDATE runs SET status = 'running', epoch = ?2, node = ?3, started_at = coalesce(started_at, ?4), "
      "last_n = ?5, next_idx = ?6, released = 0, crashes = ?7, log_bytes = log_bytes + ?8, "
      "kept_bytes = kept_bytes + ?9 WHERE id = ?1",
      run->key.value, run->epoch, request.node.text, request.now, claim.last_n, claim.next_idx, claim.crashes,
      begun.log, begun.kept);
  insert_epoch(db, run->key, run->epoch, run->last_n + 1);
  if (begins) {
    if (auto const written = write_begin(db, *run, *request.begin, request.now); !written)
      return written.error();
  }
  start_thread(db, run->thread, begins ? std::optional{request.begin->title} : std::nullopt, request.now);
  return claim;
}

}  // namespace runnel::store::sqlite
