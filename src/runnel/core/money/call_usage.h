#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/money/money.h"
#include "runnel/core/money/usage.h"

namespace runnel {

// The usage that a provider reported for one call (USE-3). An absent value is not zero.
struct ReportedUsage {
  std::optional<std::int64_t> input_tokens;   // Including cached tokens.
  std::optional<std::int64_t> output_tokens;  // Including reasoning.
  std::optional<std::int64_t> total_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> cache_hit_tokens;
  std::optional<std::int64_t> cache_miss_tokens;
  std::optional<std::int64_t> cache_write_tokens;
  std::optional<std::int64_t> reasoning_tokens;
  std::optional<std::int64_t> latency_ms;  // The duration of the call, as reported by the provider.
  std::optional<std::string> cost;         // As it was written, valid or not: "0.0012", "-1", "NaN".
  std::string cost_currency;               // Empty if unknown.

  bool operator==(ReportedUsage const&) const = default;
};

// Which price list a catalog cost came from (`metadata.cost_source`, USE-5).
enum class PriceList { none, custom_pricing, litellm_catalog };
char const* to_string(PriceList list);  // The name in the ledger and on the wire, which shows `none` as null.
std::optional<PriceList> parse_price_list(std::string const& text);

// The cost of one call according to its provider and to the price lists. Which of the two counts is decided
// for all calls of a message together (USE-5).
struct CallCost {
  std::optional<Money> direct;   // The provider's cost, if it gave a valid one in the thread's currency.
  bool direct_observed = false;  // The provider gave a cost in that currency, valid or not.
  Money catalog;
  PriceList list = PriceList::none;
  std::string price = "{}";  // The price entry, tier, window and rates that gave `catalog`, frozen as JSON.

  bool operator==(CallCost const&) const = default;
};

}  // namespace runnel
