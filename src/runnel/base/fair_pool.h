#pragma once

#include <boost/asio/awaitable.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runnel/base/handoff.h"
#include "runnel/core/error.h"

namespace runnel::base {

// A few threads for work that would keep an event loop busy for too long. The jobs of one key are done one
// after the other, and the keys take turns. So a key with many jobs delays itself, and each other key waits
// for at most one of those jobs.
class FairPool {
 public:
  // `most_waiting` is how many jobs of one key may wait.
  FairPool(std::size_t threads, std::size_t most_waiting);
  FairPool(FairPool const&) = delete;
  FairPool& operator=(FairPool const&) = delete;
  // Does all queued jobs, then joins the threads. Nothing may be submitted from here on.
  ~FairPool();

  // Calls `work`, a `Result<T>()`, on one of the threads; the caller resumes on its own executor. An
  // exception from `work` becomes the error `internal`. If `most_waiting` jobs of the key are waiting
  // already, it fails with `unavailable` and does not call `work`. The call cannot be canceled.
  template <class T, class Work>
  boost::asio::awaitable<Result<T>> run(std::string key, Work work) {
    return wait_for_reply<T>(
        [this, key = std::move(key), work = std::move(work)](std::unique_ptr<Reply<T>> reply) mutable {
          auto job = std::make_unique<WorkJob<T, Work>>(std::move(work), std::move(reply));
          push(std::move(key), std::move(job));
        });
  }

 private:
  class Job {
   public:
    Job() = default;
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;
    virtual ~Job() = default;
    virtual std::unique_ptr<Waiter> run() = 0;
    virtual std::unique_ptr<Waiter> refuse() = 0;
  };

  template <class T, class Work>
  class WorkJob final : public Job {
   public:
    WorkJob(Work work, std::unique_ptr<Reply<T>> reply) : work_{std::move(work)}, reply_{std::move(reply)} {}

    std::unique_ptr<Waiter> run() override {
      try {
        reply_->set(work_());
      } catch (std::exception const& e) {
        reply_->set(Error{Errc::internal, e.what()});
      }
      return std::move(reply_);
    }
    std::unique_ptr<Waiter> refuse() override {
      reply_->set(Error{Errc::unavailable, "too many jobs are waiting"});
      return std::move(reply_);
    }

   private:
    Work work_;
    std::unique_ptr<Reply<T>> reply_;
  };

  using Jobs = std::deque<std::unique_ptr<Job>>;

  void push(std::string key, std::unique_ptr<Job> job);
  void serve();

  std::size_t const most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<std::string, Jobs> waiting_;  // By key; a key is here while a job of it is due or runs.
  std::deque<std::pair<std::string, std::unique_ptr<Job>>>
      due_;  // At most one job per key, if none of it runs.
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace runnel::base
