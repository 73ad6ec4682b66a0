#include "runnel/http/dispatcher.h"

#include <exception>
#include <string>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/core/json_write.h"
#include "runnel/http/body_check.h"
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

Dispatcher::Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator,
                       std::size_t json_depth)
    : router_{std::move(router)}, json_depth_{json_depth}, authenticator_{std::move(authenticator)} {}

std::variant<Route const*, Response> Dispatcher::admit(Request& request) const {
  auto match = router_.match(request.method, request.path);
  if (std::holds_alternative<Router::BadPath>(match)) {
    return problem(400, "INVALID_REQUEST", "The path is not correctly encoded.");
  }
  if (auto const* wrong = std::get_if<Router::WrongMethod>(&match)) return wrong_method(wrong->allow);
  auto* found = std::get_if<Router::Found>(&match);
  if (found == nullptr) return problem(404, "NOT_FOUND", "There is no such address.");

  auto const refused = [this, found](Response response) {
    note_status(*found->route, response.status);
    return response;
  };
  if (found->route->access == Access::user) {
    auto user = authenticator_->authenticate(request);
    if (!user) {
      base::log(base::LogLevel::debug, "not authenticated",
                {{"request_id", request.request_id}, {"detail", user.error().detail}});
      return refused(not_authenticated());
    }
    request.user = std::move(*user);
  }
  if (auto const name = request.repeated_query()) return refused(repeated_parameter(*name));
  request.operation = found->route->operation;
  request.params = std::move(found->params);
  return found->route;
}

asio::awaitable<Reply> Dispatcher::answer(Route const* route, Request request) const {
  std::string const request_id = request.request_id;
  std::string failure;
  try {
    if (route->operation != nullptr) {
      auto refusal = take_body(*route->operation, json_depth_, request);
      if (refusal) co_return noted(*route, std::move(*refusal));
    }
    Reply reply = co_await route->handler(std::move(request));
    co_return noted(*route, std::move(reply));
  } catch (std::exception const& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of no known type";
  }
  co_return noted(*route, problem_from(Error{Errc::internal, std::move(failure)}, request_id));
}

Reply Dispatcher::noted(Route const& route, Reply reply) const {
  auto const* response = std::get_if<Response>(&reply);
  note_status(route, response != nullptr ? response->status : 200);
  return reply;
}

void Dispatcher::note_status(Route const& route, int status) const {
  if (route.operation == nullptr || route.operation->has_status(status)) return;
  ++undeclared_;
  base::log(
      base::LogLevel::error, "undeclared status",
      {{"method", to_string(route.method)}, {"route", route.pattern}, {"status", std::int64_t{status}}});
}

}  // namespace runnel::http
