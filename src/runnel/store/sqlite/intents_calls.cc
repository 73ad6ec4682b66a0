#include "runnel/store/sqlite/calls.h"
#include "runnel/store/sqlite/intents.h"
#include "runnel/store/sqlite/rows.h"

// How an attempt enters the ledger: open_call.
namespace runnel::store::sqlite {

namespace {

// The condition is the fence: no row is inserted if the run has another writer or is not running.
constexpr char kOpen[] = R"sql(
INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, provider, model,
                        started_at, input_estimate, cost_estimate, reserve, cost, currency)
SELECT ?1, r.owner_id, s.thread_ref, r.run_ref, r.id, r.epoch, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11,
       s.billing_currency
FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
WHERE r.id = ?2 AND r.epoch = ?3 AND r.status = 'running'
ON CONFLICT (id) DO NOTHING)sql";

bool insert_call(Db& db, NewCall const& call) {
  return db.run(kOpen, call.id, call.run.value, call.epoch, call.stage, call.attempt, call.provider,
                call.model, call.started_at, call.input_estimate, call.cost_estimate.pico,
                call.reserve.pico) == 1;
}

// Why nothing was inserted. Success if this call was already in the ledger.
Result<void> not_inserted(Db& db, NewCall const& call) {
  auto const run = find_state(db, call.run);
  if (!run || run->epoch != call.epoch || run->status != RunStatus::running) {
    return Error{Errc::fenced, "call " + call.id + " of run key " + std::to_string(call.run.value) +
                                   " at epoch " + std::to_string(call.epoch)};
  }
  Query same{db, "SELECT 1 FROM model_calls WHERE id = ?1 AND run_id = ?2", call.id, call.run.value};
  if (!same.next()) return Error{Errc::already_exists, "call " + call.id + " is another run's"};
  return {};
}

// The call itself is already in the ledger, so it counts.
Result<void> check_budgets(Db& db, NewCall const& call) {
  if (!call.budgets.any()) return {};
  std::string owner;
  std::string thread;
  {
    Query names{db, "SELECT owner_id, thread_ref FROM model_calls WHERE id = ?1", call.id};
    names.next();
    owner = names.text(0);
    thread = names.text(1);
  }
  auto const full = full_budget(db, call.budgets, {owner, thread, call.run}, Money{0});
  if (full) return Error{Errc::over_budget, "call " + call.id + ": the budget of the " + *full};
  return {};
}

}  // namespace

Result<void> open_call(Db& db, NewCall const& call) {
  if (!insert_call(db, call)) return not_inserted(db, call);
  return check_budgets(db, call);
}

}  // namespace runnel::store::sqlite
