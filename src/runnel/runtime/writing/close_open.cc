#include "runnel/runtime/writing/close_open.h"

#include <optional>
#include <utility>

#include "runnel/runtime/writing/tool_result.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {
namespace {

store::NewMessage said_row(FactOrder::OpenText const& text, TextOutcome outcome, int mask) {
  auto row = assistant_row(text.message, text.stage, text.text, to_string(outcome));
  row.mask = outcome == TextOutcome::superseded ? 0 : mask;
  return row;
}

void close_call(Commit& commit, ToolCallId const& id, FactOrder::OpenCall const& open,
                std::string const& code, int mask) {
  auto const args = open.args.value_or(JsonText::empty_object());
  if (!open.args && open.streaming) {
    commit.facts.emplace_back(ToolArgs{open.message, id, open.tool, open.stage, args});
    commit.rows.messages.push_back(tool_call_row(open.message, id, open.tool, open.stage, args.str(), mask));
  }
  if (open.streaming) commit.facts.emplace_back(ToolCallEnded{open.message, id, open.tool, open.stage});

  // A call that was running may have had its effect. RUN-4 fixes the code of a canceled call.
  bool const unknown = open.running && code != "CANCELED";
  bool const waited = open.approval == ApprovalStatus::required && !open.running;
  auto const* const why =
      waited ? "the run ended before the tool call was approved" : "the tool call was broken off";
  auto const outcome = unknown ? tools::outcome_unknown() : tools::tool_failure(code, why);
  commit.add(tool_result(id, open, args, outcome, mask));
}

}  // namespace

Commit keep_words(FactOrder const& order, TextOutcome outcome, int mask) {
  Commit commit;
  if (auto const& text = order.unsettled_text())
    commit.rows.messages.push_back(said_row(*text, outcome, mask));
  return commit;
}

Commit close_said(FactOrder const& order, TextOutcome outcome, int mask) {
  auto commit = keep_words(order, outcome, mask);
  if (auto const& reasoning = order.open_reasoning()) {
    if (reasoning->message_open)
      commit.facts.emplace_back(ReasoningEnded{reasoning->message, reasoning->text});
    commit.facts.emplace_back(ReasoningClosed{reasoning->message});
  }
  if (auto const& text = order.open_text()) {
    commit.facts.emplace_back(TextEnded{text->message, text->stage, text->text, outcome});
    commit.rows.messages.push_back(said_row(*text, outcome, mask));
  }
  return commit;
}

Commit close_words(FactOrder const& order, TextOutcome outcome, std::string const& code, int mask) {
  auto commit = close_said(order, outcome, mask);
  for (auto const& id : order.calls_in_order())
    close_call(commit, id, order.open_calls().at(id), code, mask);
  return commit;
}

Commit close_interrupted(FactOrder const& order) {
  auto commit = close_said(order, TextOutcome::superseded);
  for (auto const& id : order.calls_in_order()) {
    auto const& call = order.open_calls().at(id);
    if (call.streaming) close_call(commit, id, call, "INTERRUPTED", store::kUiHistory);
  }
  return commit;
}

Commit close_abandoned(FactOrder const& order, ToolCallId const& call, std::string const& code) {
  Commit commit;
  auto const open = order.open_calls().find(call);
  if (open != order.open_calls().end()) close_call(commit, call, open->second, code, store::kUiHistory);
  return commit;
}

Commit close_with(FactOrder const& order, ToolCallId const& call, tools::ToolOutcome const& outcome,
                  int mask) {
  auto const& open = order.open_calls().at(call);
  auto commit = tool_result(call, open, open.args.value_or(JsonText::empty_object()), outcome, mask);
  commit.rows.tool_ends.push_back(call);
  return commit;
}

Commit close_all(FactOrder const& order, TextOutcome outcome, std::string const& code, int mask) {
  auto commit = close_words(order, outcome, code, mask);
  if (auto const& step = order.open_step()) commit.facts.emplace_back(StepFinished{*step});
  return commit;
}

}  // namespace runnel::runtime
