#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "runnel/api/router.h"
#include "runnel/api/stream_tickets.h"
#include "runnel/base/fair_pool.h"
#include "runnel/core/json/parse.h"
#include "runnel/http/auth/authenticator.h"
#include "runnel/http/connection/body_room.h"
#include "runnel/http/cors.h"
#include "runnel/http/user_limits.h"

namespace runnel::http {

struct DispatcherOptions {
  UserLimitOptions user_limits{};
  Cors cors{};
  api::StreamTickets* tickets = nullptr;  // Outlives the dispatcher. If null, every ticket is refused.
  HttpMetrics metrics{};
  JsonLimits json{};
  std::size_t parse_threads = 1;  // For large bodies.
  // How long a stream waits for its user's other readers to take their bytes before its client is told to
  // reconnect. It is long because all of a user's streams may reconnect at once.
  std::chrono::milliseconds page_wait = std::chrono::seconds{30};
};

// Turns a request into its answer, independently of any socket. Shared by all cores.
class Dispatcher {
 public:
  Dispatcher(api::Router router, std::shared_ptr<Authenticator const> authenticator,
             DispatcherOptions options = {});

  // The headers that every answer to the request carries, also a refusal.
  [[nodiscard]] api::Pairs headers_for(api::Request const& request) const {
    return cors_.headers_for(request);
  }

  // Decides by the head alone, so that nobody sends a large body only to get a 401. Fills in the user and the
  // path's parameters. If the request brings a ticket, its user is not known yet.
  [[nodiscard]] std::variant<api::Route const*, api::Response> admit(api::Request& request);

  // Call this after `admit` and before the body is read. If the request brought a ticket or has a secret in
  // its path, fills in its owner as the user and removes the ticket from the query. Returns a response if the
  // request is refused. Does not throw.
  [[nodiscard]] boost::asio::awaitable<std::optional<api::Response>> redeem(api::Route const* route,
                                                                            api::Request* request);

  // Call this after `redeem`. Returns what the body takes of its user's and the server's bytes, which is held
  // until the room is destroyed.
  [[nodiscard]] BodyRoom room_for_body(api::Route const& route, UserId const& user, Limits const& limits);

  // Parses and checks the body as the route's operation declares it, and calls the handler. A request that
  // needs a user and has none gets 401. Does not throw: an exception is logged and becomes a 500.
  [[nodiscard]] boost::asio::awaitable<api::Reply> answer(api::Route const* route, api::Request request);

  // Every answer to a request whose route is known passes through here. A status that the operation does not
  // declare is logged and counted; the answer is still sent.
  void note_status(api::Route const& route, int status) const;

  // How many answers had an undeclared status. Each of them is a bug.
  [[nodiscard]] std::uint64_t undeclared_answers() const { return undeclared_; }

 private:
  [[nodiscard]] std::variant<api::Route const*, api::Response> decide(api::Request& request);
  [[nodiscard]] std::optional<api::Response> identify(api::Request& request);
  [[nodiscard]] std::optional<api::Response> count_request(api::Request const& request);
  void count_refusal(api::Reply const& reply) const;
  [[nodiscard]] boost::asio::awaitable<std::optional<api::Response>> try_path_secret(api::Route const* route,
                                                                                     api::Request* request);
  [[nodiscard]] boost::asio::awaitable<std::optional<api::Response>> try_ticket(api::Request* request);
  [[nodiscard]] boost::asio::awaitable<Result<api::TicketHolder>> open_by_ticket(api::Request const* request);
  [[nodiscard]] api::Response refuse_ticket(Error const& error, api::Request const& request) const;
  [[nodiscard]] boost::asio::awaitable<std::optional<api::Response>> check_body(api::Route const* route,
                                                                                api::Request* request);
  [[nodiscard]] boost::asio::awaitable<api::Reply> call(api::Route const* route, api::Request request);
  [[nodiscard]] boost::asio::awaitable<api::Reply> call_for_answer(api::Route const* route,
                                                                   api::Request request);
  [[nodiscard]] boost::asio::awaitable<api::Reply> call_for_stream(api::Route const* route,
                                                                   api::Request request);
  [[nodiscard]] api::Response refuse_answer() const;

  api::Router const router_;
  JsonLimits const json_limits_;
  mutable std::atomic<std::uint64_t> undeclared_ = 0;
  std::shared_ptr<Authenticator const> const authenticator_;
  Cors const cors_;
  UserLimits user_limits_;
  api::StreamTickets* const tickets_;
  HttpMetrics const metrics_;
  std::chrono::milliseconds const page_wait_;
  base::FairPool parsing_;
};

}  // namespace runnel::http
