#include "runnel/core/call_usage.h"

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
  return "";
}

}  // namespace runnel
