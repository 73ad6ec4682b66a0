#include "runnel/core/money/call_usage.h"

namespace runnel {

char const* to_string(PriceList list) {
  switch (list) {
    case PriceList::custom_pricing:
      return "custom_pricing";
    case PriceList::litellm_catalog:
      return "litellm_catalog";
    case PriceList::none:
      break;
  }
  return "none";
}

std::optional<PriceList> parse_price_list(std::string const& text) {
  for (auto const list : {PriceList::none, PriceList::custom_pricing, PriceList::litellm_catalog}) {
    if (text == to_string(list)) return list;
  }
  return std::nullopt;
}

}  // namespace runnel
