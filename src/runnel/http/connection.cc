#include "runnel/http/connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "runnel/base/log.h"
#include "runnel/http/problem.h"
#include "runnel/http/refusals.h"
#include "runnel/http/request_parser.h"
#include "runnel/http/response_head.h"
#include "runnel/http/sse_session.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// What the read buffer may hold beside a head.
constexpr std::size_t kReadAhead = sizeof(Lobby::Scratch);
// What a log line tells of a path.
constexpr std::size_t kLoggedPath = 512;
// What is still read, and thrown away, of a request that was refused before its end.
constexpr std::size_t kMaxDiscarded = std::size_t{16} * 1024 * 1024;

// Health checks and scrapes come every few seconds and would drown the rest.
bool is_logged(std::string_view path, int status) {
  return status >= 500 || (path != "/healthz" && path != "/readyz" && path != "/metrics");
}

// The run that a request names, in the way of the routes under /agent/runs.
RunNames run_named_by(Request const& request) {
  RunNames out;
  for (auto const& [name, value] : request.query_items) {
    if (name == "runId" && is_usable_id(value)) out.run = RunId{value};
  }
  for (auto const& [name, value] : request.params) {
    if (name == "thread_id" && is_usable_id(value)) out.thread = ThreadId{value};
  }
  return out;
}

class Connection final : public Member {
 public:
  Connection(Caller caller, Lobby& lobby, Dispatcher& dispatcher)
      : socket_{std::move(caller.socket)},
        place_{std::move(caller.place)},
        lobby_{lobby},
        roster_{lobby.roster()},
        dispatcher_{dispatcher},
        buffer_{roster_.limits().header_bytes + kReadAhead} {
    buffer_.commit(asio::buffer_copy(buffer_.prepare(caller.bytes.size()), asio::buffer(caller.bytes)));
    roster_.enter(*this);
  }
  Connection(Connection const&) = delete;
  Connection& operator=(Connection const&) = delete;
  ~Connection() { roster_.leave(*this); }

  asio::awaitable<void> run(std::optional<Response> refusal);

  void on_tick() override;
  void end_stream() override {}  // The replay sees for itself that the roster drains.
  void stop() override;

 private:
  // What a request's log line tells beside its answer.
  struct Account {
    Exchange exchange;
    Method method = Method::other;
    std::string path;
    std::string user;
    std::int64_t token_expires_at = 0;
    RunNames run;
    Route const* route = nullptr;
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  };

  asio::awaitable<bool> serve_request();
  asio::awaitable<bool> turn_down(Response refusal);
  void await_next_request();
  asio::awaitable<bool> read_body(RequestParser* parser, Account* account, Route const* route);
  asio::awaitable<error_code> read_to_end(RequestParser* parser);
  asio::awaitable<error_code> read_some();
  asio::awaitable<bool> refuse(Account* account, std::optional<Response> response);
  asio::awaitable<bool> respond(Account* account, Response response);
  asio::awaitable<void> stream(Account* account, std::unique_ptr<EventFeed> feed);
  asio::awaitable<std::optional<StreamEnd>> replay(EventFeed* feed, std::shared_ptr<SseSession> session,
                                                   Framing framing);
  [[nodiscard]] StreamEnd cut_by() const;
  asio::awaitable<bool> send(std::string_view head, std::string_view body, std::string_view tail);
  void abandon();
  asio::awaitable<void> discard_input();
  std::optional<Response> unreadable(error_code const& ec) const;
  void arm(std::chrono::milliseconds duration);
  void disarm() { armed_ = false; }
  void answered(Account* account, int status, RunNames const& run) const;

  Socket socket_;
  Place place_;
  Lobby& lobby_;
  Roster& roster_;
  Dispatcher& dispatcher_;
  boost::beast::flat_buffer buffer_;
  std::chrono::milliseconds allowed_{0};
  std::uint32_t armed_at_ = 0;
  bool armed_ = false;
  bool expired_ = false;
  bool reading_ = false;
  bool input_left_ = false;  // A refused request was not read to its end.
};

// Deadlines are the roster's: no timer per operation. An expired one cancels what the socket waits for, at
// every tick until the operation is over: one that consists of several steps does not notice a cancel between
// two of them.
void Connection::arm(std::chrono::milliseconds duration) {
  if (roster_.stopping()) duration = std::min(duration, roster_.limits().stop_grace);
  allowed_ = duration + roster_.limits().tick;  // now() may be a tick old.
  armed_at_ = roster_.now();
  armed_ = true;
  expired_ = false;
}

void Connection::on_tick() {
  if (!armed_ || !roster_.passed(allowed_, armed_at_)) return;
  expired_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::stop() {
  // For a read that waits, and for those of its steps that are still to come, the client's input ends here.
  error_code ignored;
  if (reading_) socket_.shutdown(asio::socket_base::shutdown_receive, ignored);
  if (armed_) arm(allowed_);
}

asio::awaitable<void> Connection::run(std::optional<Response> refusal) {
  bool more = false;
  if (refusal) {
    more = co_await turn_down(std::move(*refusal));
  } else if (!roster_.stopping()) {
    more = co_await serve_request();
  }
  if (!socket_.is_open()) co_return;  // An SseSession has it, or it was abandoned.
  if (more && !roster_.stopping()) {
    await_next_request();
    co_return;
  }
  error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  if (input_left_) co_await discard_input();
  socket_.close(ignored);
}

void Connection::await_next_request() {
  auto const rest = buffer_.cdata();
  lobby_.seat(Caller{std::move(socket_), std::move(place_),
                     std::string{static_cast<char const*>(rest.data()), rest.size()}});
}

asio::awaitable<bool> Connection::turn_down(Response refusal) {
  Account account;
  account.exchange.request_id = mint_uuid();
  bool const again = co_await refuse(&account, std::move(refusal));
  co_return again;
}

// True: the connection may carry another request.
asio::awaitable<bool> Connection::serve_request() {
  Account account;
  RequestParser parser{roster_.limits()};
  auto const ec = parser.put_head(buffer_);
  base::Raised const in_flight{roster_.metrics().requests_in_flight};
  auto request = parser.request();
  account.exchange.request_id = request.request_id;
  account.method = request.method;
  if (ec) {
    bool const again = co_await refuse(&account, unreadable(ec));
    co_return again;
  }
  account.exchange.http_1_1 = parser.is_http_1_1();
  account.exchange.keep_alive = parser.keeps_alive();
  account.exchange.head_only = request.method == Method::head;

  account.exchange.more_headers = dispatcher_.headers_for(request);

  auto malformed = refuse_head(request, account.exchange.http_1_1, parser.target());
  account.path = request.path;
  if (malformed) {
    bool const again = co_await refuse(&account, std::move(*malformed));
    co_return again;
  }
  auto admitted = dispatcher_.admit(request);
  if (auto const* route = std::get_if<Route const*>(&admitted)) {
    auto refusal = co_await dispatcher_.redeem(*route, &request);
    if (refusal) admitted = std::move(*refusal);
  }
  account.user = request.user.text;
  account.token_expires_at = request.token_expires_at;
  account.run = run_named_by(request);
  account.route = request.route;
  if (auto* refusal = std::get_if<Response>(&admitted)) {
    if (!parser.is_done()) {
      bool const again = co_await refuse(&account, std::move(*refusal));
      co_return again;
    }
    bool const again = co_await respond(&account, std::move(*refusal));
    co_return again;
  }

  auto const* route = std::get<Route const*>(admitted);
  bool const whole = co_await read_body(&parser, &account, route);
  if (!whole) co_return false;
  request.body = parser.take_body();
  Reply reply = co_await dispatcher_.answer(route, std::move(request));
  if (auto* response = std::get_if<Response>(&reply)) {
    bool const again = co_await respond(&account, std::move(*response));
    co_return again;
  }
  co_await stream(&account, std::move(std::get<std::unique_ptr<EventFeed>>(reply)));
  co_return false;
}

// False: it could not be read, and that has been answered where someone waits for it.
asio::awaitable<bool> Connection::read_body(RequestParser* parser, Account* account, Route const* route) {
  if (parser->is_done()) co_return true;
  if (parser->expects_continue()) {
    bool const sent = co_await send("HTTP/1.1 100 Continue\r\n\r\n", {}, {});
    if (!sent) co_return false;
  }
  if (roster_.stopping()) co_return false;
  arm(roster_.limits().body_deadline);
  reading_ = true;
  auto const ec = co_await read_to_end(parser);
  reading_ = false;
  disarm();
  if (!ec) co_return true;
  auto refusal = unreadable(ec);
  if (refusal) dispatcher_.note_status(*route, refusal->status);
  co_await refuse(account, std::move(refusal));
  co_return false;
}

asio::awaitable<error_code> Connection::read_to_end(RequestParser* parser) {
  for (;;) {
    auto ec = parser->put_body(buffer_);
    if (ec || parser->is_done()) co_return ec;
    ec = co_await read_some();
    if (ec) co_return ec;
  }
}

asio::awaitable<error_code> Connection::read_some() {
  auto const room = std::min(kReadAhead, buffer_.max_size() - buffer_.size());
  auto const [ec, got] = co_await socket_.async_read_some(buffer_.prepare(room), kAwait);
  buffer_.commit(got);
  if (!ec && expired_) co_return asio::error::operation_aborted;
  if (ec == asio::error::eof) co_return beast_http::error::partial_message;
  co_return ec;
}

std::optional<Response> Connection::unreadable(error_code const& ec) const {
  if (ec == asio::error::operation_aborted) {
    if (!expired_) return std::nullopt;
    return refuse_late();
  }
  return refuse_unreadable(ec, roster_.limits());
}

// Answers a request that was not read to its end, which ends the connection.
asio::awaitable<bool> Connection::refuse(Account* account, std::optional<Response> response) {
  if (!response) co_return false;
  account->exchange.keep_alive = false;
  input_left_ = true;
  co_await respond(account, std::move(*response));
  co_return false;
}

// True: the connection may carry another request.
asio::awaitable<bool> Connection::respond(Account* account, Response response) {
  Exchange exchange = account->exchange;
  if (roster_.stopping()) exchange.keep_alive = false;
  answered(account, response.status, response.run);
  auto const head = response_head(response, exchange);
  std::string_view const body = exchange.head_only ? std::string_view{} : response.content();
  bool const sent = co_await send(head, body, {});
  co_return sent&& exchange.keep_alive;
}

asio::awaitable<void> Connection::stream(Account* account, std::unique_ptr<EventFeed> feed) {
  answered(account, 200, feed->run());
  error_code ignored;
  socket_.set_option(asio::socket_base::send_buffer_size(roster_.limits().send_buffer_bytes), ignored);
  auto const head = stream_head(account->exchange);
  bool const sent = co_await send(head, {}, {});
  if (!sent || account->exchange.head_only) co_return;

  Framing const framing = account->exchange.http_1_1 ? Framing::chunked : Framing::plain;
  auto session = std::make_shared<SseSession>(roster_, framing, account->exchange.request_id);
  if (account->token_expires_at != 0) session->end_at(account->token_expires_at);
  roster_.metrics().stream_opened(feed->dialect());
  std::optional<StreamEnd> end = StreamEnd::failed;
  std::string failure;
  try {
    end = co_await replay(feed.get(), session, framing);
  } catch (std::exception const& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    base::log(base::LogLevel::error, "stream failed",
              {{"request_id", account->exchange.request_id},
               {"run_id", account->run.run.text},
               {"thread_id", account->run.thread.text},
               {"detail", failure}});
  }
  if (end) {
    roster_.metrics().stream_closed(*end);
  } else {
    session->start(std::move(socket_), std::move(place_), std::move(feed));
  }
}

// What a failed write means.
StreamEnd Connection::cut_by() const {
  if (roster_.stopping()) return StreamEnd::shutdown;
  return expired_ ? StreamEnd::slow : StreamEnd::gone;
}

// Sends what comes before the live frames. None: the session goes on with the socket. Leaving without the
// last chunk is what tells a client that the stream was cut.
asio::awaitable<std::optional<StreamEnd>> Connection::replay(EventFeed* feed,
                                                             std::shared_ptr<SseSession> session,
                                                             Framing framing) {
  while (!roster_.draining()) {
    if (session->has_expired()) co_return StreamEnd::expired;
    FeedStep const step = co_await feed->next(session);
    if (step.kind == FeedStep::Kind::live) co_return std::nullopt;
    if (step.kind == FeedStep::Kind::reconnect) co_return StreamEnd::reconnect;
    if (step.kind == FeedStep::Kind::ended) {
      if (framing == Framing::chunked) co_await send("0\r\n\r\n", {}, {});
      co_return StreamEnd::ended;
    }
    if (step.frames == nullptr || step.frames->empty()) continue;
    std::array<char, 18> size{};
    auto* const end = std::to_chars(size.begin(), size.end() - 2, step.frames->size(), 16).ptr;
    end[0] = '\r';
    end[1] = '\n';
    bool const chunked = framing == Framing::chunked;
    std::string_view const head{size.data(), chunked ? static_cast<std::size_t>(end + 2 - size.begin()) : 0};
    bool const sent = co_await send(head, *step.frames, std::string_view{"\r\n", chunked ? 2U : 0U});
    if (!sent) co_return cut_by();
    roster_.metrics().stream_bytes.add(static_cast<std::int64_t>(step.frames->size()));
  }
  co_return roster_.stopping() ? StreamEnd::shutdown : StreamEnd::reconnect;
}

// Each piece that the kernel takes renews the deadline, so that a large answer may take long, but not stand
// still; nor may it come to a crawl, for which the whole has a deadline too.
asio::awaitable<bool> Connection::send(std::string_view head, std::string_view body, std::string_view tail) {
  std::array<asio::const_buffer, 3> parts{asio::buffer(head), asio::buffer(body), asio::buffer(tail)};
  std::size_t left = head.size() + body.size() + tail.size();
  auto const begun = roster_.now();
  auto const deadline = roster_.limits().answer_deadline(left);
  while (left > 0) {
    arm(roster_.limits().write_timeout);
    auto const [ec, written] = co_await socket_.async_write_some(parts, kAwait);
    disarm();
    bool const late = written < left && roster_.passed(deadline, begun);
    if (expired_ || late) abandon();
    if (ec || !socket_.is_open()) co_return false;
    left -= written;
    std::size_t skip = written;
    for (auto& part : parts) {
      auto const skipped = std::min(skip, part.size());
      part += skipped;
      skip -= skipped;
    }
  }
  co_return true;
}

// What the kernel holds for a reader that does not read goes, too.
void Connection::abandon() {
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

// Closing with input unread makes the kernel send a reset, which may destroy the answer on its way. But
// whoever sends nonsense on all connections must not keep them.
asio::awaitable<void> Connection::discard_input() {
  if (place_.is_wanted_by_others()) co_return;
  std::size_t total = 0;
  arm(roster_.limits().stop_grace);
  while (total < kMaxDiscarded) {
    auto const [ec, got] = co_await socket_.async_read_some(asio::buffer(lobby_.scratch()), kAwait);
    if (ec || expired_) break;
    total += got;
  }
  disarm();
}

// Counts and logs the answer before it is sent. `run`: the one it is about, where it knows better than the
// request.
void Connection::answered(Account* account, int status, RunNames const& run) const {
  if (!run.run.empty()) account->run = run;
  auto const took = std::chrono::steady_clock::now() - account->begun;
  auto const& metrics = account->route != nullptr ? account->route->metrics : roster_.metrics().no_route;
  metrics.answered(status, took);

  if (!is_logged(account->path, status)) return;
  base::log(base::LogLevel::info, "request",
            {{"request_id", account->exchange.request_id},
             {"method", to_string(account->method)},
             {"path", std::string_view{account->path}.substr(0, kLoggedPath)},
             {"status", std::int64_t{status}},
             {"ms", std::int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(took).count()}},
             {"user", account->user},
             {"run_id", account->run.run.text},
             {"thread_id", account->run.thread.text}});
}

}  // namespace

asio::awaitable<void> serve_connection(Caller caller, std::optional<Response> refusal, Lobby* lobby,
                                       Dispatcher* dispatcher) {
  Connection connection{std::move(caller), *lobby, *dispatcher};
  co_await connection.run(std::move(refusal));
}

}  // namespace runnel::http
