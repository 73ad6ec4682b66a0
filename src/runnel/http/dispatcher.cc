#include "runnel/http/dispatcher.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "runnel/api/body_check.h"
#include "runnel/api/problem.h"
#include "runnel/base/log/log.h"
#include "runnel/http/request_refusals.h"
#include "runnel/http/routes/event_feed.h"
#include "runnel/http/web_socket/handshake.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

constexpr char kTicket[] = "ticket";

bool brings_a_ticket(api::Route const& route, api::Request const& request) {
  return route.access == api::Access::user_or_ticket && request.query(kTicket).has_value();
}

// From here on, the request's path is one that may be logged.
void hide_secret(api::Request& request, api::Router::Match const& match) {
  api::Route const* route = nullptr;
  if (auto const* found = std::get_if<api::Router::Found>(&match)) route = found->route;
  if (auto const* wrong = std::get_if<api::Router::WrongMethod>(&match)) route = wrong->fitting;
  if (route != nullptr && route->access == api::Access::path_secret) request.path = route->pattern;
}

void take_ticket_out(api::Request& request) {
  std::erase_if(request.query_items, [](auto const& item) { return item.first == kTicket; });
}

// Empty if the request is for the stream of a whole thread. A route that knows no run ignores the parameter,
// so it must not count here.
RunId run_in(api::Request const& request) {
  bool const has_run = request.operation == nullptr || request.operation->has_query("runId");
  return has_run ? RunId{request.query("runId").value_or("")} : RunId{};
}

// A body up to this size is parsed on its connection's core, which takes at most half a millisecond.
constexpr std::size_t kParsedHere = std::size_t{16} * 1024;
// How many larger bodies of one user may wait to be parsed.
constexpr std::size_t kMostParsing = 64;
// How many bytes a page of a replay takes while it is made.
constexpr std::size_t kReplayBytes = std::size_t{192} * 1024;
// The longest announced body that is charged for: a body that announces more than any may have is refused
// unread.
constexpr std::uint64_t kMostCharged = std::uint64_t{4} * 1024 * 1024;
// An answer up to this size is not held: it costs less than its connection, and the kernel takes it at once.
constexpr std::size_t kSmallAnswer = 4096;

// How long a request waits for its user to read earlier answers, and how often it checks.
constexpr std::chrono::milliseconds kAnswerWait{500};
constexpr std::chrono::milliseconds kPause{25};

// False if there is still no room after that time.
asio::awaitable<bool> wait_for_room(UserLimits::ByteHold* hold, std::size_t bytes,
                                    std::chrono::milliseconds within) {
  if (hold->try_hold(bytes) == UserLimits::Grant::granted) co_return true;
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (auto waited = kPause; waited <= within; waited += kPause) {
    timer.expires_after(kPause);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (hold->try_hold(bytes) == UserLimits::Grant::granted) co_return true;
  }
  co_return false;
}

FeedStep reconnect() {
  return {FeedStep::Kind::reconnect, nullptr};
}

// A stream that gives its slot back when it ends. It holds the bytes that wait for its reader: one page of
// the replay at a time, and the live frames that a slow reader has not taken.
class CountedFeed final : public HoldingFeed {
 public:
  CountedFeed(std::unique_ptr<EventFeed> feed, UserLimits::StreamSlot slot, UserLimits::ByteHold hold,
              std::chrono::milliseconds page_wait, std::shared_ptr<void const> ticket)
      : HoldingFeed{std::move(feed)},
        slot_{std::move(slot)},
        hold_{std::move(hold)},
        page_wait_{page_wait},
        ticket_{std::move(ticket)} {}

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    bool const room = co_await wait_for_room(&hold_, kReplayBytes, page_wait_);
    if (!room) co_return reconnect();
    FeedStep step = co_await HoldingFeed::next(std::move(reader));
    hold_.hold(step.frames != nullptr ? step.frames->bytes.size() : 0);
    co_return step;
  }

  [[nodiscard]] bool hold_backlog(std::size_t bytes) override {
    return hold_.try_hold(bytes) == UserLimits::Grant::granted;
  }

 private:
  UserLimits::StreamSlot slot_;
  UserLimits::ByteHold hold_;
  std::chrono::milliseconds page_wait_;
  std::shared_ptr<void const> ticket_;  // Kept in use while the stream is open; null if no ticket opened it.
};

int status_of(api::Reply const& reply) {
  if (auto const* response = std::get_if<api::Response>(&reply)) return response->status;
  auto const& feed = static_cast<EventFeed const&>(*std::get<std::unique_ptr<api::EventStream>>(reply));
  return feed.web_socket_accept().empty() ? 200 : 101;
}

}  // namespace

Dispatcher::Dispatcher(api::Router router, std::shared_ptr<Authenticator const> authenticator,
                       DispatcherOptions options)
    : router_{std::move(router)},
      json_limits_{options.json},
      authenticator_{std::move(authenticator)},
      cors_{std::move(options.cors)},
      user_limits_{options.user_limits},
      tickets_{options.tickets},
      metrics_{options.metrics},
      page_wait_{options.page_wait},
      parsing_{options.parse_threads, kMostParsing} {}

std::variant<api::Route const*, api::Response> Dispatcher::admit(api::Request& request) {
  auto decision = decide(request);
  auto const* refusal = std::get_if<api::Response>(&decision);
  if (refusal != nullptr && request.route != nullptr) note_status(*request.route, refusal->status);
  return decision;
}

std::variant<api::Route const*, api::Response> Dispatcher::decide(api::Request& request) {
  if (request.path == "*") return server_options();
  if (has_token_in_url(request)) return token_in_url();
  auto match = router_.match(request.method, request.path);
  if (std::holds_alternative<api::Router::BadPath>(match)) {
    return api::problem(400, "INVALID_REQUEST", "The path is not correctly encoded.");
  }
  hide_secret(request, match);
  if (auto const* wrong = std::get_if<api::Router::WrongMethod>(&match)) {
    if (Cors::is_preflight(request)) return cors_.answer_preflight(request, wrong->allow);
    return wrong_method(wrong->allow);
  }
  auto* found = std::get_if<api::Router::Found>(&match);
  if (found == nullptr) return no_such_path();

  request.route = found->route;
  request.operation = found->route->operation;
  if (brings_a_ticket(*found->route, request)) {
    if (request.header("Authorization")) {
      return api::problem(400, "INVALID_REQUEST", "Send the Authorization header or a ticket, not both.");
    }
  } else if (found->route->access != api::Access::open && found->route->access != api::Access::path_secret) {
    if (auto refusal = identify(request)) return std::move(*refusal);
  }
  if (!found->route->takes_body && announced_length(request) > kMostOfNoBody) return no_body_taken();
  if (auto const name = request.repeated_query()) return repeated_parameter(*name);
  // Before a ticket is used up.
  if (found->route->options.answers == api::Answers::as_web_sockets) {
    if (auto refusal = refuse_handshake(request, cors_)) return std::move(*refusal);
  }
  request.params = std::move(found->params);
  return found->route;
}

// Fills in the user. Returns a response if the user is unknown or has sent too many requests.
std::optional<api::Response> Dispatcher::identify(api::Request& request) {
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

std::optional<api::Response> Dispatcher::count_request(api::Request const& request) {
  auto const wait =
      user_limits_.count_request(request.user, std::chrono::steady_clock::now(),
                                 cost_of_body(std::min(announced_length(request), kMostCharged)));
  if (!wait) return std::nullopt;
  metrics_.rate_limited(RateLimit::requests).add();
  return too_many_requests(*wait);
}

asio::awaitable<std::optional<api::Response>> Dispatcher::redeem(api::Route const* route,
                                                                 api::Request* request) {
  bool const has_secret = route->access == api::Access::path_secret;
  if (!has_secret && !brings_a_ticket(*route, *request)) co_return std::nullopt;
  std::optional<api::Response> refusal;
  std::string failure;
  try {
    if (has_secret) {
      refusal = co_await try_path_secret(route, request);
    } else {
      refusal = co_await try_ticket(request);
    }
  } catch (std::exception const& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    refusal = api::problem_from(Error{Errc::internal, std::move(failure)}, request->request_id);
  }
  if (refusal) note_status(*route, refusal->status);
  co_return refusal;
}

asio::awaitable<std::optional<api::Response>> Dispatcher::try_path_secret(api::Route const* route,
                                                                          api::Request* request) {
  auto owner = co_await route->options.owner_of(request->params);
  if (owner) {
    request->user = std::move(*owner);
    co_return count_request(*request);
  }
  if (owner.error().code != Errc::not_found) co_return api::problem_from(owner.error(), request->request_id);
  metrics_.auth_failures.add();
  co_return no_such_path();
}

asio::awaitable<std::optional<api::Response>> Dispatcher::try_ticket(api::Request* request) {
  if (tickets_ == nullptr) co_return invalid_ticket();
  auto const owner = co_await tickets_->owner_of(*request->query(kTicket));
  if (!owner) co_return refuse_ticket(owner.error(), *request);
  request->user = *owner;
  if (auto refusal = count_request(*request)) co_return refusal;

  auto holder = co_await open_by_ticket(request);
  if (!holder) co_return refuse_ticket(holder.error(), *request);
  take_ticket_out(*request);
  request->user = std::move(holder->owner);
  request->token_expires_at = holder->token_expires_at;
  request->ticket_hash = std::move(holder->ticket_hash);
  co_return std::nullopt;
}

asio::awaitable<Result<api::TicketHolder>> Dispatcher::open_by_ticket(api::Request const* request) {
  auto const ticket = *request->query(kTicket);
  if (request->route->options.answers == api::Answers::as_web_sockets)
    co_return co_await tickets_->open_web_socket(ticket);
  co_return co_await tickets_->open_stream(ticket, ThreadId{request->param("thread_id")}, run_in(*request));
}

api::Response Dispatcher::refuse_ticket(Error const& error, api::Request const& request) const {
  if (error.code != Errc::not_found) return api::problem_from(error, request.request_id);
  metrics_.auth_failures.add();
  return invalid_ticket();
}

BodyRoom Dispatcher::room_for_body(api::Route const& route, UserId const& user, Limits const& limits) {
  return {route, user, limits, user_limits_, metrics_};
}

asio::awaitable<api::Reply> Dispatcher::answer(api::Route const* route, api::Request request) {
  std::string const request_id = request.request_id;
  api::Reply reply;
  std::string failure;
  try {
    reply = co_await call(route, std::move(request));
  } catch (std::exception const& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of unknown type";
  }
  if (!failure.empty()) reply = api::problem_from(Error{Errc::internal, std::move(failure)}, request_id);
  note_status(*route, status_of(reply));
  co_return std::move(reply);
}

asio::awaitable<api::Reply> Dispatcher::call(api::Route const* route, api::Request request) {
  if (route->access != api::Access::open && request.user.empty()) {
    co_return not_authenticated(Unidentified::Reason::missing);
  }
  if (!route->takes_body && !api::stands_for_none(request.body)) co_return no_body_taken();
  if (route->operation != nullptr && route->takes_body) {
    auto refusal = co_await check_body(route, &request);
    if (refusal) co_return std::move(*refusal);
  }
  bool const streams = route->options.answers != api::Answers::whole;
  api::Reply reply;
  if (streams) {
    reply = co_await call_for_stream(route, std::move(request));
  } else if (route->access == api::Access::open) {
    reply = co_await route->handler(std::move(request));
  } else {
    reply = co_await call_for_answer(route, std::move(request));
  }
  co_return std::move(reply);
}

// A large body is parsed and checked in the pool: nobody on this core waits for it, and other users wait for
// at most one body of this user.
asio::awaitable<std::optional<api::Response>> Dispatcher::check_body(api::Route const* route,
                                                                     api::Request* request) {
  auto const take = [this, route, request]() -> Result<std::optional<api::Response>> {
    return api::take_body(*route->operation, json_limits_, *request, route->options.values);
  };
  if (request->body.size() <= kParsedHere) co_return *take();
  auto checked = co_await parsing_.run<std::optional<api::Response>>(request->user.text, take);
  if (checked) co_return std::move(*checked);
  if (checked.error().code != Errc::unavailable)
    co_return api::problem_from(checked.error(), request->request_id);
  metrics_.rate_limited(RateLimit::requests).add();
  co_return too_many_requests(std::chrono::seconds{1});
}

// The bytes are held before the answer is made, so that answers that many requests make at the same time are
// bounded, too.
asio::awaitable<api::Reply> Dispatcher::call_for_answer(api::Route const* route, api::Request request) {
  auto hold =
      user_limits_.hold_bytes(request.user, UserLimits::Budget::answers, std::chrono::steady_clock::now());
  bool const room = co_await wait_for_room(&hold, route->options.answer_bytes, kAnswerWait);
  if (!room) co_return refuse_answer();
  request.reserve_answer = [&hold](std::size_t bytes) {
    return hold.try_hold(bytes) == UserLimits::Grant::granted;
  };
  api::Reply reply = co_await route->handler(std::move(request));
  count_refusal(reply);
  auto* response = std::get_if<api::Response>(&reply);
  if (response != nullptr && response->body.size() > kSmallAnswer) {
    hold.hold(response->body.size());
    response->until_sent = std::make_shared<UserLimits::ByteHold>(std::move(hold));
  }
  co_return std::move(reply);
}

api::Response Dispatcher::refuse_answer() const {
  metrics_.rate_limited(RateLimit::answer_bytes).add();
  return too_many_answer_bytes(user_limits_.options().answer_bytes);
}

// The slot is taken first, so that no run is started for a stream that is then refused.
asio::awaitable<api::Reply> Dispatcher::call_for_stream(api::Route const* route, api::Request request) {
  auto const now = std::chrono::steady_clock::now();
  auto slot = user_limits_.open_stream(request.user, now);
  if (!slot) {
    metrics_.rate_limited(RateLimit::streams).add();
    co_return too_many_streams(user_limits_.options().streams);
  }
  auto hold = user_limits_.hold_bytes(request.user, UserLimits::Budget::answers, now);
  std::string const ticket_hash = request.ticket_hash;
  api::Reply reply = co_await route->handler(std::move(request));
  if (auto* stream = std::get_if<std::unique_ptr<api::EventStream>>(&reply)) {
    *stream = std::make_unique<CountedFeed>(
        take_feed(std::move(*stream)), std::move(*slot), std::move(hold), page_wait_,
        ticket_hash.empty() ? nullptr : tickets_->keep_in_use(ticket_hash));
  }
  count_refusal(reply);
  co_return std::move(reply);
}

// Handlers also answer 429 themselves: for too many runs, for answers that turn out too large, and for too
// many reports, which count as requests.
void Dispatcher::count_refusal(api::Reply const& reply) const {
  if (status_of(reply) != 429) return;
  auto const& body = std::get<api::Response>(reply).body;
  auto const names = [&body](char const* code) { return body.find(code) != std::string::npos; };
  metrics_
      .rate_limited(names("TOO_MANY_RUNS")           ? RateLimit::runs
                    : names("TOO_MANY_ANSWER_BYTES") ? RateLimit::answer_bytes
                                                     : RateLimit::requests)
      .add();
}

void Dispatcher::note_status(api::Route const& route, int status) const {
  if (route.operation == nullptr || route.operation->has_status(status)) return;
  ++undeclared_;
  base::log(
      base::LogLevel::error, "undeclared status",
      {{"method", to_string(route.method)}, {"route", route.pattern}, {"status", std::int64_t{status}}});
}

}  // namespace runnel::http
