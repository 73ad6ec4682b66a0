#include "runnel/http/connection/connection.h"

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

#include "runnel/base/log/log.h"
#include "runnel/core/text/text.h"
#include "runnel/http/connection/refusals.h"
#include "runnel/http/connection/request_parser.h"
#include "runnel/http/connection/response_head.h"
#include "runnel/http/connection/stream/stream_session.h"
#include "runnel/http/connection/timed_socket.h"
#include "runnel/http/request_account.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;

// What the read buffer may hold besides a head.
constexpr std::size_t kReadAhead = sizeof(WaitingList::Scratch);

// Whether the socket can still take a frame that says why the stream ends.
bool says_why(StreamEnd end) {
  return end == StreamEnd::ended || end == StreamEnd::reconnect || end == StreamEnd::expired ||
         end == StreamEnd::shutdown;
}

class Connection {
 public:
  Connection(OpenConnection connection, WaitingList& waiting, Dispatcher& dispatcher)
      : waiting_{waiting},
        sessions_{waiting.sessions()},
        dispatcher_{dispatcher},
        socket_{std::move(connection.socket), sessions_},
        entry_{std::move(connection.entry)},
        buffer_{sessions_.limits().header_bytes + kReadAhead} {
    buffer_.commit(
        asio::buffer_copy(buffer_.prepare(connection.bytes.size()), asio::buffer(connection.bytes)));
  }

  asio::awaitable<void> run(std::optional<api::Response> refusal);

 private:
  asio::awaitable<bool> serve_request();
  asio::awaitable<bool> serve_route(RequestAccount* account, RequestParser* parser, api::Request request);
  asio::awaitable<bool> turn_down(api::Response refusal);
  void await_next_request();
  asio::awaitable<std::optional<api::Response>> read_body(RequestParser* parser, BodyRoom* room);
  asio::awaitable<std::optional<api::Response>> read_to_end(RequestParser* parser, BodyRoom* room);
  asio::awaitable<error_code> read_some();
  asio::awaitable<bool> refuse(RequestAccount* account, std::optional<api::Response> response);
  asio::awaitable<bool> respond(RequestAccount* account, api::Response response);
  asio::awaitable<bool> stream(RequestAccount* account, std::unique_ptr<EventFeed> feed);
  asio::awaitable<std::optional<StreamEnd>> replay(EventFeed* feed, std::shared_ptr<StreamSession> session,
                                                   Framing framing);
  [[nodiscard]] StreamEnd cut_by() const;
  std::optional<api::Response> unreadable(error_code const& ec) const;
  void limit_send_buffer();

  WaitingList& waiting_;
  CoreSessions& sessions_;
  Dispatcher& dispatcher_;
  TimedSocket socket_;
  ConnectionEntry entry_;
  boost::beast::flat_buffer buffer_;
  bool input_left_ = false;  // A refused request was not read to its end.
};

asio::awaitable<void> Connection::run(std::optional<api::Response> refusal) {
  bool more = false;
  if (refusal) {
    more = co_await turn_down(std::move(*refusal));
  } else if (!sessions_.stopping()) {
    more = co_await serve_request();
  }
  if (!socket_.get().is_open()) co_return;  // An StreamSession has it, or it was abandoned.
  if (more && !sessions_.stopping()) {
    await_next_request();
    co_return;
  }
  error_code ignored;
  socket_.get().shutdown(asio::socket_base::shutdown_send, ignored);
  // Closing with unread input makes the kernel send a reset, which may destroy the answer on its way. But a
  // client that sends nonsense on all connections must not keep them.
  bool const waits = input_left_ && !entry_.is_wanted_by_others();
  if (waits) co_await socket_.discard_input(asio::buffer(waiting_.scratch()));
  socket_.get().close(ignored);
}

void Connection::await_next_request() {
  auto const rest = buffer_.cdata();
  waiting_.add(OpenConnection{std::move(socket_.get()), std::move(entry_),
                              std::string{static_cast<char const*>(rest.data()), rest.size()}});
}

asio::awaitable<bool> Connection::turn_down(api::Response refusal) {
  RequestAccount account;
  account.exchange.request_id = mint_uuid();
  bool const again = co_await refuse(&account, std::move(refusal));
  co_return again;
}

// True if the connection may carry another request.
asio::awaitable<bool> Connection::serve_request() {
  RequestAccount account;
  RequestParser parser{sessions_.limits()};
  auto const ec = parser.put_head(buffer_);
  base::Raised const in_flight{sessions_.metrics().requests_in_flight};
  auto request = parser.request();
  account.exchange.request_id = request.request_id;
  account.method = request.method;
  if (ec) {
    bool const again = co_await refuse(&account, unreadable(ec));
    co_return again;
  }
  account.exchange.http_1_1 = parser.is_http_1_1();
  account.exchange.keep_alive = parser.keeps_alive();
  account.exchange.head_only = request.method == api::Method::head;

  account.exchange.more_headers = dispatcher_.headers_for(request);
  // HTTP/1.0 knows no upgrade.
  if (!account.exchange.http_1_1)
    std::erase_if(request.headers,
                  [](auto const& item) { return equal_ignoring_case(item.first, "Upgrade"); });

  auto malformed = refuse_head(request, account.exchange.http_1_1);
  if (!malformed) malformed = take_target(request, parser.target());
  account.path = request.path;
  if (malformed) {
    bool const again = co_await refuse(&account, std::move(*malformed));
    co_return again;
  }
  auto admitted = dispatcher_.admit(request);
  if (auto const* route = std::get_if<api::Route const*>(&admitted)) {
    auto refusal = co_await dispatcher_.redeem(*route, &request);
    if (refusal) admitted = std::move(*refusal);
  }
  account.identify(request);
  if (auto* refusal = std::get_if<api::Response>(&admitted)) {
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

// Called after the request was admitted to its route; its body may still have to come.
asio::awaitable<bool> Connection::serve_route(RequestAccount* account, RequestParser* parser,
                                              api::Request request) {
  auto const* route = request.route;
  // Held until the handler has answered, because what the handler makes of the body is about as large.
  std::optional<BodyRoom> room;
  if (!parser->is_done()) {
    room.emplace(dispatcher_.room_for_body(*route, request.user, sessions_.limits()));
    auto refusal = co_await read_body(parser, &*room);
    if (refusal) dispatcher_.note_status(*route, refusal->status);
    if (refusal || !parser->is_done()) {
      bool const again = co_await refuse(account, std::move(refusal));
      co_return again;
    }
  }
  request.body = parser->take_body();
  api::Reply reply = co_await dispatcher_.answer(route, std::move(request));
  room.reset();
  if (auto* response = std::get_if<api::Response>(&reply)) {
    bool const again = co_await respond(account, std::move(*response));
    co_return again;
  }
  bool const again =
      co_await stream(account, take_feed(std::move(std::get<std::unique_ptr<api::EventStream>>(reply))));
  co_return again;
}

// The refusal of a body that may not come or cannot be read. Empty if the parser is done, or if nobody waits
// for an answer.
asio::awaitable<std::optional<api::Response>> Connection::read_body(RequestParser* parser, BodyRoom* room) {
  auto refusal = room->announce(parser->announced_length());
  if (refusal) co_return refusal;
  parser->limit_body(room->limit());
  if (parser->expects_continue()) {
    bool const sent = co_await socket_.send("HTTP/1.1 100 Continue\r\n\r\n", {}, {});
    if (!sent) co_return std::nullopt;
  }
  if (sessions_.stopping()) co_return std::nullopt;
  // Anyone may send an empty body to a route that takes none, and must not hold a connection with it.
  auto const& limits = sessions_.limits();
  socket_.begin_reading(room->is_for_none() ? std::min(limits.body_deadline, limits.stop_grace)
                                            : limits.body_deadline);
  refusal = co_await read_to_end(parser, room);
  socket_.end_reading();
  co_return refusal;
}

asio::awaitable<std::optional<api::Response>> Connection::read_to_end(RequestParser* parser, BodyRoom* room) {
  for (;;) {
    auto ec = parser->put_body(buffer_);
    if (ec == beast_http::error::body_limit) co_return room->too_large();
    if (ec) co_return unreadable(ec);
    if (parser->is_done()) co_return std::nullopt;
    if (auto refusal = room->grow(parser->body_size())) co_return refusal;
    if (room->is_for_none() && entry_.is_wanted_by_others()) co_return room->too_large();
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

std::optional<api::Response> Connection::unreadable(error_code const& ec) const {
  if (ec == asio::error::operation_aborted) {
    if (!socket_.expired()) return std::nullopt;
    return refuse_late();
  }
  return refuse_unreadable(ec, sessions_.limits());
}

// Answers a request that was not read to its end, which ends the connection.
asio::awaitable<bool> Connection::refuse(RequestAccount* account, std::optional<api::Response> response) {
  if (!response) co_return false;
  account->exchange.keep_alive = false;
  input_left_ = true;
  co_await respond(account, std::move(*response));
  co_return false;
}

// True if the connection may carry another request.
asio::awaitable<bool> Connection::respond(RequestAccount* account, api::Response response) {
  Exchange exchange = account->exchange;
  if (sessions_.stopping()) exchange.keep_alive = false;
  account->answered(response.status, response.run, sessions_.metrics());
  auto const head = response_head(response, exchange);
  std::string_view const body = exchange.head_only ? std::string_view{} : response.content();
  if (body.size() > static_cast<std::size_t>(sessions_.limits().send_buffer_bytes)) limit_send_buffer();
  bool const sent = co_await socket_.send(head, body, {});
  co_return sent&& exchange.keep_alive;
}

// Limits what the kernel holds for a slow reader; without this it would be megabytes.
void Connection::limit_send_buffer() {
  error_code ignored;
  socket_.get().set_option(asio::socket_base::send_buffer_size(sessions_.limits().send_buffer_bytes),
                           ignored);
}

// True if the connection may carry another request. A client that has read the last chunk may have sent one.
asio::awaitable<bool> Connection::stream(RequestAccount* account, std::unique_ptr<EventFeed> feed) {
  bool const is_web_socket = !feed->web_socket_accept().empty();
  account->answered(is_web_socket ? 101 : 200, feed->run(), sessions_.metrics());
  limit_send_buffer();
  auto const head = is_web_socket ? web_socket_head(account->exchange, feed->web_socket_accept())
                                  : stream_head(account->exchange);
  bool const sent = co_await socket_.send(head, {}, {});
  if (!sent || account->exchange.head_only) co_return false;

  Framing const framing = account->exchange.http_1_1 && !is_web_socket ? Framing::chunked : Framing::plain;
  auto const kind = is_web_socket ? StreamSession::Kind::web_socket : StreamSession::Kind::sse;
  auto session = std::make_shared<StreamSession>(sessions_, kind, framing, account->exchange.request_id);
  bool const can_go_on = framing == Framing::chunked && account->exchange.keep_alive;
  if (can_go_on && buffer_.size() == 0) session->give_back_to(waiting_);
  if (feed->continues()) session->expect_more_runs();
  if (account->token_expires_at != 0) session->end_at(account->token_expires_at);
  sessions_.metrics().stream_opened(feed->wire());
  std::optional<StreamEnd> end = StreamEnd::failed;
  std::string failure;
  try {
    end = co_await replay(feed.get(), session, framing);
    // The session of a WebSocket says why it ends.
    if (is_web_socket && end && says_why(*end)) {
      session->on_close(*end == StreamEnd::ended ? stream::CloseReason::ended
                                                 : stream::CloseReason::reconnect);
      end.reset();
    }
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
    sessions_.metrics().stream_closed(*end);
    bool const again = can_go_on && *end == StreamEnd::ended;
    co_return again;
  }
  auto const rest = buffer_.cdata();
  session->start(std::move(socket_.get()), std::move(entry_), std::move(feed),
                 {static_cast<char const*>(rest.data()), rest.size()});
  co_return false;
}

// Why a write to a stream failed.
StreamEnd Connection::cut_by() const {
  if (sessions_.stopping()) return StreamEnd::shutdown;
  return socket_.expired() ? StreamEnd::slow : StreamEnd::gone;
}

// Sends what comes before the live frames. Empty if the session continues with the socket. A missing last
// chunk tells the client that the stream was cut.
asio::awaitable<std::optional<StreamEnd>> Connection::replay(EventFeed* feed,
                                                             std::shared_ptr<StreamSession> session,
                                                             Framing framing) {
  while (!sessions_.draining()) {
    if (session->has_expired()) co_return StreamEnd::expired;
    FeedStep const step = co_await feed->next(session);
    if (step.kind == FeedStep::Kind::live) co_return std::nullopt;
    if (step.kind == FeedStep::Kind::reconnect) co_return StreamEnd::reconnect;
    if (step.kind == FeedStep::Kind::ended) {
      auto const last = ChunkHead::of_last_chunk();
      if (framing == Framing::chunked) co_await socket_.send(last.text(), {}, {});
      co_return StreamEnd::ended;
    }
    if (step.frames == nullptr || step.frames->bytes.empty()) continue;
    ChunkHead const head{framing, step.frames->bytes.size()};
    bool const sent = co_await socket_.send(head.text(), step.frames->bytes, ChunkHead::tail(framing));
    if (!sent) co_return cut_by();
    sessions_.metrics().stream_bytes.add(static_cast<std::int64_t>(step.frames->bytes.size()));
  }
  co_return sessions_.stopping() ? StreamEnd::shutdown : StreamEnd::reconnect;
}

}  // namespace

asio::awaitable<void> serve_connection(OpenConnection connection, std::optional<api::Response> refusal,
                                       WaitingList* waiting, Dispatcher* dispatcher) {
  Connection served{std::move(connection), *waiting, *dispatcher};
  co_await served.run(std::move(refusal));
}

}  // namespace runnel::http
