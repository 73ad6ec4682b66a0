#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/money.h"
#include "runnel/core/usage.h"

namespace runnel {

// What a provider said that one call used (USE-3). Absent is not zero.
struct ReportedUsage {
  std::optional<std::int64_t> input_tokens;   // Cached ones included.
  std::optional<std::int64_t> output_tokens;  // Reasoning included.
  std::optional<std::int64_t> total_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> cache_hit_tokens;
  std::optional<std::int64_t> cache_miss_tokens;
  std::optional<std::int64_t> cache_write_tokens;
  std::optional<std::int64_t> reasoning_tokens;
  std::optional<std::int64_t> latency_ms;  // How long the provider says that the call took.
  std::optional<std::string> cost;         // As it was written, be it a number or not: "0.0012", "-1", "NaN".
  std::string cost_currency;               // Empty: the provider did not say.

  bool operator==(ReportedUsage const&) const = default;
};

// The tokens of one call as they are booked: what was reported, and estimates where `complete` is false.
struct CallTokens {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t cache_hit = 0;
  std::int64_t cache_miss = 0;
  std::int64_t cache_write = 0;
  std::int64_t reasoning = 0;
  bool complete = true;  // The provider reported input and output.

  bool operator==(CallTokens const&) const = default;
};

// Which price list a catalog cost came from (`metadata.cost_source`, USE-5).
enum class PriceList { none, custom_pricing, litellm_catalog };
char const* to_string(PriceList list);  // The ledger's word, and the wire's, which shows `none` as null.
std::optional<PriceList> parse_price_list(std::string const& text);

// What one call cost, both ways. Which of the two counts is decided for all calls of a message together
// (USE-5).
struct CallCost {
  std::optional<Money> direct;   // The provider's own, where it gave a valid one in the thread's currency.
  bool direct_observed = false;  // It gave some cost, valid or not.
  Money catalog;
  PriceList list = PriceList::none;
  std::string price = "{}";  // The price entry, tier, window and rates that gave `catalog`, frozen as JSON.

  bool operator==(CallCost const&) const = default;
};

}  // namespace runnel
