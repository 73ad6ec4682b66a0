#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite/db.h"

// Steps on the ledger that several intents share.
namespace runnel::store::sqlite {

// Whose budgets are checked. Without a run, the run's own budget is not checked.
struct Spender {
  std::string const& owner;
  std::string const& thread;
  std::optional<RunKey> run;
};

// The scope of the first budget that would be exceeded if `more` were spent, such as "thread". Empty if there
// is room.
std::optional<std::string> full_budget(Db& db, Budgets const& budgets, Spender const& spender, Money more);

// Ends and books the calls of the request. Fails with `invalid` if a call is not the run's, or is in the
// wrong state.
Result<void> settle_calls(Db& db, AppendRequest const& request);

// Ends the run's open calls at their estimates.
void interrupt_open_calls(Db& db, RunKey run, std::int64_t now);

}  // namespace runnel::store::sqlite
