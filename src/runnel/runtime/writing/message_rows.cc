#include "runnel/runtime/writing/message_rows.h"

#include <string_view>
#include <utility>

#include "runnel/core/json/write.h"

namespace runnel::runtime {
namespace {

// The metadata of a row. `type` and `stage` are always written, both tool members if there is a call id, and
// the others if they are not empty.
struct Metadata {
  std::string_view type;
  std::string_view stage{};
  std::string_view status{};
  std::string_view tool_name{};     // Only in the rows of a tool call.
  std::string_view tool_call_id{};  // Likewise.
  std::string_view reasoning{};
  std::string_view tool_agent_output{};  // A JSON object.
  // A JSON object, kept as a text, so that it is shown again to the byte.
  std::string_view ui_schema{};
};

void append_charge(JsonObject& object, Charge const& charge) {
  auto const& summary = charge.summary;
  object.text("provider", charge.provider)
      .text("model", charge.model)
      .text("costSource", to_string(summary.cost_source));
  if (summary.price_list == PriceList::none) {
    object.null("cost_source");
  } else {
    object.text("cost_source", to_string(summary.price_list));
  }
  model::append_usage_summary(object.key("usage_summary"), summary);
}

std::string to_json(Metadata const& metadata, std::optional<Charge> const& charge = {}) {
  std::string out;
  JsonObject object{out};
  object.text("type", metadata.type);
  if (!metadata.tool_call_id.empty())
    object.text("tool_name", metadata.tool_name).text("tool_call_id", metadata.tool_call_id);
  object.text("stage", metadata.stage);
  if (!metadata.status.empty()) object.text("status", metadata.status);
  if (!metadata.reasoning.empty()) object.text("reasoning", metadata.reasoning);
  if (!metadata.tool_agent_output.empty()) object.raw("tool_agent_output", metadata.tool_agent_output);
  if (!metadata.ui_schema.empty()) object.text("ui_schema", metadata.ui_schema);
  if (charge) append_charge(object, *charge);
  object.close();
  return out;
}

store::NewMessage message_row(MessageId id, std::string content, std::string metadata) {
  store::NewMessage row;
  row.id = std::move(id);
  row.content = std::move(content);
  row.metadata = std::move(metadata);
  return row;
}

void put_on(store::NewMessage& row, std::optional<Charge> const& charge) {
  if (!charge) return;
  row.input_tokens = charge->summary.tokens.input;
  row.output_tokens = charge->summary.tokens.output;
  row.cost = charge->summary.cost;
}

}  // namespace

store::NewMessage assistant_row(MessageId id, std::string const& stage, std::string text,
                                std::string const& status, std::optional<Charge> const& charge) {
  auto row = message_row(std::move(id), std::move(text),
                         to_json({.type = "assistant_output", .stage = stage, .status = status}, charge));
  put_on(row, charge);
  return row;
}

store::NewMessage audit_row(MessageId id, std::string const& stage, std::string text,
                            std::string const& status, std::optional<Charge> const& charge) {
  auto row = message_row(std::move(id), std::move(text),
                         to_json({.type = "stage_audit", .stage = stage, .status = status}, charge));
  row.lane = store::Lane::audit;
  row.mask = 0;
  put_on(row, charge);
  return row;
}

store::NewMessage tool_call_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                std::string const& stage, std::string args, int mask,
                                std::string const& reasoning) {
  auto row = message_row(std::move(id), std::move(args),
                         to_json({.type = "tool_call",
                                  .stage = stage,
                                  .tool_name = tool,
                                  .tool_call_id = call.text,
                                  .reasoning = reasoning}));
  row.mask = mask;
  return row;
}

store::NewMessage tool_result_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                  std::string const& stage, ToolResultTexts const& texts, int mask) {
  auto row = message_row(std::move(id), texts.result,
                         to_json({.type = "tool_result",
                                  .stage = stage,
                                  .tool_name = tool,
                                  .tool_call_id = call.text,
                                  .tool_agent_output = texts.agent_output,
                                  .ui_schema = texts.card}));
  row.role = store::Role::tool;
  row.mask = mask;
  return row;
}

}  // namespace runnel::runtime
