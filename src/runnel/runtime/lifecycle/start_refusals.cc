#include "runnel/runtime/lifecycle/start_refusals.h"

#include <optional>
#include <utility>

#include "runnel/core/json/write.h"
#include "runnel/core/money/money.h"
#include "runnel/core/time/instant.h"
#include "runnel/flow/clipped.h"
#include "runnel/runtime/model_calls/exceeded_budget.h"

namespace runnel::runtime {
namespace {

constexpr std::size_t kLongestEcho = 64;  // The most of an unknown name that an error repeats.

Refusal used_up(ExceededBudget const& budget) {
  std::string details;
  JsonObject object{details};
  object.text("budget", budget.name)
      .text("spent", budget.spent)
      .text("limit", to_decimal(budget.limit))
      .text("currency", "CNY");
  if (budget.resets_at) object.text("resetsAt", to_rfc3339_seconds(*budget.resets_at / 1000));
  object.close();
  return {Refusal::Kind::payment, "BUDGET_EXCEEDED",
          std::string{budget.words} + " is used up: " + budget.amounts() + std::string{budget.until()},
          std::move(details)};
}

Refusal all_reserved() {
  return {Refusal::Kind::payment, "BUDGET_EXCEEDED",
          "The rest of a budget is reserved by calls that are under way; try again when they have ended."};
}

std::string listing(std::string const& what, std::vector<std::string> const& names) {
  std::string details;
  JsonObject object{details};
  append_json_array(object.key(what + "s"), names, append_json_string);
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

Refusal draining_refusal() {
  return {Refusal::Kind::draining, "DRAINING", "the server is stopping; try again later"};
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

Refusal run_id_conflict() {
  return {Refusal::Kind::conflict, "RUN_ID_CONFLICT",
          "This runId was used with another input, or is another id of a run that was paused. Send a new "
          "runId, or the same "
          "input to get that run."};
}

Refusal already_decided(ToolCallId const& call, store::Decision stands) {
  std::string details;
  JsonObject{details}.text("toolCallId", call.text).text("status", to_string(stands)).close();
  return {Refusal::Kind::conflict, "ALREADY_DECIDED",
          std::string{"This tool call was decided already: it is "} + to_string(stands) + ".",
          std::move(details)};
}

Refusal unknown_interrupt(std::string const& interrupt, std::optional<std::string> const& waiting) {
  std::vector<std::string> ids;
  if (waiting) ids.push_back(*waiting);
  return {Refusal::Kind::not_found, "UNKNOWN_INTERRUPT",
          "You have no interrupt '" + flow::clipped(interrupt, kLongestEcho) + "' on this thread; " +
              (waiting ? "what waits there is " + *waiting + "." : "nothing waits there."),
          listing("interruptId", ids)};
}

Refusal over_quota(std::int64_t used, std::int64_t limit) {
  std::string details;
  JsonObject{details}.number("usedBytes", used).number("limitBytes", limit).close();
  return {Refusal::Kind::storage, "STORAGE_QUOTA_EXCEEDED",
          "Your threads take up " + std::to_string(used) + " bytes of the " + std::to_string(limit) +
              " that you may store. Delete threads that you no longer need.",
          std::move(details)};
}

Refusal not_pending(ToolCallId const& call) {
  std::string details;
  JsonObject{details}.text("toolCallId", flow::clipped(call.text, kLongestEcho)).close();
  return {Refusal::Kind::invalid, "TOOL_CALL_NOT_PENDING",
          "No call with the id '" + flow::clipped(call.text, kLongestEcho) +
              "' waits for an answer on this thread. Send tool messages only for calls with which the "
              "thread's newest "
              "run ended and that nothing has answered since, or send a user message.",
          std::move(details)};
}

Refusal reserved_tool(std::string const& name) {
  return invalid_request("'tools' has a tool '" + name +
                         "', which is the name of a tool of the server; rename it");
}

Refusal answers_too_large(std::size_t size, std::size_t limit) {
  std::string details;
  JsonObject object{details};
  object.number("sizeBytes", static_cast<std::int64_t>(size));
  object.number("limitBytes", static_cast<std::int64_t>(limit)).close();
  return {Refusal::Kind::too_large, "MESSAGE_TOO_LARGE",
          "The answers to tool calls have " + std::to_string(size) + " bytes together; at most " +
              std::to_string(limit) + " are allowed. Let the tools return less.",
          std::move(details)};
}

store::Async<Refusal> budget_refusal(store::Store* store, store::Budgets budgets, UserId owner,
                                     ThreadId thread) {
  constexpr Money kAnything{1};
  Payer const payer{std::move(owner), std::move(thread), std::nullopt};
  auto const full = co_await find_exceeded_budget(store, budgets, payer, kAnything);
  if (!full) co_return full.error();
  if (*full) co_return used_up(**full);
  co_return all_reserved();
}

}  // namespace runnel::runtime
