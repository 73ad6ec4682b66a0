#include "runnel/http/dispatcher.h"

#include <exception>
#include <string>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/core/json_write.h"
#include "runnel/http/problem.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

Response wrong_method(std::string const& allow) {
  auto response = problem(405, "METHOD_NOT_ALLOWED", "This address does not take the method.");
  response.headers.emplace_back("Allow", allow);
  return response;
}

Response not_authenticated() {
  auto response = problem(401, "UNAUTHORIZED", "A valid bearer token is needed.");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response repeated_parameter(std::string const& name) {
  std::string details;
  JsonObject object{details};
  object.text("parameter", name);
  object.close();
  return problem(400, "INVALID_REQUEST", "A query parameter is given twice.", details);
}

}  // namespace

Dispatcher::Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator, HttpMetrics metrics)
    : router_{std::move(router)}, authenticator_{std::move(authenticator)}, metrics_{metrics} {}

std::variant<Route const*, Response> Dispatcher::admit(Request& request) const {
  auto match = router_.match(request.method, request.path);
  if (std::holds_alternative<Router::BadPath>(match)) {
    return problem(400, "INVALID_REQUEST", "The path is not correctly encoded.");
  }
  if (auto const* wrong = std::get_if<Router::WrongMethod>(&match)) return wrong_method(wrong->allow);
  auto* found = std::get_if<Router::Found>(&match);
  if (found == nullptr) return problem(404, "NOT_FOUND", "There is no such address.");

  request.route = found->route;
  if (found->route->access == Access::user) {
    auto user = authenticator_->authenticate(request);
    if (!user) {
      base::log(base::LogLevel::debug, "not authenticated",
                {{"request_id", request.request_id}, {"detail", user.error().detail}});
      metrics_.auth_failures.add();
      return not_authenticated();
    }
    request.user = std::move(*user);
  }
  if (auto const name = request.repeated_query()) return repeated_parameter(*name);
  request.params = std::move(found->params);
  return found->route;
}

asio::awaitable<Reply> Dispatcher::answer(Route const* route, Request request) const {
  std::string const request_id = request.request_id;
  std::string failure;
  try {
    Reply reply = co_await route->handler(std::move(request));
    co_return std::move(reply);
  } catch (std::exception const& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of no known type";
  }
  co_return problem_from(Error{Errc::internal, std::move(failure)}, request_id);
}

}  // namespace runnel::http
