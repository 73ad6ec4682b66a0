#include "runnel/runtime/model_calls/exceeded_budget.h"

#include <utility>
#include <vector>

namespace runnel::runtime {
namespace {

ExceededBudget budget_of(std::string name, std::string_view words, Money limit) {
  return {std::move(name), words, limit, {}, {}};
}

// What has been spent of one of the owner's budgets. A new thread has spent nothing.
store::Async<std::string> spent_of(store::Store* store, store::UsageQuery query) {
  auto const report = co_await store->usage(std::move(query));
  if (!report && report.error().code == Errc::not_found) co_return std::string{"0"};
  if (!report) co_return report.error();
  co_return report->total.cost;
}

// A sum that is too large for Money exceeds every budget.
bool is_full(ExceededBudget const& budget, Money cost) {
  auto const spent = parse_money(budget.spent);
  return !spent || spent->pico > budget.limit.pico - cost.pico;
}

}  // namespace

std::string ExceededBudget::amounts() const {
  return spent + " of " + to_decimal(limit) + " CNY";
}

std::string_view ExceededBudget::until() const {
  return resets_at ? "; it resets at 00:00 UTC." : ".";
}

store::Async<std::optional<ExceededBudget>> find_exceeded_budget(store::Store* store, store::Budgets budgets,
                                                                 Payer payer, Money cost) {
  if (budgets.run && payer.run_spent) {
    auto budget = budget_of("run", "The run's budget", *budgets.run);
    budget.spent = to_decimal(*payer.run_spent);
    if (is_full(budget, cost)) co_return budget;
  }

  std::vector<std::pair<ExceededBudget, store::UsageQuery>> others;
  store::UsageQuery all;
  all.owner = payer.owner;
  if (budgets.thread) {
    others.emplace_back(budget_of("thread", "The thread's budget", *budgets.thread), all);
    others.back().second.thread = payer.thread;
  }
  if (budgets.user) others.emplace_back(budget_of("user", "Your budget", *budgets.user), all);
  if (budgets.day) {
    others.emplace_back(budget_of("day", "The day's budget", *budgets.day), all);
    others.back().first.resets_at = budgets.day_began + kDayMs;
    others.back().second.from = budgets.day_began;
  }
  for (auto& [budget, query] : others) {
    auto spent = co_await spent_of(store, std::move(query));
    if (!spent) co_return spent.error();
    budget.spent = std::move(*spent);
    if (is_full(budget, cost)) co_return std::move(budget);
  }
  co_return std::nullopt;
}

}  // namespace runnel::runtime
