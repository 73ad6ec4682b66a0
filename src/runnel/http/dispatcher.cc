#include "runnel/http/dispatcher.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/core/json_write.h"
#include "runnel/http/problem.h"
#include "runnel/http/tickets.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kTicket = "ticket";

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

// The same for all that is wrong with one: nobody learns which tickets there are.
Response invalid_ticket() {
  auto response = problem(401, "INVALID_TICKET",
                          "The ticket is unknown, used up, too old, or not for this run: get another.");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

// A URL ends up in histories, logs and Referer headers. Refused aloud, so that nobody builds on it.
bool has_token_in_url(Request const& request) {
  static constexpr std::array<std::string_view, 5> kNames = {"access_token", "token", "authorization",
                                                             "bearer", "jwt"};
  auto const names_a_token = [](auto const& item) {
    return std::any_of(kNames.begin(), kNames.end(),
                       [&item](std::string_view name) { return equal_ignoring_case(item.first, name); });
  };
  return std::any_of(request.query_items.begin(), request.query_items.end(), names_a_token);
}

Response token_in_url() {
  return problem(
      400, "TOKEN_IN_URL",
      "Tokens go into the Authorization header, never into a URL; where there can be no header, use a "
      "ticket: POST /api/v1/auth/tickets.");
}

bool brings_a_ticket(Route const& route, Request const& request) {
  return route.access == Access::user_or_ticket && request.query(kTicket).has_value();
}

void take_ticket_out(Request& request) {
  std::erase_if(request.query_items, [](auto const& item) { return item.first == kTicket; });
}

Response repeated_parameter(std::string const& name) {
  std::string details;
  JsonObject object{details};
  object.text("parameter", name);
  object.close();
  return problem(400, "INVALID_REQUEST", "A query parameter is given twice.", details);
}

}  // namespace

Dispatcher::Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator, Tickets* tickets)
    : router_{std::move(router)}, authenticator_{std::move(authenticator)}, tickets_{tickets} {}

std::variant<Route const*, Response> Dispatcher::admit(Request& request) const {
  if (has_token_in_url(request)) return token_in_url();
  auto match = router_.match(request.method, request.path);
  if (std::holds_alternative<Router::BadPath>(match)) {
    return problem(400, "INVALID_REQUEST", "The path is not correctly encoded.");
  }
  if (auto const* wrong = std::get_if<Router::WrongMethod>(&match)) return wrong_method(wrong->allow);
  auto* found = std::get_if<Router::Found>(&match);
  if (found == nullptr) return problem(404, "NOT_FOUND", "There is no such address.");

  if (brings_a_ticket(*found->route, request)) {
    if (request.header("Authorization")) {
      return problem(400, "INVALID_REQUEST", "Send the Authorization header or a ticket, not both.");
    }
  } else if (found->route->access != Access::open) {
    auto user = authenticator_->authenticate(request);
    if (!user) {
      base::log(base::LogLevel::debug, "not authenticated",
                {{"request_id", request.request_id}, {"detail", user.error().detail}});
      return not_authenticated();
    }
    request.user = std::move(*user);
  }
  if (auto const name = request.repeated_query()) return repeated_parameter(*name);
  request.params = std::move(found->params);
  return found->route;
}

asio::awaitable<std::optional<Response>> Dispatcher::redeem(Route const* route, Request* request) const {
  if (!brings_a_ticket(*route, *request)) co_return std::nullopt;
  if (tickets_ == nullptr) co_return invalid_ticket();
  std::string failure;
  try {
    auto holder =
        co_await tickets_->open_stream(*request->query(kTicket), ThreadId{request->param("thread_id")},
                                       RunId{request->query("runId").value_or("")});
    if (!holder && holder.error().code == Errc::not_found) co_return invalid_ticket();
    if (!holder) co_return problem_from(holder.error(), request->request_id);
    take_ticket_out(*request);
    request->user = std::move(holder->owner);
    request->token_expires_at = holder->token_expires_at;
    request->ticket_hash = std::move(holder->ticket_hash);
    co_return std::nullopt;
  } catch (std::exception const& error) {
    failure = error.what();
  }
  co_return problem_from(Error{Errc::internal, std::move(failure)}, request->request_id);
}

asio::awaitable<Reply> Dispatcher::answer(Route const* route, Request request) const {
  if (route->access != Access::open && request.user.empty()) co_return not_authenticated();
  std::string const request_id = request.request_id;
  std::string const ticket_hash = request.ticket_hash;
  std::string failure;
  try {
    Reply reply = co_await route->handler(std::move(request));
    auto* const feed = std::get_if<std::unique_ptr<EventFeed>>(&reply);
    if (feed != nullptr && !ticket_hash.empty()) *feed = tickets_->keep_in_use(ticket_hash, std::move(*feed));
    co_return std::move(reply);
  } catch (std::exception const& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of no known type";
  }
  co_return problem_from(Error{Errc::internal, std::move(failure)}, request_id);
}

}  // namespace runnel::http
