#include "runnel/base/fair_pool.h"

namespace runnel::base {

FairPool::FairPool(std::size_t threads, std::size_t most_waiting) : most_waiting_{most_waiting} {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this] { serve(); });
}

FairPool::~FairPool() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_)
    thread.join();
}

void FairPool::push(std::string key, std::unique_ptr<Job> job) {
  {
    std::unique_lock lock{mutex_};
    auto const [mine, is_first] = waiting_.try_emplace(key);
    if (is_first) {
      due_.emplace_back(std::move(key), std::move(job));
    } else if (mine->second.size() < most_waiting_) {
      mine->second.push_back(std::move(job));
    } else {
      lock.unlock();
      return resume_one(job->refuse());
    }
  }
  wake_.notify_one();
}

void FairPool::serve() {
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [this] { return !due_.empty() || (stopping_ && waiting_.empty()); });
    if (due_.empty()) return;
    auto [key, job] = std::move(due_.front());
    due_.pop_front();
    lock.unlock();
    resume_one(job->run());
    job.reset();
    lock.lock();

    auto const mine = waiting_.find(key);
    if (mine->second.empty()) {
      waiting_.erase(mine);
      if (stopping_ && waiting_.empty()) wake_.notify_all();
      continue;
    }
    due_.emplace_back(std::move(key), std::move(mine->second.front()));
    mine->second.pop_front();
    wake_.notify_one();
  }
}

}  // namespace runnel::base
