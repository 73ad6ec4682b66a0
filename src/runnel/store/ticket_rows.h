#pragma once

#include <cstdint>
#include <string>

#include "runnel/core/ids.h"

// The records of tickets (HTTP-4). A ticket is known by its SHA-256 in hexadecimal; what is stored opens
// nothing. Times are UNIX milliseconds.
namespace runnel::store {

enum class TicketKind {
  sse,        // For one run's stream, again and again.
  websocket,  // For one use.
};
char const* to_string(TicketKind kind);

// How soon a new ticket must be used.
inline constexpr std::int64_t kTicketFirstUseMs = 60'000;
// How soon after its last use an SSE ticket must be used again.
inline constexpr std::int64_t kTicketReuseMs = 600'000;

struct NewTicket {
  std::string hash;
  UserId owner;
  TicketKind kind = TicketKind::sse;
  ThreadId thread;  // This and `run`: of an SSE ticket only.
  RunId run;
  std::int64_t expires_at = 0;  // When the token that it is made with does: no use renews it beyond that.
  std::int64_t now = 0;
};

// A wish to open something with a ticket.
struct TicketUse {
  std::string hash;
  TicketKind kind = TicketKind::sse;
  ThreadId thread;  // This and `run`: what an SSE ticket is to open.
  RunId run;
  std::int64_t now = 0;
};

struct UsedTicket {
  UserId owner;
  std::int64_t expires_at = 0;
};

// That a stream was open on an SSE ticket at a time.
struct TicketTouch {
  std::string hash;
  std::int64_t at = 0;
};

}  // namespace runnel::store
