#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "runnel/base/fair_pool.h"
#include "runnel/core/json_parse.h"
#include "runnel/http/authenticator.h"
#include "runnel/http/body_room.h"
#include "runnel/http/cors.h"
#include "runnel/http/router.h"
#include "runnel/http/user_limits.h"

namespace runnel::http {

class Tickets;

struct DispatcherOptions {
  UserLimitOptions user_limits{};
  Cors cors{};
  Tickets* tickets = nullptr;  // Outlives the dispatcher; null: no ticket opens anything.
  HttpMetrics metrics{};
  JsonLimits json{};
  std::size_t parse_threads = 1;  // For large bodies.
  // How long a stream waits for its user's other readers before it is told to come again: all of a user's
  // streams may come back at once.
  std::chrono::milliseconds page_wait = std::chrono::seconds{30};
};

// From a request to its answer, without any wire. Shared by all cores.
class Dispatcher {
 public:
  Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator,
             DispatcherOptions options = {});

  // What any answer to the request carries, a refusal too.
  [[nodiscard]] Pairs headers_for(Request const& request) const { return cors_.headers_for(request); }

  // Decided by the head alone, so that nobody sends a large body to be told 401. Fills in the user and the
  // path's parameters. Of a request with a ticket the user is not known yet.
  [[nodiscard]] std::variant<Route const*, Response> admit(Request& request);

  // After `admit` and before the body is read: where the request brought a ticket, fills in its user and
  // takes the ticket out of the query. A response: it opens nothing. Does not throw.
  [[nodiscard]] boost::asio::awaitable<std::optional<Response>> redeem(Route const* route, Request* request);

  // After `redeem`: what the body takes of its user's and the server's bytes, which is held for as long as
  // the room is.
  [[nodiscard]] BodyRoom room_for_body(Route const& route, UserId const& user, Limits const& limits);

  // Takes the body as the route's operation declares it and calls the handler; a request that needs a user
  // and has none gets 401. Does not throw: an exception is logged and becomes a 500.
  [[nodiscard]] boost::asio::awaitable<Reply> answer(Route const* route, Request request);

  // Every answer to a request whose route is known passes here, so that one which the operation does not
  // declare is logged and counted. It is still given.
  void note_status(Route const& route, int status) const;

  // How many those were; more than none is a bug.
  [[nodiscard]] std::uint64_t undeclared_answers() const { return undeclared_; }

 private:
  [[nodiscard]] std::variant<Route const*, Response> decide(Request& request);
  [[nodiscard]] std::optional<Response> identify(Request& request);
  [[nodiscard]] std::optional<Response> count_request(Request const& request);
  void count_refusal(Reply const& reply) const;
  [[nodiscard]] boost::asio::awaitable<std::optional<Response>> try_ticket(Request* request);
  [[nodiscard]] Response refuse_ticket(Error const& error, Request const& request) const;
  [[nodiscard]] boost::asio::awaitable<std::optional<Response>> check_body(Route const* route,
                                                                           Request* request);
  [[nodiscard]] boost::asio::awaitable<Reply> call(Route const* route, Request request);
  [[nodiscard]] boost::asio::awaitable<Reply> call_for_answer(Route const* route, Request request);
  [[nodiscard]] boost::asio::awaitable<Reply> call_for_stream(Route const* route, Request request);
  [[nodiscard]] Response refuse_answer() const;

  Router const router_;
  JsonLimits const json_limits_;
  mutable std::atomic<std::uint64_t> undeclared_ = 0;
  std::shared_ptr<Authenticator const> const authenticator_;
  Cors const cors_;
  UserLimits user_limits_;
  Tickets* const tickets_;
  HttpMetrics const metrics_;
  std::chrono::milliseconds const page_wait_;
  base::FairPool parsing_;
};

}  // namespace runnel::http
