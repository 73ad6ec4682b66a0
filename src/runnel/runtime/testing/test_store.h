#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <condition_variable>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runnel/store/store.h"

namespace runnel::runtime {

// A store for tests of one run. It keeps what is appended and the calls that are entered, and fails or holds
// writes on demand. Any other operation is an error in the test.
class TestStore final : public store::Store {
 private:
  template <class Work>
  auto with_lock(Work work) {
    std::lock_guard const lock{mutex_};
    changed_.notify_all();
    return work();
  }

 public:
  // Writes wait until let_go().
  void hold() {
    with_lock([this] { held_ = true; });
  }
  void let_go() {
    with_lock([this] { held_ = false; });
  }

  void fail_next(Errc code, int times) {
    with_lock([&] {
      failure_ = code;
      failures_ = times;
    });
  }

  void wait_for_writes(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return appends_.size() + ends_.size() >= count; });
  }

  std::vector<store::AppendRequest> appends() {
    return with_lock([this] { return appends_; });
  }
  std::vector<store::EndRequest> ends() {
    return with_lock([this] { return ends_; });
  }

  // From now on, a cancel counts as accepted before the end is written.
  void accept_cancel() {
    with_lock([this] { cancel_accepted_ = true; });
  }

  // Refuses the next model calls; by default all of them.
  void refuse_calls(Errc code, int times = std::numeric_limits<int>::max()) {
    with_lock([&] {
      call_refusal_ = code;
      call_refusals_ = times;
    });
  }
  // Sets the calls that an earlier writer left unbooked.
  void leave(std::vector<store::UnbookedCall> calls) {
    with_lock([&] { left_ = std::move(calls); });
  }
  std::vector<store::NewCall> calls() {
    return with_lock([this] { return calls_; });
  }
  // How calls ended, in the order in which their ends were written.
  std::vector<store::CallEnd> call_ends() {
    std::vector<store::CallEnd> out;
    for (auto& append : appends())
      std::move(append.call_ends.begin(), append.call_ends.end(), std::back_inserter(out));
    return out;
  }

  store::Async<void> append(store::AppendRequest request) override {
    with_lock([&] { appends_.push_back(std::move(request)); });
    auto const failure = co_await outcome();
    if (failure) co_return *failure;
    co_return Result<void>{};
  }
  store::Async<store::Ended> end(store::EndRequest request) override {
    bool const both = request.if_canceled.has_value();
    with_lock([&] { ends_.push_back(std::move(request)); });
    auto const failure = co_await outcome();
    if (failure) co_return *failure;
    store::Ended ended;
    ended.canceled = both && with_lock([this] { return cancel_accepted_; });
    co_return ended;
  }
  store::Async<void> release(RunKey, Epoch) override { return unexpected<void>(); }
  store::Async<store::Ended> force_end(store::ForceEndRequest) override { return unexpected<store::Ended>(); }
  store::Async<store::LogEnd> log_end(RunKey) override { return unexpected<store::LogEnd>(); }

  store::Async<store::Admission> admit(store::AdmitRequest) override {
    return unexpected<store::Admission>();
  }
  store::Async<store::Claim> claim(store::ClaimRequest) override { return unexpected<store::Claim>(); }
  store::Async<void> open_call(store::NewCall call) override {
    bool const refused = with_lock([this] { return call_refusals_ > 0 && call_refusals_-- > 0; });
    if (refused) co_return Error{call_refusal_, "as the test wants"};
    with_lock([&] { calls_.push_back(std::move(call)); });
    co_return Result<void>{};
  }
  store::Async<store::CancelOutcome> request_cancel(RunKey, std::int64_t) override {
    return unexpected<store::CancelOutcome>();
  }
  store::Async<void> discard(store::DiscardRequest) override { return unexpected<void>(); }
  store::Async<std::size_t> expire_logs(std::int64_t, std::size_t) override {
    return unexpected<std::size_t>();
  }
  store::Async<std::size_t> purge(store::PieceSize) override { return unexpected<std::size_t>(); }
  store::Async<void> ensure_user(UserId, std::int64_t) override { return unexpected<void>(); }
  store::Async<void> rename_thread(UserId, ThreadId, std::string, std::int64_t) override {
    return unexpected<void>();
  }
  store::Async<store::DeleteOutcome> delete_thread(UserId, ThreadId) override {
    return unexpected<store::DeleteOutcome>();
  }
  store::Async<std::optional<store::RunRow>> find_run(UserId, ThreadId, RunId) override {
    return unexpected<std::optional<store::RunRow>>();
  }
  store::Async<std::optional<store::RunRow>> run_by_key(RunKey) override {
    return unexpected<std::optional<store::RunRow>>();
  }
  store::Async<std::optional<store::RunRow>> find_owned_run(UserId, RunId) override {
    return unexpected<std::optional<store::RunRow>>();
  }
  store::Async<store::LogPlace> place_of_idx(RunKey, std::int64_t) override {
    return unexpected<store::LogPlace>();
  }
  store::Async<std::vector<store::RunRow>> runs_to_recover(RunKey, std::size_t) override {
    return unexpected<std::vector<store::RunRow>>();
  }
  store::Async<std::vector<store::LogRow>> read_log(RunKey, std::uint64_t, std::size_t) override {
    return unexpected<std::vector<store::LogRow>>();
  }
  store::Async<store::RunUsage> run_usage(RunKey) override { return unexpected<store::RunUsage>(); }
  store::Async<std::vector<store::UnbookedCall>> unbooked_calls(RunKey) override {
    co_return with_lock([this] { return left_; });
  }
  store::Async<store::UsageReport> usage(store::UsageQuery) override {
    return unexpected<store::UsageReport>();
  }
  store::Async<store::HistoryPage> history(UserId, ThreadId, std::optional<std::int64_t>,
                                           store::PageSize) override {
    return unexpected<store::HistoryPage>();
  }
  store::Async<std::vector<store::MessageRow>> context(ThreadKey, RunKey, store::PageSize) override {
    return unexpected<std::vector<store::MessageRow>>();
  }
  store::Async<store::ThreadPage> threads(UserId, std::string, std::size_t) override {
    return unexpected<store::ThreadPage>();
  }
  store::Async<std::optional<store::ThreadRow>> thread(UserId, ThreadId) override {
    return unexpected<std::optional<store::ThreadRow>>();
  }
  store::Async<std::vector<store::Checkpoint>> checkpoints(RunKey, std::int64_t, std::size_t) override {
    return unexpected<std::vector<store::Checkpoint>>();
  }
  store::Async<void> probe() override { return unexpected<void>(); }

 private:
  template <class T>
  static store::Async<T> unexpected() {
    co_return Error{Errc::internal, "the test does not expect this call"};
  }

  boost::asio::awaitable<std::optional<Error>> outcome() {
    boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
    while (with_lock([this] { return held_; })) {
      timer.expires_after(std::chrono::milliseconds{1});
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    bool const fails = with_lock([this] { return failures_ > 0 && failures_-- > 0; });
    if (!fails) co_return std::nullopt;
    co_return Error{failure_, "as the test wants"};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool cancel_accepted_ = false;
  Errc failure_ = Errc::unavailable;
  int failures_ = 0;
  std::vector<store::AppendRequest> appends_;
  std::vector<store::EndRequest> ends_;
  std::vector<store::NewCall> calls_;
  Errc call_refusal_ = Errc::over_budget;
  int call_refusals_ = 0;
  std::vector<store::UnbookedCall> left_;
};

}  // namespace runnel::runtime
