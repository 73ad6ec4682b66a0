#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/money.h"
#include "runnel/store/store.h"

// Which budget stands in the way of a run or a call, in words for its user.
namespace runnel::runtime {

inline constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;

// Who spends, and what its run has spent so far: none of a run that is not admitted yet.
struct Payer {
  UserId owner;
  ThreadId thread;
  std::optional<Money> run_spent;

  Payer(UserId o, ThreadId t, std::optional<Money> spent)
      : owner{std::move(o)}, thread{std::move(t)}, run_spent{spent} {}
};

struct FullBudget {
  std::string name;        // "run", "thread", "user" or "day".
  std::string_view words;  // The same at the beginning of a sentence.
  Money limit;
  std::string spent;                      // By calls that have ended; a decimal.
  std::optional<std::int64_t> resets_at;  // In UNIX milliseconds; none: it does not.

  // "0.4 of 0.5 CNY",
  [[nodiscard]] std::string amounts() const;
  // and how the sentence ends: "; it resets at 00:00 UTC." or ".".
  [[nodiscard]] std::string_view until() const;
};

// The first budget, in the order in which the store looks at them, of which less than `cost` is left by the
// calls that have ended. None: what is left is reserved by calls under way.
store::Async<std::optional<FullBudget>> find_full_budget(store::Store* store, store::Budgets budgets,
                                                         Payer payer, Money cost);

}  // namespace runnel::runtime
