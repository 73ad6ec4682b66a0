#include "runnel/runtime/start_refusals.h"

#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "runnel/core/json_write.h"
#include "runnel/core/money.h"
#include "runnel/flow/clipped.h"

namespace runnel::runtime {
namespace {

constexpr std::size_t kLongestEcho = 64;  // Of a name that a client sent, in an error.
constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;

// One budget that admission looks at.
struct Scope {
  std::string name;
  std::string_view words;
  Money limit;
  store::UsageQuery spent;
  std::optional<std::int64_t> resets_at;

  Scope(std::string n, std::string_view w, Money l, store::UsageQuery s)
      : name{std::move(n)}, words{w}, limit{l}, spent{std::move(s)} {}
};

store::UsageQuery usage_of(UserId const& owner) {
  store::UsageQuery query;
  query.owner = owner;
  return query;
}

// In the order in which the store looks at them.
std::vector<Scope> scopes_of(store::Budgets const& budgets, UserId const& owner, ThreadId const& thread) {
  std::vector<Scope> scopes;
  if (budgets.thread) {
    auto& scope = scopes.emplace_back("thread", "The thread's budget", *budgets.thread, usage_of(owner));
    scope.spent.thread = thread;
  }
  if (budgets.user) scopes.emplace_back("user", "Your budget", *budgets.user, usage_of(owner));
  if (budgets.day) {
    auto& scope = scopes.emplace_back("day", "The day's budget", *budgets.day, usage_of(owner));
    scope.spent.from = budgets.day_began;
    scope.resets_at = budgets.day_began + kDayMs;
  }
  return scopes;
}

std::string utc_text(std::int64_t ms) {
  std::time_t const seconds = ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Refusal used_up(Scope const& scope, std::string const& spent) {
  auto const limit = to_decimal(scope.limit);
  auto message = std::string{scope.words} + " is used up: " + spent + " of " + limit + " CNY";
  message += scope.resets_at ? "; it resets at 00:00 UTC." : ".";
  std::string details;
  JsonObject object{details};
  object.text("budget", scope.name).text("spent", spent).text("limit", limit).text("currency", "CNY");
  if (scope.resets_at) object.text("resetsAt", utc_text(*scope.resets_at));
  object.close();
  return {Refusal::Kind::payment, "BUDGET_EXCEEDED", std::move(message), std::move(details)};
}

Refusal all_reserved() {
  return {
      Refusal::Kind::payment, "BUDGET_EXCEEDED",
      "What is left of a budget is reserved by calls that are under way; try again when they have ended."};
}

std::string listing(std::string const& what, std::vector<std::string> const& names) {
  std::string details;
  JsonObject object{details};
  auto& list = object.key(what + "s");
  list += '[';
  for (auto const& name : names) {
    if (list.back() != '[') list += ',';
    append_json_string(list, name);
  }
  list += ']';
  object.close();
  return details;
}

}  // namespace

Refusal unknown_name(std::string const& what, std::string const& name,
                     std::vector<std::string> const& names) {
  auto message = "unknown " + what + " '" + flow::clipped(name, kLongestEcho) + "'; known:";
  for (auto const& known : names)
    message += " " + known;
  return {Refusal::Kind::invalid, what == "flow" ? "UNKNOWN_FLOW" : "UNKNOWN_MODEL", std::move(message),
          listing(what, names)};
}

Refusal too_many_runs(std::int64_t limit) {
  std::string details;
  JsonObject{details}.number("limit", limit).close();
  return {Refusal::Kind::too_many, "TOO_MANY_RUNS",
          "You have " + std::to_string(limit) +
              " runs that have not ended, as many as you may have at once; try again when one has ended.",
          std::move(details)};
}

Refusal thread_busy(RunId const& active) {
  std::string details = "{}";
  std::string which = "an active run";
  if (!active.text.empty()) {
    details.clear();
    JsonObject{details}.text("activeRunId", active.text).close();
    which += ", " + active.text;
  }
  return {
      Refusal::Kind::conflict, "THREAD_BUSY",
      "The thread has " + which +
          ". Wait for its end or cancel it, or set forwardedProps.onBusy to enqueue, interrupt or rollback.",
      std::move(details)};
}

Refusal over_quota(std::int64_t used, std::int64_t limit) {
  std::string details;
  JsonObject{details}.number("usedBytes", used).number("limitBytes", limit).close();
  return {Refusal::Kind::storage, "STORAGE_QUOTA_EXCEEDED",
          "Your threads take up " + std::to_string(used) + " bytes of the " + std::to_string(limit) +
              " that you may store. Delete threads that you no longer need.",
          std::move(details)};
}

store::Async<Refusal> budget_refusal(store::Store* store, store::Budgets budgets, UserId owner,
                                     ThreadId thread) {
  auto const scopes = scopes_of(budgets, owner, thread);
  for (auto const& scope : scopes) {
    auto const report = co_await store->usage(scope.spent);
    if (!report && report.error().code == Errc::not_found) continue;  // A new thread has spent nothing.
    if (!report) co_return report.error();
    auto const spent = parse_money(report->total.cost);
    if (!spent || *spent >= scope.limit) co_return used_up(scope, report->total.cost);
  }
  co_return all_reserved();
}

}  // namespace runnel::runtime
