#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "runnel/base/cancel.h"
#include "runnel/net/http_client.h"
#include "runnel/net/testing/upstream.h"

// A client on a core of its own, for the tests of HttpClient.
namespace runnel::net {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Kind = HttpError::Kind;
using Stop = std::shared_ptr<base::Cancel>;

// How long "at once" may take. It allows for a busy machine, but is shorter than the timeouts of all layers.
inline constexpr auto kAtOnce = 500ms;

struct Answer {
  HttpHead head;
  std::string body;
  std::size_t pieces = 0;
  std::optional<HttpError> error;
};

inline Stop never() {
  return std::make_shared<base::Cancel>();
}

inline Deadline in(std::chrono::milliseconds duration) {
  return Clock::now() + duration;
}

inline asio::awaitable<Answer> answer_of(std::unique_ptr<HttpExchange> exchange,
                                         std::chrono::milliseconds patience, Stop stop) {
  Answer answer;
  auto head = co_await exchange->head(in(patience), stop);
  if (!head) {
    answer.error = head.error();
    co_return answer;
  }
  answer.head = std::move(*head);
  for (;;) {
    auto piece = co_await exchange->read(in(patience), stop);
    if (!piece) answer.error = piece.error();
    if (!piece || piece->empty()) co_return answer;
    answer.body += *piece;
    ++answer.pieces;
  }
}

inline asio::awaitable<Answer> head_of(HttpExchange* exchange, Stop stop) {
  Answer answer;
  auto head = co_await exchange->head(in(10s), stop);
  if (head) {
    answer.head = std::move(*head);
  } else {
    answer.error = head.error();
  }
  co_return answer;
}

inline asio::awaitable<Answer> piece_of(HttpExchange* exchange, Stop stop) {
  Answer answer;
  auto piece = co_await exchange->read(in(10s), stop);
  if (piece) {
    answer.body = std::move(*piece);
  } else {
    answer.error = piece.error();
  }
  co_return answer;
}

// Records when the client closed its connection.
class CloseWatch {
 public:
  void note() { closed_.set_value(Clock::now()); }
  // How long after `begin` the client closed. The largest duration if it did not do so within 10 s.
  Clock::duration after(Clock::time_point begin) {
    auto closed = closed_.get_future();
    if (closed.wait_for(10s) != std::future_status::ready) return Clock::duration::max();
    return closed.get() - begin;
  }

 private:
  std::promise<Clock::time_point> closed_;
};

// Half of an answer, and no more until the client closes.
inline void send_half(Visit& visit, CloseWatch& closed) {
  visit.read_request();
  visit.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  visit.wait_for_close();
  closed.note();
}

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest() { make_client({}); }

  void make_client(HttpClient::Options options) {
    client_ = std::make_unique<HttpClient>(context_, std::move(options));
  }

  std::unique_ptr<HttpExchange> post(std::string const& url, std::string const& body = "{}") {
    HttpRequest request;
    request.url = url;
    request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer canary-key"}};
    request.body = body;
    return client_->post(std::move(request));
  }

  // Runs the core until the coroutine ends. Throws if that takes longer than 20 s.
  Answer run(asio::awaitable<Answer> work) {
    std::optional<Answer> outcome;
    std::exception_ptr thrown;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr e, Answer answer) {
      thrown = e;
      outcome.emplace(std::move(answer));
    });
    auto const end = in(20s);
    context_.restart();
    while (!outcome) {
      if (Clock::now() > end) throw std::runtime_error{"hangs"};
      context_.run_one_for(1s);
    }
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*outcome);
  }

  Answer ask(std::string const& url, std::string const& body = "{}") {
    return run(answer_of(post(url, body), 10s, never()));
  }

  void run_for(std::chrono::milliseconds duration) {
    context_.restart();
    context_.run_for(duration);
  }

  // Requests the stop after `delay`, and sets `requested` to the time of the request.
  void request_after(Stop stop, std::chrono::milliseconds delay, Clock::time_point& requested) {
    auto timer = std::make_shared<asio::steady_timer>(context_, delay);
    timer->async_wait([timer, stop, &requested](boost::system::error_code) {
      requested = Clock::now();
      stop->request(base::CancelReason::user);
    });
  }

  asio::io_context context_{1};
  std::unique_ptr<HttpClient> client_;
};

}  // namespace runnel::net
