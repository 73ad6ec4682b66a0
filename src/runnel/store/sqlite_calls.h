#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite_db.h"

// The steps around the ledger that several intents share.
namespace runnel::store::sqlite {

// Whose budgets are asked for; without a run the run's own is passed over.
struct Spender {
  std::string const& owner;
  std::string const& thread;
  std::optional<RunKey> run;
};

// The first budget, by its scope's name, that would be exceeded if `more` were spent; none: there is room.
std::optional<std::string> full_budget(Db& db, Budgets const& budgets, Spender const& spender, Money more);

// Ends and books what the request says; `invalid` where a call is not the run's, or not in a state for it.
Result<void> settle_calls(Db& db, AppendRequest const& request);

// Ends the run's open calls at their estimates.
void interrupt_open_calls(Db& db, RunKey run, std::int64_t now);

}  // namespace runnel::store::sqlite
