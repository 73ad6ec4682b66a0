#include "runnel/runtime/execution/approval.h"

#include <utility>

#include "runnel/core/text/sha256.h"
#include "runnel/core/time/instant.h"
#include "runnel/runtime/writing/store_retry.h"

namespace runnel::runtime {

namespace {

constexpr std::string_view kInterruptPrefix = "approval_";
constexpr char kAnswerSchema[] =
    R"({"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]})";

ApprovalStatus status_of(store::Decision decision) {
  switch (decision) {
    case store::Decision::approved:
      return ApprovalStatus::approved;
    case store::Decision::rejected:
      return ApprovalStatus::rejected;
    case store::Decision::expired:
      break;
  }
  return ApprovalStatus::expired;
}

ApprovalChanged changed(ToolCallId const& id, FactOrder::OpenCall const& open, ApprovalStatus status,
                        std::string action) {
  return {open.message,     id, open.tool, open.stage, open.args.value_or(JsonText::empty_object()), status,
          std::move(action)};
}

Interrupt interrupt_of(AwaitedCall const& call, std::int64_t expires_at) {
  return {interrupt_id(call.id), call.id, "Approve " + call.prepared.name + "?",
          JsonText::parse(kAnswerSchema).value(), to_rfc3339(expires_at)};
}

}  // namespace

std::string tool_action_id(std::string const& name, std::size_t number) {
  return "tool_" + std::to_string(number) + "_" + name + "_" + mint_uuid().substr(24);
}

std::string interrupt_id(ToolCallId const& call) {
  return std::string{kInterruptPrefix} + call.text;
}

std::optional<ToolCallId> call_of_interrupt(std::string_view id) {
  if (!id.starts_with(kInterruptPrefix)) return std::nullopt;
  return ToolCallId{std::string{id.substr(kInterruptPrefix.size())}};
}

Commit make_pause(FactOrder const& order, AwaitedCall const& call, PauseTerms const& terms) {
  auto const& prepared = call.prepared;
  auto const action = tool_action_id(prepared.name, call.number);
  auto const expires_at = terms.now_ms + terms.time.count();
  Commit commit;
  commit.facts.emplace_back(
      ToolStarted{action, call.id, prepared.name, prepared.input, preparing_id(prepared.name, call.number)});
  commit.facts.emplace_back(
      changed(call.id, order.open_calls().at(call.id), ApprovalStatus::required, action));
  commit.facts.emplace_back(StepPaused{order.open_step().value_or("")});
  commit.facts.emplace_back(RunPaused{{interrupt_of(call, expires_at)}, terms.usage, order.alias()});
  commit.rows.tool_starts.push_back({call.id, prepared.name, sha256_hex(prepared.args.str()),
                                     store::ApprovalQuestion{prepared.args.str(), expires_at}});
  return commit;
}

Commit make_resume(FactOrder const& order, RunId const& own, store::ApprovalState const& answer) {
  Commit commit;
  bool const is_named = !answer.alias.text.empty();
  commit.facts.emplace_back(
      RunResumed{is_named ? answer.alias : RunId{own.text + "~" + std::to_string(order.resumes() + 2)}});
  if (auto const& step = order.open_step()) commit.facts.emplace_back(StepResumed{*step});
  auto const call = order.awaited_call();
  if (call && answer.decision) {
    auto const& open = order.open_calls().at(*call);
    commit.facts.emplace_back(changed(*call, open, status_of(*answer.decision), open.action_id));
  }
  return commit;
}

store::Async<store::ApprovalState> approval_state(RunParts const& parts, RunKey run, ToolCallId call,
                                                  std::shared_ptr<base::Cancel> cancel) {
  return ask_until_served<store::ApprovalState>(
      [approvals = parts.approvals, run, call = std::move(call)] { return approvals->state(run, call); },
      std::move(cancel));
}

}  // namespace runnel::runtime
