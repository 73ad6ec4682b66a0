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

}  // namespace runnel::store
