#pragma once

#include <optional>
#include <string>

#include "runnel/core/ids.h"
#include "runnel/model/pricing/usage_summary.h"
#include "runnel/store/rows.h"

// The message rows that a run writes (RUN-8).
namespace runnel::runtime {

// The mask of a message that history shows and later contexts contain (RUN-9).
inline constexpr int kSeenByAll = store::kUiHistory | store::kContextAssembly;

// What the model calls that are booked on a row used and cost, and the model that the row names (USE-8).
struct Charge {
  model::UsageSummary summary;
  std::string provider;
  std::string model;
};

// An assistant's message. `status` is part of its metadata.
store::NewMessage assistant_row(MessageId id, std::string const& stage, std::string text,
                                std::string const& status, std::optional<Charge> const& charge = {});

// A row that no client and no model sees. It keeps the raw output of a stage, and the calls of a stage that
// does not answer are booked on it (USE-8).
store::NewMessage audit_row(MessageId id, std::string const& stage, std::string text,
                            std::string const& status, std::optional<Charge> const& charge = {});

// `reasoning` is what the model thought before the call; empty if it is unknown.
store::NewMessage tool_call_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                std::string const& stage, std::string args, int mask,
                                std::string const& reasoning = {});

// What the row of a tool call's result keeps.
struct ToolResultTexts {
  std::string result;        // What the model and clients see.
  std::string agent_output;  // A JSON object, the whole outcome; see tools::tool_agent_output().
  std::string card;          // A JSON object. Empty if there is none.
};
store::NewMessage tool_result_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                  std::string const& stage, ToolResultTexts const& texts, int mask);

}  // namespace runnel::runtime
