#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runnel/core/error.h"

// How a coroutine waits for another thread, and how that thread gives the outcome back.
namespace runnel::base {

// A suspended coroutine. Its executor counts it as work until it is resumed, so that the io_context does not
// run out of work while another thread is still busy for it. A waiter that is destroyed before it is resumed
// also destroys its coroutine.
class Waiter {
 public:
  Waiter(Waiter const&) = delete;
  Waiter& operator=(Waiter const&) = delete;
  virtual ~Waiter() = default;

  [[nodiscard]] boost::asio::any_io_executor const& executor() const { return executor_; }

  // Call it once, on the executor, after the outcome has been set.
  virtual void resume() = 0;

 protected:
  explicit Waiter(boost::asio::any_io_executor const& executor)
      : executor_{boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked)} {}

 private:
  boost::asio::any_io_executor executor_;
};

// A waiter for a `Result<T>`.
template <class T>
class Reply : public Waiter {
 public:
  using Waiter::Waiter;
  void set(Result<T> outcome) { outcome_.emplace(std::move(outcome)); }

 protected:
  std::optional<Result<T>> outcome_;
};

namespace handoff_detail {

template <class T, class Handler>
class HandlerReply final : public Reply<T> {
 public:
  explicit HandlerReply(Handler handler)
      : Reply<T>{boost::asio::get_associated_executor(handler)}, handler_{std::move(handler)} {}

  void resume() override {
    auto handler = std::move(handler_);
    std::move(handler)(std::move(*this->outcome_));
  }

 private:
  Handler handler_;
};

// For how long the callers of one batch are resumed before the core looks at its sockets and timers again:
// what they do next may take a millisecond each.
constexpr std::chrono::milliseconds kResumeTime{1};

// Resumes waiters of one io_context, in order. Those that are left when the time is over come in a later
// turn.
inline void resume_each(std::vector<std::unique_ptr<Waiter>> waiters) {
  auto const until = std::chrono::steady_clock::now() + kResumeTime;
  auto next = waiters.begin();
  do {
    auto const executor = (*next)->executor();
    boost::asio::dispatch(executor, [owned = std::move(*next++)] { owned->resume(); });
  } while (next != waiters.end() && std::chrono::steady_clock::now() < until);
  if (next == waiters.end()) return;
  waiters.erase(waiters.begin(), next);
  auto const executor = waiters.front()->executor();
  boost::asio::post(executor, [rest = std::move(waiters)]() mutable { resume_each(std::move(rest)); });
}

}  // namespace handoff_detail

// Suspends the caller, hands its reply to `start`, and resumes the caller on its own executor with the
// outcome. `start` is a `void(std::unique_ptr<Reply<T>>)`; it is called on the caller's thread and must not
// throw. Cancellation does not shorten the wait: the work that another thread has begun continues, and the
// caller learns how it ended.
template <class T, class Start>
boost::asio::awaitable<Result<T>> wait_for_reply(Start start) {
  return boost::asio::async_initiate<boost::asio::use_awaitable_t<> const, void(Result<T>)>(
      [](auto handler, Start begin) {
        using Handler = decltype(handler);
        begin(std::make_unique<handoff_detail::HandlerReply<T, Handler>>(std::move(handler)));
      },
      boost::asio::use_awaitable, std::move(start));
}

// Resumes waiters whose outcomes are set, in order. It posts once per io_context, however many strands the
// waiters are on: a wake-up costs microseconds, and all waiters of one commit are resumed together.
inline void resume_all(std::vector<std::unique_ptr<Waiter>> waiters) {
  while (!waiters.empty()) {
    auto const executor = waiters.front()->executor();
    auto const* const context = &boost::asio::query(executor, boost::asio::execution::context);
    auto const others = std::stable_partition(waiters.begin(), waiters.end(), [&](auto const& waiter) {
      return &boost::asio::query(waiter->executor(), boost::asio::execution::context) == context;
    });
    std::vector<std::unique_ptr<Waiter>> rest{std::make_move_iterator(others),
                                              std::make_move_iterator(waiters.end())};
    waiters.erase(others, waiters.end());
    boost::asio::post(
        executor, [batch = std::move(waiters)]() mutable { handoff_detail::resume_each(std::move(batch)); });
    waiters = std::move(rest);
  }
}

inline void resume_one(std::unique_ptr<Waiter> waiter) {
  std::vector<std::unique_ptr<Waiter>> one;
  one.push_back(std::move(waiter));
  resume_all(std::move(one));
}

}  // namespace runnel::base
