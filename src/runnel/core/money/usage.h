#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/money/money.h"

namespace runnel {

// Where a cost came from (USE-5). `to_string` gives its name on the wire.
enum class CostSource {
  provider,
  catalog_fallback,
  catalog_fallback_incomplete_provider_cost,
  incomplete_usage_fallback
};
char const* to_string(CostSource source);
std::optional<CostSource> parse_cost_source(std::string const& text);

// The tokens of one model call, or of several that are added up.
struct TokenCounts {
  std::int64_t input = 0;   // Including cached tokens.
  std::int64_t output = 0;  // Including reasoning.
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t cache_hit = 0;
  std::int64_t cache_miss = 0;
  std::int64_t cache_write = 0;  // In the ledger only: facts do not keep it.
  std::int64_t reasoning = 0;
  bool complete = true;  // Input and output were reported for every call, not estimated.

  TokenCounts& operator+=(TokenCounts const& more);
  bool operator==(TokenCounts const&) const = default;
};

// What the calls of one model used and cost.
struct Usage {
  std::string provider;
  std::string model;
  TokenCounts tokens;
  CostSource cost_source = CostSource::provider;
  Money cost;

  // Adds other calls of the same model. Their cost source replaces this one. A sum that a Money cannot hold
  // stays at the largest value that it can.
  Usage& operator+=(Usage const& more);
  bool operator==(Usage const&) const = default;
};

// Adds `more` to the usage of its provider and model in `all`, or appends it if there is none.
void add_by_model(std::vector<Usage>& all, Usage more);

}  // namespace runnel
