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

// The client learns whether to send a token, to get a new one, or to look at how it is made; not more.
Response not_authenticated(Unidentified::Reason reason) {
  using Reason = Unidentified::Reason;
  if (reason == Reason::missing) {
    auto response = problem(401, "UNAUTHORIZED",
                            "A bearer token is needed: send the header Authorization: Bearer <token>.",
                            R"({"reason":"missing"})");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  bool const expired = reason == Reason::expired;
  auto response = problem(401, "UNAUTHORIZED",
                          expired ? "The bearer token has expired." : "The bearer token is not valid here.",
                          expired ? R"({"reason":"expired"})" : R"({"reason":"invalid"})");
  response.headers.emplace_back("WWW-Authenticate", "Bearer error=\"invalid_token\"");
  return response;
}

Response too_many_requests(std::chrono::seconds wait) {
  auto response = problem(429, "TOO_MANY_REQUESTS", "You send requests faster than this server allows.");
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

Response too_many_streams(std::int64_t limit) {
  auto response =
      problem(429, "TOO_MANY_STREAMS", "You have as many event streams open as this server allows.",
              R"({"limit":)" + std::to_string(limit) + "}");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

// A stream that gives its slot back when it ends.
class CountedFeed final : public EventFeed {
 public:
  CountedFeed(std::unique_ptr<EventFeed> feed, UserLimits::StreamSlot slot)
      : feed_{std::move(feed)}, slot_{std::move(slot)} {}

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    return feed_->next(std::move(reader));
  }

 private:
  std::unique_ptr<EventFeed> feed_;
  UserLimits::StreamSlot slot_;
};

Response repeated_parameter(std::string const& name) {
  std::string details;
  JsonObject object{details};
  object.text("parameter", name);
  object.close();
  return problem(400, "INVALID_REQUEST", "A query parameter is given twice.", details);
}

}  // namespace

Dispatcher::Dispatcher(Router router, std::shared_ptr<Authenticator const> authenticator,
                       DispatcherOptions options)
    : router_{std::move(router)},
      authenticator_{std::move(authenticator)},
      cors_{std::move(options.cors)},
      user_limits_{options.user_limits} {}

// Who it is, and whether he has asked too much already.
std::optional<Response> Dispatcher::identify(Request& request) {
  auto known = authenticator_->authenticate(request);
  if (auto const* nobody = std::get_if<Unidentified>(&known)) {
    base::log(base::LogLevel::debug, "not authenticated",
              {{"request_id", request.request_id}, {"detail", nobody->detail}});
    return not_authenticated(nobody->reason);
  }
  auto& identity = std::get<Identity>(known);
  request.user = std::move(identity.user);
  request.token_expires_at = identity.expires_at;
  auto const wait = user_limits_.count_request(request.user, std::chrono::steady_clock::now());
  if (wait) return too_many_requests(*wait);
  return std::nullopt;
}

std::variant<Route const*, Response> Dispatcher::admit(Request& request) {
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

  if (found->route->access == Access::user) {
    if (auto refusal = identify(request)) return std::move(*refusal);
  }
  if (auto const name = request.repeated_query()) return repeated_parameter(*name);
  request.params = std::move(found->params);
  return found->route;
}

// The slot is taken first: a run must not be started for a stream that is refused then.
asio::awaitable<Reply> Dispatcher::answer_stream(Route const* route, Request request) {
  auto slot = user_limits_.open_stream(request.user, std::chrono::steady_clock::now());
  if (!slot) co_return too_many_streams(user_limits_.options().streams);
  Reply reply = co_await route->handler(std::move(request));
  if (auto* feed = std::get_if<std::unique_ptr<EventFeed>>(&reply)) {
    reply = std::make_unique<CountedFeed>(std::move(*feed), std::move(*slot));
  }
  co_return std::move(reply);
}

asio::awaitable<Reply> Dispatcher::answer(Route const* route, Request request) {
  std::string const request_id = request.request_id;
  std::string failure;
  try {
    if (route->answers == Answers::as_streams) {
      Reply reply = co_await answer_stream(route, std::move(request));
      co_return std::move(reply);
    }
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
