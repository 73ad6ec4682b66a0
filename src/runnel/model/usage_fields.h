#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/call_usage.h"

namespace runnel::model {

// No call has more tokens, by hundreds; a provider that says so is not believed.
inline constexpr std::int64_t kMostTokens = 400'000'000;

// A usage object as a provider wrote it, one level of it: null, absent and what is no count are the same, 0
// is a value.
struct UsageFields {
  std::optional<std::int64_t> input_tokens;
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> completion_tokens;
  std::optional<std::int64_t> total_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> cache_hit_tokens;
  std::optional<std::int64_t> cache_miss_tokens;
  std::optional<std::int64_t> cache_write_tokens;
  std::optional<std::int64_t> reasoning_tokens;
  std::optional<std::string> time;  // In seconds.
  std::optional<std::string> cost;  // Whatever stands there: "0.5", "NaN", "true", "{}".
  std::optional<std::string> total_cost;
  std::optional<std::string> currency;
};

// What the usage object and the `metadata` inside it say together, by USE-3's order, field by field: a count
// that is negative or above kMostTokens is none.
ReportedUsage collect_usage(UsageFields const& direct, UsageFields const& metadata);

}  // namespace runnel::model
