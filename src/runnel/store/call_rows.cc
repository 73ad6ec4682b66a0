#include "runnel/store/call_rows.h"

namespace runnel::store {

char const* to_string(CallStatus status) {
  switch (status) {
    case CallStatus::open:
      return "open";
    case CallStatus::completed:
      return "completed";
    case CallStatus::failed:
      return "failed";
    case CallStatus::canceled:
      return "canceled";
    case CallStatus::interrupted:
      return "interrupted";
  }
  return "interrupted";
}

std::optional<CallStatus> parse_call_status(std::string const& text) {
  for (auto const status : {CallStatus::open, CallStatus::completed, CallStatus::failed, CallStatus::canceled,
                            CallStatus::interrupted}) {
    if (text == to_string(status)) return status;
  }
  return std::nullopt;
}

char const* price_list_name(PriceList list) {
  switch (list) {
    case PriceList::none:
      return "none";
    case PriceList::custom_pricing:
      return "custom_pricing";
    case PriceList::litellm_catalog:
      return "litellm_catalog";
  }
  return "none";
}

std::optional<PriceList> parse_price_list(std::string const& text) {
  for (auto const list : {PriceList::none, PriceList::custom_pricing, PriceList::litellm_catalog}) {
    if (text == price_list_name(list)) return list;
  }
  return std::nullopt;
}

}  // namespace runnel::store
