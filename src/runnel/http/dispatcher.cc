#include "runnel/http/dispatcher.h"

#include <exception>
#include <string>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/http/body_check.h"
#include "runnel/http/gate_refusals.h"
#include "runnel/http/problem.h"
#include "runnel/http/tickets.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

constexpr char kTicket[] = "ticket";

bool brings_a_ticket(Route const& route, Request const& request) {
  return route.access == Access::user_or_ticket && request.query(kTicket).has_value();
}

void take_ticket_out(Request& request) {
  std::erase_if(request.query_items, [](auto const& item) { return item.first == kTicket; });
}

// A stream that gives its slot back when it ends.
class CountedFeed final : public HoldingFeed {
 public:
  CountedFeed(std::unique_ptr<EventFeed> feed, UserLimits::StreamSlot slot)
      : HoldingFeed{std::move(feed)}, slot_{std::move(slot)} {}

 private:
  UserLimits::StreamSlot slot_;
};

int status_of(Reply const& reply) {
  auto const* response = std::get_if<Response>(&reply);
  return response != nullptr ? response->status : 200;
}

}  // namespace

Dispatcher::Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator,
                       DispatcherOptions options)
    : router_{std::move(router)},
      json_depth_{options.json_depth},
      authenticator_{std::move(authenticator)},
      cors_{std::move(options.cors)},
      user_limits_{options.user_limits},
      tickets_{options.tickets},
      metrics_{options.metrics} {}

std::variant<Route const*, Response> Dispatcher::admit(Request& request) {
  auto decision = decide(request);
  auto const* refusal = std::get_if<Response>(&decision);
  if (refusal != nullptr && request.route != nullptr) note_status(*request.route, refusal->status);
  return decision;
}

std::variant<Route const*, Response> Dispatcher::decide(Request& request) {
  if (has_token_in_url(request)) return token_in_url();
  auto match = router_.match(request.method, request.path);
  if (std::holds_alternative<Router::BadPath>(match)) {
    return problem(400, "INVALID_REQUEST", "The path is not correctly encoded.");
  }
  if (auto const* wrong = std::get_if<Router::WrongMethod>(&match)) {
    if (Cors::is_preflight(request)) return cors_.answer_preflight(request, wrong->allow);
    return wrong_method(wrong->allow);
  }
  auto* found = std::get_if<Router::Found>(&match);
  if (found == nullptr) return problem(404, "NOT_FOUND", "There is no such address.");

  request.route = found->route;
  request.operation = found->route->operation;
  if (brings_a_ticket(*found->route, request)) {
    if (request.header("Authorization")) {
      return problem(400, "INVALID_REQUEST", "Send the Authorization header or a ticket, not both.");
    }
  } else if (found->route->access != Access::open) {
    if (auto refusal = identify(request)) return std::move(*refusal);
  }
  if (!found->route->takes_body && announces_body(request)) return no_body_taken();
  if (auto const name = request.repeated_query()) return repeated_parameter(*name);
  request.params = std::move(found->params);
  return found->route;
}

// Who it is, and whether he has asked too much already.
std::optional<Response> Dispatcher::identify(Request& request) {
  auto known = authenticator_->authenticate(request);
  if (auto const* nobody = std::get_if<Unidentified>(&known)) {
    base::log(base::LogLevel::debug, "not authenticated",
              {{"request_id", request.request_id}, {"detail", nobody->detail}});
    metrics_.auth_failures.add();
    return not_authenticated(nobody->reason);
  }
  auto& identity = std::get<Identity>(known);
  request.user = std::move(identity.user);
  request.token_expires_at = identity.expires_at;
  return count_request(request);
}

std::optional<Response> Dispatcher::count_request(Request const& request) {
  auto const wait = user_limits_.count_request(request.user, std::chrono::steady_clock::now());
  if (!wait) return std::nullopt;
  metrics_.rate_limited(RateLimit::requests).add();
  return too_many_requests(*wait);
}

asio::awaitable<std::optional<Response>> Dispatcher::redeem(Route const* route, Request* request) {
  if (!brings_a_ticket(*route, *request)) co_return std::nullopt;
  std::optional<Response> refusal;
  std::string failure;
  try {
    refusal = co_await try_ticket(request);
  } catch (std::exception const& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    refusal = problem_from(Error{Errc::internal, std::move(failure)}, request->request_id);
  }
  if (refusal) note_status(*route, refusal->status);
  co_return refusal;
}

asio::awaitable<std::optional<Response>> Dispatcher::try_ticket(Request* request) {
  if (tickets_ == nullptr) co_return invalid_ticket();
  auto const owner = co_await tickets_->owner_of(*request->query(kTicket));
  if (!owner) co_return refuse_ticket(owner.error(), *request);
  request->user = *owner;
  if (auto refusal = count_request(*request)) co_return refusal;

  auto holder =
      co_await tickets_->open_stream(*request->query(kTicket), ThreadId{request->param("thread_id")},
                                     RunId{request->query("runId").value_or("")});
  if (!holder) co_return refuse_ticket(holder.error(), *request);
  take_ticket_out(*request);
  request->user = std::move(holder->owner);
  request->token_expires_at = holder->token_expires_at;
  request->ticket_hash = std::move(holder->ticket_hash);
  co_return std::nullopt;
}

Response Dispatcher::refuse_ticket(Error const& error, Request const& request) const {
  if (error.code != Errc::not_found) return problem_from(error, request.request_id);
  metrics_.auth_failures.add();
  return invalid_ticket();
}

asio::awaitable<Reply> Dispatcher::answer(Route const* route, Request request) {
  std::string const request_id = request.request_id;
  Reply reply;
  std::string failure;
  try {
    reply = co_await call(route, std::move(request));
  } catch (std::exception const& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of no known type";
  }
  if (!failure.empty()) reply = problem_from(Error{Errc::internal, std::move(failure)}, request_id);
  note_status(*route, status_of(reply));
  co_return std::move(reply);
}

asio::awaitable<Reply> Dispatcher::call(Route const* route, Request request) {
  if (route->access != Access::open && request.user.empty()) {
    co_return not_authenticated(Unidentified::Reason::missing);
  }
  if (route->operation != nullptr) {
    auto refusal = take_body(*route->operation, json_depth_, request, route->values);
    if (refusal) co_return std::move(*refusal);
  }
  if (route->answers == Answers::as_streams) {
    Reply reply = co_await call_for_stream(route, std::move(request));
    co_return std::move(reply);
  }
  Reply reply = co_await route->handler(std::move(request));
  count_refusal(reply);
  co_return std::move(reply);
}

// The slot is taken first: a run must not be started for a stream that is refused then.
asio::awaitable<Reply> Dispatcher::call_for_stream(Route const* route, Request request) {
  auto slot = user_limits_.open_stream(request.user, std::chrono::steady_clock::now());
  if (!slot) {
    metrics_.rate_limited(RateLimit::streams).add();
    co_return too_many_streams(user_limits_.options().streams);
  }
  std::string const ticket_hash = request.ticket_hash;
  Reply reply = co_await route->handler(std::move(request));
  if (auto* feed = std::get_if<std::unique_ptr<EventFeed>>(&reply)) {
    if (!ticket_hash.empty()) *feed = tickets_->keep_in_use(ticket_hash, std::move(*feed));
    *feed = std::make_unique<CountedFeed>(std::move(*feed), std::move(*slot));
  }
  count_refusal(reply);
  co_return std::move(reply);
}

// Handlers themselves refuse with 429 for one limit only.
void Dispatcher::count_refusal(Reply const& reply) const {
  if (status_of(reply) == 429) metrics_.rate_limited(RateLimit::runs).add();
}

void Dispatcher::note_status(Route const& route, int status) const {
  if (route.operation == nullptr || route.operation->has_status(status)) return;
  ++undeclared_;
  base::log(
      base::LogLevel::error, "undeclared status",
      {{"method", to_string(route.method)}, {"route", route.pattern}, {"status", std::int64_t{status}}});
}

}  // namespace runnel::http
