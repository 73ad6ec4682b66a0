#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/sleep.h"
#include "runnel/model/registry.h"

namespace runnel::runtime {

// The events of one attempt. An attempt without CallFinished or CallFailed gives its events and then waits
// until it is canceled.
using ScriptedAttempt = std::vector<model::CallEvent>;

// The attempts of a scripted provider, in order, and the requests that it received.
class Script {
 public:
  explicit Script(std::vector<ScriptedAttempt> attempts)
      : attempts_{std::make_move_iterator(attempts.begin()), std::make_move_iterator(attempts.end())} {}

  ScriptedAttempt take(model::CallRequest request) {
    if (on_call) on_call();
    std::lock_guard const lock{mutex_};
    requests_.push_back(std::move(request));
    if (attempts_.empty()) return {model::CallFailed{}};
    auto attempt = std::move(attempts_.front());
    attempts_.pop_front();
    return attempt;
  }

  [[nodiscard]] std::vector<model::CallRequest> requests() const {
    std::lock_guard const lock{mutex_};
    return requests_;
  }

  std::function<void()> on_call;  // Called before each attempt.

 private:
  std::mutex mutable mutex_;
  std::deque<ScriptedAttempt> attempts_;
  std::vector<model::CallRequest> requests_;
};

// A provider of one model, which follows the test's script.
class ScriptedProvider final : public model::Provider {
 public:
  ScriptedProvider(std::string model, std::shared_ptr<Script> script)
      : model_{std::move(model)}, script_{std::move(script)} {}

  [[nodiscard]] std::vector<std::string> models() const override { return {model_}; }
  [[nodiscard]] std::string name() const override { return model_ + "-provider"; }
  std::unique_ptr<model::Call> call(model::CallRequest request) override {
    return std::make_unique<ScriptedCall>(script_->take(std::move(request)));
  }

 private:
  class ScriptedCall final : public model::Call {
   public:
    explicit ScriptedCall(ScriptedAttempt events) : events_{std::move(events)} {}

    boost::asio::awaitable<Result<std::vector<model::CallEvent>>> next(
        std::shared_ptr<base::Cancel> cancel) override {
      bool const said = events_.empty();
      if (said) co_await base::sleep_for(std::chrono::hours{1}, cancel);
      if (cancel->requested()) co_return Error{Errc::canceled, "as the test wants"};
      co_return std::exchange(events_, {});
    }

   private:
    ScriptedAttempt events_;
  };

  std::string model_;
  std::shared_ptr<Script> script_;
};

inline model::CallFinished answered(std::int64_t input, std::int64_t output,
                                    model::Finish finish = model::Finish::stop) {
  model::CallFinished out;
  out.finish = finish;
  out.usage.input_tokens = input;
  out.usage.output_tokens = output;
  return out;
}

// A failure after which the call may soon be made again.
inline model::CallFailed refused(model::Failure failure) {
  model::CallFailed out;
  out.failure = failure;
  out.message = "as the test wants";
  out.retryable = true;
  out.retry_after = std::chrono::milliseconds{1};
  return out;
}

// A failure in the middle of the answer.
inline model::CallFailed broken(model::Failure failure) {
  model::CallFailed out;
  out.failure = failure;
  out.message = "as the test wants";
  out.accepted = true;
  return out;
}

inline model::Registry scripted(std::string model, std::shared_ptr<Script> script) {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<ScriptedProvider>(std::move(model), std::move(script)));
  return model::Registry{std::move(providers)};
}

}  // namespace runnel::runtime
