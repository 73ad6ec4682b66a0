#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace runnel::model {

// What the offline model is asked.
struct OfflineQuestion {
  std::string text;
  std::string answer;     // In prose.
  std::size_t words = 0;  // The text that the user sees has at least so many.
};

// Its answer as the JSON object of a contract of the shipped flows (FLOW-4), the text field last; none: the
// contract is not known.
std::optional<std::string> offline_object(std::string_view contract, OfflineQuestion const& question);

}  // namespace runnel::model
