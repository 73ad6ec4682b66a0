#pragma once

#include <cstdint>
#include <string_view>

#include "runnel/core/error.h"
#include "runnel/core/money/call_usage.h"
#include "runnel/model/openai/usage_fields.h"
#include "runnel/model/pricing/prices.h"

// What one call used and cost (USE-3, USE-5).
namespace runnel::model {

// Estimated counts, for the ones that a provider did not report.
struct TokenEstimates {
  std::int64_t input = 0;
  std::int64_t output = 0;
};

// The tokens of a call that may have used some. A count that is negative or above kMostTokens is treated as
// not reported. If input or output was not reported, it comes from the estimates, which count as at least 1
// each (USE-10); `complete` is then false, and the total is the sum of both. If the total shows that
// reasoning was left out of the output, reasoning is added to it (xAI).
TokenCounts settle_tokens(ReportedUsage const& reported, TokenEstimates const& estimates);

// The cost of a call according to the price book and to its provider.
//
// The model must have a price at `start_ms`, which worst_case_cost checks before the call is made. Without a
// price, the catalog cost is 0 and `list` is `none`.
//
// The provider's cost is valid if it is a non-negative number in CNY that a Money can hold; it is rounded to
// the precision of a Money. A cost in another currency counts as not observed. So does a cost whose currency
// is unknown, because neither the answer nor the provider's vendor, which fills in `cost_currency`, names it.
CallCost price_call(PriceBook const& book, std::string_view model, std::int64_t start_ms,
                    TokenCounts const& tokens, bool thinking, ReportedUsage const& reported);

// The most that a call with this many input tokens can cost, for reserving it: each token costs the highest
// rate of its tier, and all output is used. Fails with `invalid` if the model has no price at `start_ms`.
Result<Money> worst_case_cost(PriceBook const& book, std::string_view model, std::int64_t start_ms,
                              std::int64_t input_tokens, std::int64_t max_output_tokens);

}  // namespace runnel::model
