#include "runnel/store/ticket_rows.h"

namespace runnel::store {

char const* to_string(TicketKind kind) {
  return kind == TicketKind::sse ? "sse" : "websocket";
}

}  // namespace runnel::store
