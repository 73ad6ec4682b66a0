#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "runnel/core/json_parse.h"
#include "runnel/http/authenticator.h"
#include "runnel/http/router.h"

namespace runnel::http {

// From a request to its answer, without any wire. Shared by all cores.
class Dispatcher {
 public:
  Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator,
             std::size_t json_depth = kDefaultJsonDepth);

  // Decided by the head alone, so that nobody sends a large body to be told 401. Fills in the user and the
  // path's parameters.
  [[nodiscard]] std::variant<Route const*, Response> admit(Request& request) const;

  // Takes the body as the route's operation declares it and calls the handler. Does not throw: an exception
  // is logged and becomes a 500.
  [[nodiscard]] boost::asio::awaitable<Reply> answer(Route const* route, Request request) const;

  // Every answer to a request whose route is known passes here, so that one which the operation does not
  // declare is logged and counted. It is still given.
  void note_status(Route const& route, int status) const;

  // How many those were; more than none is a bug.
  [[nodiscard]] std::uint64_t undeclared_answers() const { return undeclared_; }

 private:
  [[nodiscard]] Reply noted(Route const& route, Reply reply) const;

  Router const router_;
  std::size_t const json_depth_;
  mutable std::atomic<std::uint64_t> undeclared_ = 0;
  std::shared_ptr<Authenticator const> const authenticator_;
};

}  // namespace runnel::http
