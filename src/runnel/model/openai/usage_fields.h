#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/money/call_usage.h"

namespace runnel::model {

// Hundreds of times more tokens than any call has; a larger count from a provider is not believed.
inline constexpr std::int64_t kMostTokens = 400'000'000;

// One level of a usage object as a provider wrote it. A count that is null, absent or invalid is empty; 0 is
// a value.
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
  std::optional<std::string> cost;  // Whatever was written: "0.5", "NaN", "true", "{}".
  std::optional<std::string> total_cost;
  std::optional<std::string> currency;
};

// Combines the usage object and the `metadata` inside it, field by field, in the order of USE-3. A count that
// is negative or above kMostTokens counts as absent.
ReportedUsage collect_usage(UsageFields const& direct, UsageFields const& metadata);

}  // namespace runnel::model
