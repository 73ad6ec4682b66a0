#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/money.h"

namespace runnel {

// Where a cost came from (USE-5); `to_string` gives the wire's word.
enum class CostSource {
  provider,
  catalog_fallback,
  catalog_fallback_incomplete_provider_cost,
  incomplete_usage_fallback
};
char const* to_string(CostSource source);
std::optional<CostSource> parse_cost_source(std::string const& text);

// What one model's calls of a run used.
struct Usage {
  std::string provider;
  std::string model;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t total_tokens = 0;
  std::int64_t cached_prompt_tokens = 0;
  std::int64_t cache_hit_tokens = 0;
  std::int64_t cache_miss_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  CostSource cost_source = CostSource::provider;
  Money cost;
  bool complete = true;  // Every call gave its usage; otherwise some numbers are estimates.

  bool operator==(Usage const&) const = default;
};

}  // namespace runnel
