#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/store/store.h"

namespace runnel::runtime {

// A store that loses answers when the test wants it: it does what was asked, but answers `unavailable`.
// Everything else goes to the store behind it.
class LossyStore final : public store::Store {
 public:
  explicit LossyStore(std::unique_ptr<Store> behind) : behind_{std::move(behind)} {}

  // How many of the next answers of each kind are lost.
  std::atomic<int> lost_admits{0};
  std::atomic<int> lost_force_ends{0};

  store::Async<store::Admission> admit(store::AdmitRequest request) override {
    return lose(behind_->admit(std::move(request)), &lost_admits);
  }
  store::Async<store::Ended> force_end(store::ForceEndRequest request) override {
    return lose(behind_->force_end(std::move(request)), &lost_force_ends);
  }

  store::Async<store::Claim> claim(store::ClaimRequest request) override {
    return behind_->claim(std::move(request));
  }
  store::Async<void> append(store::AppendRequest request) override {
    return behind_->append(std::move(request));
  }
  store::Async<store::Ended> end(store::EndRequest request) override {
    return behind_->end(std::move(request));
  }
  store::Async<void> release(RunKey run, Epoch epoch) override { return behind_->release(run, epoch); }
  store::Async<void> open_call(store::NewCall call) override { return behind_->open_call(std::move(call)); }
  store::Async<store::CancelOutcome> request_cancel(RunKey run, std::int64_t now) override {
    return behind_->request_cancel(run, now);
  }
  store::Async<void> discard(store::DiscardRequest request) override {
    return behind_->discard(std::move(request));
  }
  store::Async<std::size_t> expire_logs(std::int64_t ended_before, std::size_t limit) override {
    return behind_->expire_logs(ended_before, limit);
  }
  store::Async<std::size_t> purge(store::PieceSize piece) override { return behind_->purge(piece); }
  store::Async<void> ensure_user(UserId user, std::int64_t now) override {
    return behind_->ensure_user(std::move(user), now);
  }
  store::Async<void> rename_thread(UserId owner, ThreadId thread, std::string title,
                                   std::int64_t now) override {
    return behind_->rename_thread(std::move(owner), std::move(thread), std::move(title), now);
  }
  store::Async<store::DeleteOutcome> delete_thread(UserId owner, ThreadId thread) override {
    return behind_->delete_thread(std::move(owner), std::move(thread));
  }
  store::Async<std::optional<store::RunRow>> find_run(UserId owner, ThreadId thread, RunId run) override {
    return behind_->find_run(std::move(owner), std::move(thread), std::move(run));
  }
  store::Async<std::optional<store::RunRow>> run_by_key(RunKey run) override {
    return behind_->run_by_key(run);
  }
  store::Async<std::optional<store::RunRow>> find_owned_run(UserId owner, RunId run) override {
    return behind_->find_owned_run(std::move(owner), std::move(run));
  }
  store::Async<store::LogPlace> place_of_idx(RunKey run, std::int64_t idx) override {
    return behind_->place_of_idx(run, idx);
  }
  store::Async<std::vector<store::RunRow>> runs_to_recover(RunKey after, std::size_t limit) override {
    return behind_->runs_to_recover(after, limit);
  }
  store::Async<std::vector<store::LogRow>> read_log(RunKey run, std::uint64_t after_n,
                                                    std::size_t max_bytes) override {
    return behind_->read_log(run, after_n, max_bytes);
  }
  store::Async<store::LogEnd> log_end(RunKey run) override { return behind_->log_end(run); }
  store::Async<store::RunUsage> run_usage(RunKey run) override { return behind_->run_usage(run); }
  store::Async<std::vector<store::Checkpoint>> checkpoints(RunKey run, std::int64_t after,
                                                           std::size_t max_bytes) override {
    return behind_->checkpoints(run, after, max_bytes);
  }
  store::Async<std::vector<store::UnbookedCall>> unbooked_calls(RunKey run) override {
    return behind_->unbooked_calls(run);
  }
  store::Async<store::UsageReport> usage(store::UsageQuery query) override {
    return behind_->usage(std::move(query));
  }
  store::Async<store::HistoryPage> history(UserId owner, ThreadId thread, std::optional<std::int64_t> before,
                                           store::PageSize size) override {
    return behind_->history(std::move(owner), std::move(thread), before, size);
  }
  store::Async<std::vector<store::MessageRow>> context(ThreadKey thread, RunKey reader,
                                                       store::PageSize size) override {
    return behind_->context(thread, reader, size);
  }
  store::Async<store::ThreadPage> threads(UserId owner, std::string cursor, std::size_t limit) override {
    return behind_->threads(std::move(owner), std::move(cursor), limit);
  }
  store::Async<std::optional<store::ThreadRow>> thread(UserId owner, ThreadId thread) override {
    return behind_->thread(std::move(owner), std::move(thread));
  }
  store::Async<void> probe() override { return behind_->probe(); }

 private:
  template <class T>
  static store::Async<T> lose(store::Async<T> call, std::atomic<int>* left) {
    auto answer = co_await std::move(call);
    if (left->load() == 0) co_return answer;
    --*left;
    co_return Error{Errc::unavailable, "the answer was lost"};
  }

  std::unique_ptr<Store> behind_;
};

}  // namespace runnel::runtime
