#include "runnel/base/nearest_name.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace runnel::base {
namespace {

constexpr std::size_t kLongest = 100;  // A longer text is not a mistyped name.

// How many letters must be changed, added, removed or swapped with their neighbour to get from `a` to `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      auto const change = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, change});
      bool const swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<std::string const> known) {
  if (name.size() > kLongest) return std::nullopt;
  std::string const* best = nullptr;
  auto least = std::numeric_limits<std::size_t>::max();
  for (auto const& candidate : known) {
    auto const far = distance(name, candidate);
    // A third of the candidate's letters may be wrong, and always at least one.
    bool const near = far <= std::max<std::size_t>(1, candidate.size() / 3) && far < candidate.size();
    if (!near || far >= least) continue;
    least = far;
    best = &candidate;
  }
  return best == nullptr ? std::nullopt : std::optional{*best};
}

std::string did_you_mean(std::string_view name, std::span<std::string const> known) {
  auto const nearest = nearest_name(name, known);
  return nearest ? "; did you mean " + *nearest + "?" : "";
}

}  // namespace runnel::base
