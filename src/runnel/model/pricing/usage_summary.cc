#include "runnel/model/pricing/usage_summary.h"

#include <algorithm>
#include <cstddef>

#include "runnel/core/json/write.h"

namespace runnel::model {
namespace {

void count(CallRecord const& record, UsageSummary& summary) {
  summary.tokens += record.tokens;
  summary.latency_ms += record.latency_ms;
  summary.direct_cost = saturating_add(summary.direct_cost, record.cost.direct.value_or(Money{}));
  summary.model_call_records += 1;
  summary.usage_records += record.tokens.complete ? 1 : 0;
  summary.direct_cost_records += record.cost.direct_observed ? 1 : 0;
}

bool used(CallRecord const& record) {
  return record.status == CallOutcome::answered;
}

bool all_direct_costs_valid(std::span<CallRecord const> records) {
  return std::all_of(records.begin(), records.end(), [](CallRecord const& record) {
    return !used(record) || record.cost.direct.has_value();
  });
}

CostSource choose_source(UsageSummary const& summary, std::span<CallRecord const> records) {
  if (!summary.usage_complete()) return CostSource::incomplete_usage_fallback;
  if (!summary.direct_cost_observed) return CostSource::catalog_fallback;
  if (summary.direct_cost_complete && all_direct_costs_valid(records)) return CostSource::provider;
  return CostSource::catalog_fallback_incomplete_provider_cost;
}

void book(CallRecord const& record, UsageSummary& summary) {
  if (!used(record)) {
    summary.booked.emplace_back();
    return;
  }
  bool const direct = summary.cost_source == CostSource::provider;
  auto const before = summary.cost;
  summary.cost = saturating_add(before, direct ? *record.cost.direct : record.cost.catalog);
  summary.booked.push_back(Money{summary.cost.pico - before.pico});  // The parts add up, even at the limit.
  if (!direct && summary.price_list != PriceList::custom_pricing && record.cost.list != PriceList::none)
    summary.price_list = record.cost.list;
}

}  // namespace

UsageSummary summarize(std::span<CallRecord const> records) {
  UsageSummary summary;
  for (auto const& record : records) {
    if (used(record)) count(record, summary);
  }
  summary.direct_cost_observed = summary.direct_cost_records > 0;
  summary.direct_cost_complete =
      summary.direct_cost_observed && summary.direct_cost_records == summary.model_call_records;
  summary.cost_source = choose_source(summary, records);
  summary.booked.reserve(records.size());
  for (auto const& record : records)
    book(record, summary);
  return summary;
}

std::vector<Usage> merge_by_model(std::span<CallRecord const> records, UsageSummary const& summary) {
  std::vector<Usage> all;
  for (std::size_t at = 0; at < records.size(); ++at) {
    auto const& record = records[at];
    if (!used(record)) continue;
    add_by_model(all,
                 {record.provider, record.model, record.tokens, summary.cost_source, summary.booked[at]});
  }
  return all;
}

void append_usage_summary(std::string& out, UsageSummary const& summary) {
  bool const provider = summary.cost_source == CostSource::provider;
  JsonObject{out}
      .number("input_tokens", summary.tokens.input)
      .number("output_tokens", summary.tokens.output)
      .number("total_tokens", summary.tokens.total)
      .number("latency_ms", summary.latency_ms)
      .number("cached_prompt_tokens", summary.tokens.cached)
      .number("prompt_cache_hit_tokens", summary.tokens.cache_hit)
      .number("prompt_cache_miss_tokens", summary.tokens.cache_miss)
      .number("reasoning_tokens", summary.tokens.reasoning)
      .text("direct_cost", to_decimal(summary.direct_cost))
      .number("direct_cost_observed", summary.direct_cost_observed ? 1 : 0)
      .number("direct_cost_complete", summary.direct_cost_complete ? 1 : 0)
      .number("model_call_records", summary.model_call_records)
      .number("usage_records", summary.usage_records)
      .number("direct_cost_records", summary.direct_cost_records)
      .text("cost_source", provider ? "provider" : "catalog_fallback")
      .close();
}

}  // namespace runnel::model
