#include "runnel/runtime/closing.h"

#include <utility>

#include "runnel/core/json_write.h"

namespace runnel::runtime {
namespace {

std::string tool_metadata(char const* type, ToolCallId const& call, FactOrder::OpenCall const& open) {
  std::string out;
  JsonObject object{out};
  object.text("type", type)
      .text("tool_name", open.tool)
      .text("tool_call_id", call.text)
      .text("stage", open.stage);
  object.close();
  return out;
}

JsonText failure(std::string const& code) {
  std::string out;
  JsonObject object{out};
  object.text("status", "failure");
  JsonObject error{object.key("error")};
  error.text("code", code).text("message", "the run ended before the tool call did").close();
  object.close();
  return JsonText::parse(out).value();
}

void close_call(Closing& closing, ToolCallId const& id, FactOrder::OpenCall const& open,
                std::string const& code) {
  auto const args = open.args.value_or(JsonText::empty_object());
  if (!open.args && open.streaming) {
    closing.facts.emplace_back(ToolArgs{open.message, id, open.tool, open.stage, args});
    closing.rows.messages.push_back({open.message, store::Role::assistant, store::Lane::visible,
                                     store::kUiHistory | store::kContextAssembly, args.str(),
                                     tool_metadata("tool_call", id, open), 0, 0, Money{}});
  }
  if (open.streaming) closing.facts.emplace_back(ToolCallEnded{open.message, id, open.tool, open.stage});

  auto const result = failure(code);
  MessageId const message{mint_uuid()};
  closing.facts.emplace_back(ToolResult{message, id, open.tool, open.stage, args, ToolStatus::failure, result,
                                        result, std::nullopt, open.action_id, code});
  closing.rows.messages.push_back({message, store::Role::tool, store::Lane::visible,
                                   store::kUiHistory | store::kContextAssembly, result.str(),
                                   tool_metadata("tool_result", id, open), 0, 0, Money{}});
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

Closing close_words(FactOrder const& order, TextOutcome outcome, std::string const& code) {
  Closing closing;
  if (auto const& reasoning = order.open_reasoning()) {
    if (reasoning->message_open)
      closing.facts.emplace_back(ReasoningEnded{reasoning->message, reasoning->text});
    closing.facts.emplace_back(ReasoningClosed{reasoning->message});
  }
  if (auto const& text = order.open_text()) {
    closing.facts.emplace_back(TextEnded{text->message, text->stage, text->text, outcome});
    auto row = assistant_row(text->message, text->stage, text->text, to_string(outcome));
    if (outcome == TextOutcome::superseded) row.mask = store::kUiHistory;
    closing.rows.messages.push_back(std::move(row));
  }
  for (auto const& [id, call] : order.open_calls())
    close_call(closing, id, call, code);
  return closing;
}

Closing close_all(FactOrder const& order, TextOutcome outcome, std::string const& code) {
  auto closing = close_words(order, outcome, code);
  if (auto const& step = order.open_step()) closing.facts.emplace_back(StepFinished{*step});
  return closing;
}

}  // namespace runnel::runtime
