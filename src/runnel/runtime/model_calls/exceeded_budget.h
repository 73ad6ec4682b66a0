#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/money/money.h"
#include "runnel/store/store.h"

// Finds the budget that prevents a run or a call, and describes it for the user.
namespace runnel::runtime {

inline constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;

// Who pays, and what the run has spent so far; `run_spent` is empty for a run that is not admitted yet.
struct Payer {
  UserId owner;
  ThreadId thread;
  std::optional<Money> run_spent;

  Payer(UserId o, ThreadId t, std::optional<Money> spent)
      : owner{std::move(o)}, thread{std::move(t)}, run_spent{spent} {}
};

struct ExceededBudget {
  std::string name;        // "run", "thread", "user" or "day".
  std::string_view words;  // The beginning of a sentence, such as "Your budget".
  Money limit;
  std::string spent;                      // By calls that have ended; a decimal number.
  std::optional<std::int64_t> resets_at;  // In UNIX milliseconds; empty if it does not reset.

  // For example "0.4 of 0.5 CNY".
  [[nodiscard]] std::string amounts() const;
  // The end of the sentence: "; it resets at 00:00 UTC." or ".".
  [[nodiscard]] std::string_view until() const;
};

// The first budget, in the order in which the store checks them, of which the calls that have ended leave
// less than `cost`. Empty if there is none: then the rest is reserved by calls that are under way.
store::Async<std::optional<ExceededBudget>> find_exceeded_budget(store::Store* store, store::Budgets budgets,
                                                                 Payer payer, Money cost);

}  // namespace runnel::runtime
