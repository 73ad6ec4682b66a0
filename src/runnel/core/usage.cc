#include "runnel/core/usage.h"

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

}  // namespace runnel
