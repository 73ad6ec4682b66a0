#include "runnel/runtime/writing/tool_result.h"

#include "runnel/core/ids.h"
#include "runnel/runtime/writing/message_rows.h"

namespace runnel::runtime {

Commit tool_result(ToolCallId const& call, FactOrder::OpenCall const& open, JsonText const& args,
                   tools::ToolOutcome const& outcome, int mask) {
  MessageId const message{mint_uuid()};
  Commit commit;
  commit.facts.emplace_back(ToolResult{message, call, open.tool, open.stage, args, outcome.status,
                                       outcome.result, outcome.error, outcome.card, open.action_id,
                                       outcome.summary});
  if (outcome.card) commit.facts.emplace_back(CardShown{MessageId{mint_uuid()}, call, *outcome.card});
  ToolResultTexts const texts{outcome.result.str(), tools::tool_agent_output(open.tool, call, args, outcome),
                              outcome.card ? outcome.card->str() : std::string{}};
  commit.rows.messages.push_back(tool_result_row(message, call, open.tool, open.stage, texts, mask));
  return commit;
}

}  // namespace runnel::runtime
