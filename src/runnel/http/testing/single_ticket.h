#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "runnel/api/stream_tickets.h"

namespace runnel::http {

// For tests: one ticket, which belongs to ann and opens run r1 of thread t1.
class SingleTicket final : public api::StreamTickets {
 public:
  static constexpr char kTicket[] = "tkt_of_ann";

  boost::asio::awaitable<Result<UserId>> owner_of(std::string ticket) override {
    if (ticket != kTicket) co_return Error{Errc::not_found, "no such ticket"};
    co_return UserId{"ann"};
  }

  boost::asio::awaitable<Result<api::TicketHolder>> open_stream(std::string ticket, ThreadId thread,
                                                                RunId run) override {
    if (ticket != kTicket || thread.text != "t1" || run.text != "r1")
      co_return Error{Errc::not_found, "not for this"};
    co_return holder();
  }

  boost::asio::awaitable<Result<api::TicketHolder>> open_web_socket(std::string ticket) override {
    if (ticket != kTicket) co_return Error{Errc::not_found, "no such ticket"};
    co_return holder();
  }

  [[nodiscard]] std::shared_ptr<void const> keep_in_use(std::string ticket_hash) override {
    last_hash = std::move(ticket_hash);
    return in_use;
  }

  std::string last_hash;
  std::shared_ptr<int> in_use = std::make_shared<int>(0);  // One copy per open stream.

 private:
  static api::TicketHolder holder() {
    api::TicketHolder out;
    out.owner = UserId{"ann"};
    out.ticket_hash = "hash of it";
    return out;
  }
};

}  // namespace runnel::http
