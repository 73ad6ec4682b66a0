#include "runnel/core/money/usage.h"

#include <algorithm>
#include <utility>

namespace runnel {

char const* to_string(CostSource source) {
  switch (source) {
    case CostSource::provider:
      return "provider";
    case CostSource::catalog_fallback:
      return "catalog_fallback";
    case CostSource::catalog_fallback_incomplete_provider_cost:
      return "catalog_fallback_incomplete_provider_cost";
    case CostSource::incomplete_usage_fallback:
      return "incomplete_usage_fallback";
  }
  return "incomplete_usage_fallback";
}

std::optional<CostSource> parse_cost_source(std::string const& text) {
  for (auto const source :
       {CostSource::provider, CostSource::catalog_fallback,
        CostSource::catalog_fallback_incomplete_provider_cost, CostSource::incomplete_usage_fallback}) {
    if (text == to_string(source)) return source;
  }
  return std::nullopt;
}

TokenCounts& TokenCounts::operator+=(TokenCounts const& more) {
  input += more.input;
  output += more.output;
  total += more.total;
  cached += more.cached;
  cache_hit += more.cache_hit;
  cache_miss += more.cache_miss;
  cache_write += more.cache_write;
  reasoning += more.reasoning;
  complete = complete && more.complete;
  return *this;
}

Usage& Usage::operator+=(Usage const& more) {
  tokens += more.tokens;
  cost = saturating_add(cost, more.cost);
  cost_source = more.cost_source;
  return *this;
}

void add_by_model(std::vector<Usage>& all, Usage more) {
  auto const known = std::find_if(all.begin(), all.end(), [&](Usage const& usage) {
    return usage.provider == more.provider && usage.model == more.model;
  });
  if (known == all.end()) {
    all.push_back(std::move(more));
  } else {
    *known += more;
  }
}

}  // namespace runnel
