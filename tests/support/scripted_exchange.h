#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runnel/net/http_client.h"

// An upstream without a socket. A script says what it answers, byte by byte, on a clock of its own.
namespace runnel {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Script {
  struct Step {
    std::chrono::milliseconds after{0};
    net::HttpResult<std::string> outcome;
  };

  net::HttpResult<net::HttpHead> head = net::HttpHead{200, {{"content-type", "text/event-stream"}}};
  std::chrono::milliseconds head_after{0};
  std::deque<Step> steps;  // The body ends after the last step.
  SteadyTime now{};        // Advances only while the exchange waits.
  net::HttpRequest request;
  bool closed = false;  // The exchange was destroyed; `body_read_to_its_end` says at which point.
  bool body_read_to_its_end = false;

  Script& status(int code, std::vector<std::pair<std::string, std::string>> headers = {}) {
    head = net::HttpHead{code, std::move(headers)};
    return *this;
  }
  Script& send(std::string bytes, std::chrono::milliseconds after = {}) {
    steps.push_back({after, std::move(bytes)});
    return *this;
  }
  Script& send_in_pieces(std::string_view bytes, std::size_t size) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size())))
      send(std::string{bytes.substr(0, size)});
    return *this;
  }
  Script& event(std::string_view data, std::chrono::milliseconds after = {}) {
    return send("data: " + std::string{data} + "\n\n", after);
  }
  Script& fail(net::HttpError::Kind kind, std::chrono::milliseconds after = {}) {
    steps.push_back({after, net::HttpError{kind, "scripted"}});
    return *this;
  }
  Script& hang() { return fail(net::HttpError::Kind::cut, std::chrono::hours{1000}); }
};

class ScriptedExchange final : public net::HttpExchange {
 public:
  explicit ScriptedExchange(std::shared_ptr<Script> script) : script_{std::move(script)} {}
  ~ScriptedExchange() override { script_->closed = true; }

  boost::asio::awaitable<net::HttpResult<net::HttpHead>> head(net::Deadline deadline,
                                                              std::shared_ptr<base::Cancel> cancel) override {
    if (cancel->requested()) co_return error(net::HttpError::Kind::canceled);
    if (!wait(script_->head_after, deadline)) co_return error(net::HttpError::Kind::timed_out);
    co_return script_->head;
  }

  boost::asio::awaitable<net::HttpResult<std::string>> read(net::Deadline deadline,
                                                            std::shared_ptr<base::Cancel> cancel) override {
    if (cancel->requested()) co_return error(net::HttpError::Kind::canceled);
    if (script_->steps.empty()) {
      script_->body_read_to_its_end = true;
      co_return std::string{};
    }
    if (!wait(script_->steps.front().after, deadline)) co_return error(net::HttpError::Kind::timed_out);
    auto outcome = std::move(script_->steps.front().outcome);
    script_->steps.pop_front();
    co_return outcome;
  }

 private:
  static net::HttpError error(net::HttpError::Kind kind) { return {kind, "scripted"}; }

  bool wait(std::chrono::milliseconds& remaining, net::Deadline deadline) {
    if (script_->now + remaining <= deadline) {
      script_->now += std::exchange(remaining, std::chrono::milliseconds{0});
      return true;
    }
    auto const waited = std::chrono::ceil<std::chrono::milliseconds>(deadline - script_->now);
    script_->now += waited;
    remaining -= waited;
    return false;
  }

  std::shared_ptr<Script> script_;
};

}  // namespace runnel
