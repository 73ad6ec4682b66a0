#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/model/answer_reader.h"
#include "runnel/model/profile.h"
#include "runnel/model/provider.h"
#include "runnel/net/http_client.h"

namespace runnel::model {

// Begins an exchange on the core that it is called on.
using Post = std::function<std::unique_ptr<net::HttpExchange>(net::HttpRequest)>;
using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

// What a call waits for. Two timers watch a stream: one any byte, one only an event re-arms, so that a server
// that keeps a dead answer alive by comments is found out.
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

  // The first of them to come.
  [[nodiscard]] Due next() const;

 private:
  CallTimeouts const timeouts_;
  net::Deadline total_by_;
  net::Deadline payload_by_;
  std::optional<net::Deadline> bytes_by_;   // Not before the head.
  std::optional<net::Deadline> finish_by_;  // Once the model has stopped.
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
  std::vector<CallEvent> events_;  // What the call has brought and nobody has taken yet.
  bool has_head_ = false;
  bool body_ended_ = false;
};

}  // namespace runnel::model
