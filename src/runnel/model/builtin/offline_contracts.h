#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace runnel::model {

// A question to the offline model.
struct OfflineQuestion {
  std::string text;
  std::string answer;     // The answer in prose.
  std::size_t words = 0;  // The text that the user sees has at least this many words.
};

// The model's answer as the JSON object of a contract of the shipped flows (FLOW-4), with the text field
// last. Empty if the contract is unknown.
std::optional<std::string> offline_object(std::string_view contract, OfflineQuestion const& question);

}  // namespace runnel::model
