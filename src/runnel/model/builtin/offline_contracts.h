#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/model/builtin/offline_plan.h"

namespace runnel::model {

// What the offline model answers in a stage.
struct OfflineAnswer {
  std::string text;  // The user's words.
  Request request;
  Reply reply;
  bool needs_tool = false;           // What the user wants begins with a call of a tool.
  std::vector<std::string> results;  // Of the stages before: a JSON object each.
  std::size_t words = 0;             // The text that the user sees has at least this many words.
};

// The answer as the JSON object of a contract of the shipped flows (FLOW-4), with the text field last. Empty
// if the contract is unknown.
std::optional<std::string> offline_object(std::string_view contract, OfflineAnswer const& answer);

}  // namespace runnel::model
