#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/model/openai/answer_reader.h"
#include "runnel/model/openai/vendor.h"
#include "runnel/model/provider.h"
#include "runnel/net/http_client.h"

namespace runnel::model {

// Begins an exchange on the core of the caller.
using Post = std::function<std::unique_ptr<net::HttpExchange>(net::HttpRequest)>;
using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

// The deadlines of a call. Two timers watch a stream: any byte re-arms the first, only an event re-arms the
// second, so that a server that keeps a dead answer alive with comments is detected.
class CallTimers {
 public:
  struct Due {
    net::Deadline at;
    char const* what;
  };

  CallTimers(CallTimeouts const& timeouts, net::Deadline now);

  void bytes_came(net::Deadline now) { bytes_by_ = now + timeouts_.idle_bytes; }
  void payload_came(net::Deadline now);
  void answer_finished(net::Deadline now);
  void postpone(std::chrono::steady_clock::duration time);

  // The earliest deadline.
  [[nodiscard]] Due next() const;

 private:
  CallTimeouts const timeouts_;
  net::Deadline total_by_;
  net::Deadline payload_by_;
  std::optional<net::Deadline> bytes_by_;   // Set when the head has come.
  std::optional<net::Deadline> finish_by_;  // Set when the model has stopped.
  bool had_payload_ = false;
};

// One streamed chat completion.
class OpenAiCall final : public Call {
 public:
  OpenAiCall(std::shared_ptr<ProviderOptions const> options, CallRequest const& request, Post const& post,
             SteadyNow now);

  boost::asio::awaitable<Result<std::vector<CallEvent>>> next(std::shared_ptr<base::Cancel> cancel) override;
  void held_up(std::chrono::steady_clock::duration time) override { timers_.postpone(time); }

 private:
  enum class Step { go_on, canceled };

  boost::asio::awaitable<Step> take_head(std::shared_ptr<base::Cancel> cancel);
  boost::asio::awaitable<Step> read_more(std::shared_ptr<base::Cancel> cancel);
  boost::asio::awaitable<void> take_refusal(net::HttpHead head, std::shared_ptr<base::Cancel> cancel);
  boost::asio::awaitable<void> drain(std::shared_ptr<base::Cancel> cancel);
  void take_bytes(std::string const& bytes);
  void take_error(net::HttpError const& error, char const* waited_for);

  std::shared_ptr<ProviderOptions const> options_;
  SteadyNow now_;
  AnswerReader answer_;
  CallTimers timers_;
  std::unique_ptr<net::HttpExchange> exchange_;
  std::vector<CallEvent> events_;  // The events that `next` has not returned yet.
  bool has_head_ = false;
  bool body_ended_ = false;
};

}  // namespace runnel::model
