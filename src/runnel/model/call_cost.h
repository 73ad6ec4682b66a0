#pragma once

#include <cstdint>
#include <string_view>

#include "runnel/core/call_usage.h"
#include "runnel/core/error.h"
#include "runnel/model/prices.h"
#include "runnel/model/usage_fields.h"

// What one call used and cost (USE-3, USE-5).
namespace runnel::model {

// Counted where a provider did not.
struct TokenEstimates {
  std::int64_t input = 0;
  std::int64_t output = 0;
};

// The tokens of a call that may have used some. What was not reported, or is negative or above kMostTokens,
// comes from the estimates, which count at least 1 each (USE-10); `complete` is false then. Where the total
// shows that reasoning was left out of the output, it is added (xAI).
CallTokens settle_tokens(ReportedUsage const& reported, TokenEstimates const& estimates);

// What a call cost by the price book, and by its provider.
//
// The model must have a price at `start_ms`, which worst_case_cost tells before the call is made; without
// one the catalog's cost is 0 and `list` is `none`.
//
// The provider's cost is valid where it is a non-negative number in CNY; what is finer than a Money is
// rounded. In another currency it counts as not observed, nor where nobody says the currency, neither the
// answer nor the provider's profile, which fills `cost_currency` in.
CallCost price_call(PriceBook const& book, std::string_view model, std::int64_t start_ms,
                    CallTokens const& tokens, bool thinking, ReportedUsage const& reported);

// The most that a call with so many input tokens can cost, for reserving it: each token at its tier's dearest
// rate, all output used. Fails with `invalid` where the model has no price at `start_ms`.
Result<Money> worst_case_cost(PriceBook const& book, std::string_view model, std::int64_t start_ms,
                              std::int64_t input_tokens, std::int64_t max_output_tokens);

}  // namespace runnel::model
