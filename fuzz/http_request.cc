// The bytes that a client sends on a connection, from the first byte to the handler, without the socket.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fuzz/openapi.h"
#include "fuzz/target.h"
#include "runnel/base/clock.h"
#include "runnel/http/connection/head_scan.h"
#include "runnel/http/connection/refusals.h"
#include "runnel/http/connection/request_parser.h"
#include "runnel/http/connection/response_head.h"
#include "runnel/http/dispatcher.h"

namespace {

using namespace runnel;
using namespace runnel::http;

int declared_success(api::Operation const& operation) {
  for (int status = 200; status < 300; ++status) {
    if (operation.has_status(status)) return status;
  }
  return 200;
}

// Takes the place of the real handlers: reads everything that a handler may read.
boost::asio::awaitable<api::Reply> look(api::Request request) {
  for (auto const& name : request.operation->query)
    static_cast<void>(request.query(name));
  if (request.operation->body) static_cast<void>(request.json());
  co_return api::json_response(declared_success(*request.operation), "{}");
}

api::Router all_routes() {
  api::Router router{openapi_contract()};
  for (auto const& operation : openapi_contract()->operations())
    router.add(operation.method, operation.path, operation.for_users ? api::Access::user : api::Access::open,
               look);
  return router;
}

Dispatcher& dispatcher() {
  static base::SystemClock const clock;
  static Dispatcher instance{all_routes(),
                             std::make_shared<Authenticator const>(
                                 base::KeyRing{base::SigningKey::from_secret(std::string(32, 'k')).value()},
                                 base::TokenParties{}, clock),
                             {{1'000'000'000, 1'000'000'000, 1}, Cors{{"https://app.example.com"}}}};
  return instance;
}

api::Response answer_of(api::Route const* route, api::Request request) {
  boost::asio::io_context context;
  std::optional<api::Response> out;
  boost::asio::co_spawn(context, dispatcher().answer(route, std::move(request)),
                        [&out](std::exception_ptr const& failure, api::Reply reply) {
                          require(failure == nullptr, "the dispatcher does not throw");
                          out = std::get<api::Response>(std::move(reply));
                        });
  context.run();
  return std::move(out.value());
}

// The bytes of a connection, which come in pieces of `piece` bytes. The answer is empty if the server would
// wait for more bytes.
class Client {
 public:
  Client(std::string_view bytes, std::size_t piece) : bytes_{bytes}, piece_{piece} {}

  std::optional<api::Response> first_answer() {
    HeadScan scan;
    std::string head;
    while (scan.state() == HeadScan::State::incomplete && !bytes_.empty() &&
           head.size() < limits_.header_bytes) {
      head += take();
      scan.advance(std::string_view{head}.substr(0, limits_.header_bytes));
    }
    if (scan.state() == HeadScan::State::incomplete && head.size() < limits_.header_bytes)
      return std::nullopt;
    if (scan.state() != HeadScan::State::whole) return refuse_scanned(scan.state(), limits_);
    feed(head);
    return serve();
  }

 private:
  std::string_view take() {
    auto const out = bytes_.substr(0, piece_);
    bytes_.remove_prefix(out.size());
    return out;
  }
  void feed(std::string_view bytes) {
    auto const room = buffer_.prepare(bytes.size());
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(room.data()));
    buffer_.commit(bytes.size());
  }

  std::optional<api::Response> serve() {
    RequestParser parser{limits_};
    auto const unread = parser.put_head(buffer_);
    if (unread) return refuse_unreadable(unread, limits_);
    auto request = parser.request();
    if (auto malformed = refuse_head(request, parser.is_http_1_1())) return malformed;
    if (auto malformed = take_target(request, parser.target())) return malformed;
    auto admitted = dispatcher().admit(request);
    if (auto* refusal = std::get_if<api::Response>(&admitted)) return std::move(*refusal);

    while (!parser.is_done()) {
      auto const broken = parser.put_body(buffer_);
      if (broken) return refuse_unreadable(broken, limits_);
      if (parser.is_done()) break;
      if (bytes_.empty()) return std::nullopt;
      feed(take());
    }
    request.body = parser.take_body();
    return answer_of(std::get<api::Route const*>(admitted), std::move(request));
  }

  Limits const limits_;
  std::string_view bytes_;
  std::size_t const piece_;
  boost::beast::flat_buffer buffer_{limits_.header_bytes + 64 * 1024};
};

void check_answer(api::Response const& response) {
  require(response.status >= 200 && response.status < 600, "the status is from 200 to 599");
  require(response.status < 500 || response.status == 501 || response.status == 505,
          "no input causes a server error");
  auto const head = response_head(response, Exchange{"id"});
  require(head.ends_with("\r\n\r\n") && head.find("\r\n\r\n") == head.size() - 4, "the head ends once");
}

}  // namespace

RUNNEL_FUZZ_TARGET(http_request) {
  std::string_view const bytes{reinterpret_cast<char const*>(data), size};
  auto const whole = Client{bytes, 64 * 1024}.first_answer();
  if (whole) check_answer(*whole);

  auto const pieces = Client{bytes, 1 + size % 7}.first_answer();
  require(whole.has_value() == pieces.has_value(), "whether there is an answer does not depend on the cuts");
  if (whole)
    require(whole->status == pieces->status && whole->body == pieces->body,
            "the answer does not depend on the cuts");
  return 0;
}
