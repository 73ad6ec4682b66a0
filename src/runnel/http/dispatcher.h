#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <variant>

#include "runnel/http/authenticator.h"
#include "runnel/http/router.h"

namespace runnel::http {

class Tickets;

// From a request to its answer, without any wire. Shared by all cores; it holds no state that changes.
class Dispatcher {
 public:
  // `tickets` outlives it; null: no ticket opens anything.
  Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator, Tickets* tickets = nullptr);

  // Decided by the head alone, so that nobody sends a large body to be told 401. Fills in the user and the
  // path's parameters. Of a request with a ticket the user is not known yet.
  [[nodiscard]] std::variant<Route const*, Response> admit(Request& request) const;

  // After `admit` and before the body is read: where the request brought a ticket, fills in its user and
  // takes the ticket out of the query. A response: it opens nothing. Does not throw.
  [[nodiscard]] boost::asio::awaitable<std::optional<Response>> redeem(Route const* route,
                                                                       Request* request) const;

  // Calls the handler; a request that needs a user and has none gets 401. Does not throw: an exception is
  // logged and becomes a 500.
  [[nodiscard]] boost::asio::awaitable<Reply> answer(Route const* route, Request request) const;

 private:
  Router const router_;
  std::shared_ptr<Authenticator const> const authenticator_;
  Tickets* const tickets_;
};

}  // namespace runnel::http
