#include "runnel/http/connection.h"

#include <boost/asio/buffer.hpp>
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
#include "runnel/http/refusals.h"
#include "runnel/http/request_account.h"
#include "runnel/http/request_parser.h"
#include "runnel/http/response_head.h"
#include "runnel/http/sse_session.h"
#include "runnel/http/timed_socket.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;

// What the read buffer may hold beside a head.
constexpr std::size_t kReadAhead = sizeof(Lobby::Scratch);

class Connection {
 public:
  Connection(Caller caller, Lobby& lobby, Dispatcher& dispatcher)
      : lobby_{lobby},
        roster_{lobby.roster()},
        dispatcher_{dispatcher},
        socket_{std::move(caller.socket), roster_},
        place_{std::move(caller.place)},
        buffer_{roster_.limits().header_bytes + kReadAhead} {
    buffer_.commit(asio::buffer_copy(buffer_.prepare(caller.bytes.size()), asio::buffer(caller.bytes)));
  }

  asio::awaitable<void> run(std::optional<Response> refusal);

 private:
  asio::awaitable<bool> serve_request();
  asio::awaitable<bool> serve_route(RequestAccount* account, RequestParser* parser, Request request);
  asio::awaitable<bool> turn_down(Response refusal);
  void await_next_request();
  asio::awaitable<std::optional<Response>> read_body(RequestParser* parser, BodyRoom* room);
  asio::awaitable<std::optional<Response>> read_to_end(RequestParser* parser, BodyRoom* room);
  asio::awaitable<error_code> read_some();
  asio::awaitable<bool> refuse(RequestAccount* account, std::optional<Response> response);
  asio::awaitable<bool> respond(RequestAccount* account, Response response);
  asio::awaitable<void> stream(RequestAccount* account, std::unique_ptr<EventFeed> feed);
  asio::awaitable<std::optional<StreamEnd>> replay(EventFeed* feed, std::shared_ptr<SseSession> session,
                                                   Framing framing);
  [[nodiscard]] StreamEnd cut_by() const;
  std::optional<Response> unreadable(error_code const& ec) const;
  void limit_send_buffer();

  Lobby& lobby_;
  Roster& roster_;
  Dispatcher& dispatcher_;
  TimedSocket socket_;
  Place place_;
  boost::beast::flat_buffer buffer_;
  bool input_left_ = false;  // A refused request was not read to its end.
};

asio::awaitable<void> Connection::run(std::optional<Response> refusal) {
  bool more = false;
  if (refusal) {
    more = co_await turn_down(std::move(*refusal));
  } else if (!roster_.stopping()) {
    more = co_await serve_request();
  }
  if (!socket_.get().is_open()) co_return;  // An SseSession has it, or it was abandoned.
  if (more && !roster_.stopping()) {
    await_next_request();
    co_return;
  }
  error_code ignored;
  socket_.get().shutdown(asio::socket_base::shutdown_send, ignored);
  // Closing with input unread makes the kernel send a reset, which may destroy the answer on its way. But
  // whoever sends nonsense on all connections must not keep them.
  bool const waits = input_left_ && !place_.is_wanted_by_others();
  if (waits) co_await socket_.discard_input(asio::buffer(lobby_.scratch()));
  socket_.get().close(ignored);
}

void Connection::await_next_request() {
  auto const rest = buffer_.cdata();
  lobby_.seat(Caller{std::move(socket_.get()), std::move(place_),
                     std::string{static_cast<char const*>(rest.data()), rest.size()}});
}

asio::awaitable<bool> Connection::turn_down(Response refusal) {
  RequestAccount account;
  account.exchange.request_id = mint_uuid();
  bool const again = co_await refuse(&account, std::move(refusal));
  co_return again;
}

// True: the connection may carry another request.
asio::awaitable<bool> Connection::serve_request() {
  RequestAccount account;
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
  account.identify(request);
  if (auto* refusal = std::get_if<Response>(&admitted)) {
    if (!parser.is_done()) {
      bool const again = co_await refuse(&account, std::move(*refusal));
      co_return again;
    }
    bool const again = co_await respond(&account, std::move(*refusal));
    co_return again;
  }

  bool const again = co_await serve_route(&account, &parser, std::move(request));
  co_return again;
}

// The request is admitted to its route, and its body is still to come.
asio::awaitable<bool> Connection::serve_route(RequestAccount* account, RequestParser* parser,
                                              Request request) {
  auto const* route = request.route;
  // Held until the handler has answered: what it makes of the body is about as large.
  std::optional<BodyRoom> room;
  if (!parser->is_done()) {
    room.emplace(dispatcher_.room_for_body(*route, request.user, roster_.limits()));
    auto refusal = co_await read_body(parser, &*room);
    if (refusal) dispatcher_.note_status(*route, refusal->status);
    if (refusal || !parser->is_done()) {
      bool const again = co_await refuse(account, std::move(refusal));
      co_return again;
    }
  }
  request.body = parser->take_body();
  Reply reply = co_await dispatcher_.answer(route, std::move(request));
  room.reset();
  if (auto* response = std::get_if<Response>(&reply)) {
    bool const again = co_await respond(account, std::move(*response));
    co_return again;
  }
  co_await stream(account, std::move(std::get<std::unique_ptr<EventFeed>>(reply)));
  co_return false;
}

// The refusal of a body that may not come or cannot be read; none where nobody waits for one, and where the
// parser is done.
asio::awaitable<std::optional<Response>> Connection::read_body(RequestParser* parser, BodyRoom* room) {
  auto refusal = room->announce(parser->announced_length());
  if (refusal) co_return refusal;
  parser->limit_body(room->limit());
  if (parser->expects_continue()) {
    bool const sent = co_await socket_.send("HTTP/1.1 100 Continue\r\n\r\n", {}, {});
    if (!sent) co_return std::nullopt;
  }
  if (roster_.stopping()) co_return std::nullopt;
  // Anyone may send an empty body where none is taken, and must not hold a connection with it.
  auto const& limits = roster_.limits();
  socket_.begin_reading(room->is_for_none() ? std::min(limits.body_deadline, limits.stop_grace)
                                            : limits.body_deadline);
  refusal = co_await read_to_end(parser, room);
  socket_.end_reading();
  co_return refusal;
}

asio::awaitable<std::optional<Response>> Connection::read_to_end(RequestParser* parser, BodyRoom* room) {
  for (;;) {
    auto ec = parser->put_body(buffer_);
    if (ec == beast_http::error::body_limit) co_return room->too_large();
    if (ec) co_return unreadable(ec);
    if (parser->is_done()) co_return std::nullopt;
    if (auto refusal = room->grow(parser->body_size())) co_return refusal;
    if (room->is_for_none() && place_.is_wanted_by_others()) co_return room->too_large();
    ec = co_await read_some();
    if (ec) co_return unreadable(ec);
  }
}

asio::awaitable<error_code> Connection::read_some() {
  auto const room = std::min(kReadAhead, buffer_.max_size() - buffer_.size());
  std::size_t got = 0;
  auto const ec = co_await socket_.read_some(buffer_.prepare(room), &got);
  buffer_.commit(got);
  if (ec == asio::error::eof) co_return beast_http::error::partial_message;
  co_return ec;
}

std::optional<Response> Connection::unreadable(error_code const& ec) const {
  if (ec == asio::error::operation_aborted) {
    if (!socket_.expired()) return std::nullopt;
    return refuse_late();
  }
  return refuse_unreadable(ec, roster_.limits());
}

// Answers a request that was not read to its end, which ends the connection.
asio::awaitable<bool> Connection::refuse(RequestAccount* account, std::optional<Response> response) {
  if (!response) co_return false;
  account->exchange.keep_alive = false;
  input_left_ = true;
  co_await respond(account, std::move(*response));
  co_return false;
}

// True: the connection may carry another request.
asio::awaitable<bool> Connection::respond(RequestAccount* account, Response response) {
  Exchange exchange = account->exchange;
  if (roster_.stopping()) exchange.keep_alive = false;
  account->answered(response.status, response.run, roster_.metrics());
  auto const head = response_head(response, exchange);
  std::string_view const body = exchange.head_only ? std::string_view{} : response.content();
  if (body.size() > static_cast<std::size_t>(roster_.limits().send_buffer_bytes)) limit_send_buffer();
  bool const sent = co_await socket_.send(head, body, {});
  co_return sent&& exchange.keep_alive;
}

// What a slow reader may park in the kernel, which would take megabytes.
void Connection::limit_send_buffer() {
  error_code ignored;
  socket_.get().set_option(asio::socket_base::send_buffer_size(roster_.limits().send_buffer_bytes), ignored);
}

asio::awaitable<void> Connection::stream(RequestAccount* account, std::unique_ptr<EventFeed> feed) {
  account->answered(200, feed->run(), roster_.metrics());
  limit_send_buffer();
  auto const head = stream_head(account->exchange);
  bool const sent = co_await socket_.send(head, {}, {});
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
    session->start(std::move(socket_.get()), std::move(place_), std::move(feed));
  }
}

// What a failed write means.
StreamEnd Connection::cut_by() const {
  if (roster_.stopping()) return StreamEnd::shutdown;
  return socket_.expired() ? StreamEnd::slow : StreamEnd::gone;
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
      if (framing == Framing::chunked) co_await socket_.send("0\r\n\r\n", {}, {});
      co_return StreamEnd::ended;
    }
    if (step.frames == nullptr || step.frames->empty()) continue;
    std::array<char, 18> size{};
    auto* const end = std::to_chars(size.begin(), size.end() - 2, step.frames->size(), 16).ptr;
    end[0] = '\r';
    end[1] = '\n';
    bool const chunked = framing == Framing::chunked;
    std::string_view const head{size.data(), chunked ? static_cast<std::size_t>(end + 2 - size.begin()) : 0};
    bool const sent = co_await socket_.send(head, *step.frames, std::string_view{"\r\n", chunked ? 2U : 0U});
    if (!sent) co_return cut_by();
    roster_.metrics().stream_bytes.add(static_cast<std::int64_t>(step.frames->size()));
  }
  co_return roster_.stopping() ? StreamEnd::shutdown : StreamEnd::reconnect;
}

}  // namespace

asio::awaitable<void> serve_connection(Caller caller, std::optional<Response> refusal, Lobby* lobby,
                                       Dispatcher* dispatcher) {
  Connection connection{std::move(caller), *lobby, *dispatcher};
  co_await connection.run(std::move(refusal));
}

}  // namespace runnel::http
