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
#include <utility>
#include <vector>

#include "runnel/base/handoff.h"
#include "runnel/core/error.h"

namespace runnel::base {

// A few threads for calls that block (database reads, file I/O), so that no event loop blocks. Work is done
// in the order in which it is submitted. The queue has no limit of its own: every entry is a coroutine that
// waits, and the code that admits requests limits how many of those there are.
class BlockingPool {
 public:
  explicit BlockingPool(std::size_t threads);
  BlockingPool(BlockingPool const&) = delete;
  BlockingPool& operator=(BlockingPool const&) = delete;
  // Does all queued work, then joins the threads. Nothing may be submitted from here on.
  ~BlockingPool();

  // Calls `work`, a `Result<T>(std::size_t)`, on one of the threads; the caller resumes on its own executor.
  // The argument is the thread's number, starting from 0, so that `work` can use objects that belong to one
  // thread. An exception from `work` becomes the error `internal`. The call cannot be canceled.
  template <class T, class Work>
  boost::asio::awaitable<Result<T>> run(Work work) {
    return wait_for_reply<T>([this, work = std::move(work)](std::unique_ptr<Reply<T>> reply) mutable {
      push(std::make_unique<WorkJob<T, Work>>(std::move(work), std::move(reply)));
    });
  }

 private:
  class Job {
   public:
    Job() = default;
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;
    virtual ~Job() = default;
    virtual std::unique_ptr<Waiter> run(std::size_t thread) = 0;
  };

  template <class T, class Work>
  class WorkJob final : public Job {
   public:
    WorkJob(Work work, std::unique_ptr<Reply<T>> reply) : work_{std::move(work)}, reply_{std::move(reply)} {}

    std::unique_ptr<Waiter> run(std::size_t thread) override {
      try {
        reply_->set(work_(thread));
      } catch (std::exception const& e) {
        reply_->set(Error{Errc::internal, e.what()});
      }
      return std::move(reply_);
    }

   private:
    Work work_;
    std::unique_ptr<Reply<T>> reply_;
  };

  void push(std::unique_ptr<Job> job);
  void serve(std::size_t thread);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Job>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace runnel::base
