#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runnel/core/money/call_usage.h"

// The usage of a message: the sum of all calls that are booked on its row (USE-4, USE-5).
namespace runnel::model {

enum class CallOutcome {
  answered,  // The provider accepted the call, which may have used tokens, whether it finished or not.
  refused,   // It did not (no connection, 429, 5xx): nothing was used, and no usage is missing.
};

// One attempt to call a model.
struct CallRecord {
  std::string provider;
  std::string model;
  TokenCounts tokens;
  CallCost cost;
  std::int64_t latency_ms = 0;
  CallOutcome status = CallOutcome::answered;
};

struct UsageSummary {
  TokenCounts tokens;
  std::int64_t latency_ms = 0;
  Money direct_cost;                  // The sum of the valid direct costs.
  bool direct_cost_observed = false;  // At least one call gave a cost, valid or not.
  bool direct_cost_complete = false;  // Every call gave a cost, valid or not.
  std::int64_t model_call_records = 0;
  std::int64_t usage_records = 0;
  std::int64_t direct_cost_records = 0;

  CostSource cost_source = CostSource::catalog_fallback;
  // `metadata.cost_source`. `none` if the provider's cost counts, and `custom_pricing` if both lists were
  // used.
  PriceList price_list = PriceList::none;
  std::vector<Money> booked;  // The cost of each record, in the same order.
  Money cost;                 // The sum of `booked`.

  [[nodiscard]] bool usage_complete() const { return model_call_records == usage_records; }
};

// Refused attempts cost 0, and count neither as calls nor in any sum. A sum that a Money cannot hold (above
// nine million CNY) stays at the largest Money.
UsageSummary summarize(std::span<CallRecord const> records);

// The same calls by provider and model, in the order of first use, for ag-ui's `usage`. The costs add up to
// the summary's cost; refused attempts are left out.
std::vector<Usage> merge_by_model(std::span<CallRecord const> records, UsageSummary const& summary);

// Appends the `usage_summary` object of USE-4; `direct_cost` is decimal text.
void append_usage_summary(std::string& out, UsageSummary const& summary);

}  // namespace runnel::model
