#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/call_usage.h"

namespace runnel::model {

// A usage object as a provider wrote it, one level of it: null and absent are the same, 0 is a value.
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
  std::optional<std::string> cost;
  std::optional<std::string> total_cost;
  std::optional<std::string> currency;
};

// What the usage object and the `metadata` inside it say together, by USE-3's order, field by field. A total
// that counts reasoning beside the output shows that the output does not include it; then it is added.
ReportedUsage collect_usage(UsageFields const& direct, UsageFields const& metadata);

}  // namespace runnel::model
