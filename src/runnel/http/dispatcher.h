#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <variant>

#include "runnel/http/authenticator.h"
#include "runnel/http/router.h"

namespace runnel::http {

// From a request to its answer, without any wire. Shared by all cores; it holds no state that changes.
class Dispatcher {
 public:
  Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator, HttpMetrics metrics = {});

  // Decided by the head alone, so that nobody sends a large body to be told 401. Fills in the user and the
  // path's parameters.
  [[nodiscard]] std::variant<Route const*, Response> admit(Request& request) const;

  // Calls the handler. Does not throw: an exception is logged and becomes a 500.
  [[nodiscard]] boost::asio::awaitable<Reply> answer(Route const* route, Request request) const;

 private:
  Router const router_;
  std::shared_ptr<Authenticator const> const authenticator_;
  HttpMetrics const metrics_;
};

}  // namespace runnel::http
