#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"

namespace runnel::api {

struct TicketHolder {
  UserId owner;
  // When the token that the ticket was made with expires, in UNIX seconds. 0 if unknown.
  std::int64_t token_expires_at = 0;
  std::string ticket_hash;
};

// Tickets that open the stream of a run or a thread, or a WebSocket, for a browser, which cannot send a
// header there (HTTP-4). Any thread may call.
class StreamTickets {
 public:
  StreamTickets() = default;
  StreamTickets(StreamTickets const&) = delete;
  StreamTickets& operator=(StreamTickets const&) = delete;
  virtual ~StreamTickets() = default;

  // The ticket's owner, whatever the ticket opens; `not_found` if there is no such ticket. It only reads from
  // the store: anyone may try any ticket, and must not reach the store's writer before the requests are
  // counted against their limit.
  virtual boost::asio::awaitable<Result<UserId>> owner_of(std::string ticket) = 0;

  // `not_found` unless the ticket opens the stream of this run at this moment, or of the whole thread if no
  // run is named.
  virtual boost::asio::awaitable<Result<TicketHolder>> open_stream(std::string ticket, ThreadId thread,
                                                                   RunId run) = 0;

  // `not_found` unless the ticket opens a WebSocket at this moment. It opens none after this.
  virtual boost::asio::awaitable<Result<TicketHolder>> open_web_socket(std::string ticket) = 0;

  // The ticket counts as in use until the last copy of the returned pointer is destroyed.
  [[nodiscard]] virtual std::shared_ptr<void const> keep_in_use(std::string ticket_hash) = 0;
};

}  // namespace runnel::api
