#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runnel/core/call_usage.h"

// The usage of a message: of all calls that are booked on its row (USE-4, USE-5).
namespace runnel::model {

enum class CallOutcome {
  answered,  // The provider took the call, be it to its end or not: it may have used tokens.
  refused,   // It did not (no connection, 429, 5xx): nothing was used, and no usage is missing.
};

// One attempt.
struct CallRecord {
  std::string provider;
  std::string model;
  CallTokens tokens;
  CallCost cost;
  std::int64_t latency_ms = 0;
  CallOutcome status = CallOutcome::answered;
};

struct UsageSummary {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t total_tokens = 0;
  std::int64_t latency_ms = 0;
  std::int64_t cached_prompt_tokens = 0;
  std::int64_t prompt_cache_hit_tokens = 0;
  std::int64_t prompt_cache_miss_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  Money direct_cost;                  // The sum of the valid ones.
  bool direct_cost_observed = false;  // Some call gave a cost,
  bool direct_cost_complete = false;  // all did; valid or not.
  std::int64_t model_call_records = 0;
  std::int64_t usage_records = 0;
  std::int64_t direct_cost_records = 0;

  CostSource cost_source = CostSource::catalog_fallback;
  // `metadata.cost_source`. `none` where the provider's cost counts. Custom prices where calls came from both
  // lists.
  PriceList price_list = PriceList::none;
  std::vector<Money> booked;  // What each record costs, in their order.
  Money cost;                 // Their sum.

  [[nodiscard]] bool usage_complete() const { return model_call_records == usage_records; }
};

// Refused attempts cost 0, and count neither as calls nor in any sum. A sum that a Money cannot hold, nine
// million CNY, stays at the most it can.
UsageSummary summarize(std::span<CallRecord const> records);

// The same calls by provider and model, in the order of first use, for ag-ui's `usage`. The costs add up to
// the summary's; refused attempts have no part.
std::vector<Usage> merge_by_model(std::span<CallRecord const> records, UsageSummary const& summary);

// Appends the `usage_summary` object of USE-4; `direct_cost` is decimal text.
void append_usage_summary(std::string& out, UsageSummary const& summary);

}  // namespace runnel::model
