#include "runnel/runtime/closing.h"

#include <utility>

#include "runnel/core/json_write.h"
#include "runnel/runtime/tool.h"

namespace runnel::runtime {
namespace {

store::NewMessage tool_row(MessageId id, char const* type, ToolCallId const& call, std::string const& tool,
                           std::string const& stage, std::string content, int mask, std::string const& more) {
  store::NewMessage row;
  row.id = std::move(id);
  row.mask = mask;
  row.content = std::move(content);
  row.metadata.clear();
  JsonObject object{row.metadata};
  object.text("type", type).text("tool_name", tool).text("tool_call_id", call.text).text("stage", stage);
  row.metadata += more;
  object.close();
  return row;
}

store::NewMessage said_row(FactOrder::OpenText const& text, TextOutcome outcome, int mask) {
  auto row = assistant_row(text.message, text.stage, text.text, to_string(outcome));
  row.mask = outcome == TextOutcome::superseded ? 0 : mask;
  return row;
}

void close_call(Closing& closing, ToolCallId const& id, FactOrder::OpenCall const& open,
                std::string const& code, int mask) {
  auto const args = open.args.value_or(JsonText::empty_object());
  if (!open.args && open.streaming) {
    closing.facts.emplace_back(ToolArgs{open.message, id, open.tool, open.stage, args});
    closing.rows.messages.push_back(tool_call_row(open.message, id, open.tool, open.stage, args.str(), mask));
  }
  if (open.streaming) closing.facts.emplace_back(ToolCallEnded{open.message, id, open.tool, open.stage});

  // One that was started may have had its effect; of a cancelled one RUN-4 has the word.
  bool const unknown = !open.action_id.empty() && code != "CANCELED";
  auto const outcome = unknown ? outcome_unknown() : tool_failure(code, "the tool call was broken off");
  MessageId const message{mint_uuid()};
  closing.facts.emplace_back(ToolResult{message, id, open.tool, open.stage, args, outcome.status,
                                        outcome.result, outcome.error, std::nullopt, open.action_id,
                                        outcome.summary});
  closing.rows.messages.push_back(
      tool_result_row(message, id, open.tool, open.stage, outcome.result.str(), mask));
}

}  // namespace

store::NewMessage assistant_row(MessageId id, std::string const& stage, std::string text,
                                std::string const& status) {
  store::NewMessage row;
  row.id = std::move(id);
  row.content = std::move(text);
  row.metadata.clear();
  JsonObject object{row.metadata};
  object.text("type", "assistant_output").text("stage", stage).text("status", status).close();
  return row;
}

store::NewMessage audit_row(std::string const& stage, std::string text, std::string const& status) {
  store::NewMessage row;
  row.id = MessageId{mint_uuid()};
  row.lane = store::Lane::audit;
  row.mask = 0;
  row.content = std::move(text);
  row.metadata.clear();
  JsonObject object{row.metadata};
  object.text("type", "stage_audit").text("stage", stage).text("status", status).close();
  return row;
}

void charge(store::NewMessage& row, model::UsageSummary const& summary, std::string const& provider,
            std::string const& model) {
  row.input_tokens = summary.input_tokens;
  row.output_tokens = summary.output_tokens;
  row.cost = summary.cost;
  row.metadata.pop_back();  // The brace, which comes back behind what is added.
  row.metadata += ",\"provider\":";
  append_json_string(row.metadata, provider);
  row.metadata += ",\"model\":";
  append_json_string(row.metadata, model);
  row.metadata += ",\"costSource\":";
  append_json_string(row.metadata, to_string(summary.cost_source));
  row.metadata += ",\"cost_source\":";
  if (summary.price_list == PriceList::none) {
    row.metadata += "null";
  } else {
    append_json_string(row.metadata, to_string(summary.price_list));
  }
  row.metadata += ",\"usage_summary\":";
  model::append_usage_summary(row.metadata, summary);
  row.metadata += '}';
}

store::NewMessage tool_call_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                std::string const& stage, std::string args, int mask,
                                std::string const& more) {
  return tool_row(std::move(id), "tool_call", call, tool, stage, std::move(args), mask, more);
}

store::NewMessage tool_result_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                  std::string const& stage, std::string result, int mask,
                                  std::string const& more) {
  auto row = tool_row(std::move(id), "tool_result", call, tool, stage, std::move(result), mask, more);
  row.role = store::Role::tool;
  return row;
}

Closing keep_words(FactOrder const& order, TextOutcome outcome, int mask) {
  Closing closing;
  if (auto const& text = order.unsettled_text())
    closing.rows.messages.push_back(said_row(*text, outcome, mask));
  return closing;
}

Closing close_said(FactOrder const& order, TextOutcome outcome, int mask) {
  auto closing = keep_words(order, outcome, mask);
  if (auto const& reasoning = order.open_reasoning()) {
    if (reasoning->message_open)
      closing.facts.emplace_back(ReasoningEnded{reasoning->message, reasoning->text});
    closing.facts.emplace_back(ReasoningClosed{reasoning->message});
  }
  if (auto const& text = order.open_text()) {
    closing.facts.emplace_back(TextEnded{text->message, text->stage, text->text, outcome});
    closing.rows.messages.push_back(said_row(*text, outcome, mask));
  }
  return closing;
}

Closing close_words(FactOrder const& order, TextOutcome outcome, std::string const& code, int mask) {
  auto closing = close_said(order, outcome, mask);
  for (auto const& id : order.calls_in_order())
    close_call(closing, id, order.open_calls().at(id), code, mask);
  return closing;
}

Closing close_interrupted(FactOrder const& order) {
  auto closing = close_said(order, TextOutcome::superseded);
  for (auto const& id : order.calls_in_order()) {
    auto const& call = order.open_calls().at(id);
    if (call.streaming) close_call(closing, id, call, "INTERRUPTED", store::kUiHistory);
  }
  return closing;
}

Closing close_abandoned(FactOrder const& order, ToolCallId const& call, std::string const& code) {
  Closing closing;
  auto const open = order.open_calls().find(call);
  if (open != order.open_calls().end()) close_call(closing, call, open->second, code, store::kUiHistory);
  return closing;
}

Closing close_all(FactOrder const& order, TextOutcome outcome, std::string const& code, int mask) {
  auto closing = close_words(order, outcome, code, mask);
  if (auto const& step = order.open_step()) closing.facts.emplace_back(StepFinished{*step});
  return closing;
}

}  // namespace runnel::runtime
