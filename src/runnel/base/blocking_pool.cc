#include "runnel/base/blocking_pool.h"

namespace runnel::base {

BlockingPool::BlockingPool(std::size_t threads) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i] { serve(i); });
  }
}

BlockingPool::~BlockingPool() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    thread.join();
  }
}

void BlockingPool::push(std::unique_ptr<Job> job) {
  {
    std::lock_guard const lock{mutex_};
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void BlockingPool::serve(std::size_t thread) {
  while (true) {
    std::unique_ptr<Job> job;
    {
      std::unique_lock lock{mutex_};
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    resume_one(job->run(thread));
  }
}

}  // namespace runnel::base
