#include "runnel/base/log/log_queue.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <utility>

namespace runnel::base {
namespace {

std::atomic<std::int64_t> dropped_lines{0};

std::int64_t lines_in(std::string_view bytes) {
  return std::count(bytes.begin(), bytes.end(), '\n');
}

}  // namespace

struct LogQueue::State {
  State(int to, std::size_t most, Report on_dropped)
      : descriptor{to}, most_bytes{most}, report{std::move(on_dropped)} {}

  int const descriptor;
  std::size_t const most_bytes;
  Report const report;

  std::mutex mutex;  // Guards everything below. It is held for no longer than a copy takes.
  std::condition_variable changed;
  std::string waiting;
  std::int64_t untold = 0;  // Lines that were dropped and not reported yet.
  bool stopping = false;
  bool stopped = false;

  void drop(std::int64_t lines) {
    untold += lines;
    dropped_lines.fetch_add(lines, std::memory_order_relaxed);
  }

  // Runs on the queue's own thread until the queue stops.
  void write_all() {
    // A line that wakes this thread must not take the processor from the core that logged the line. As a
    // batch thread it waits for its turn, and all lines that arrive meanwhile go out in one write.
    sched_param const no_priority{};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &no_priority);
    std::string batch;
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [this] { return stopping || !waiting.empty() || untold > 0; });
      if (waiting.empty() && untold == 0) break;
      batch.clear();
      batch.swap(waiting);
      auto const told = std::exchange(untold, 0);
      lock.unlock();
      auto const written = write_fully(descriptor, batch);
      bool const good = written == batch.size() && (told == 0 || tell(told));
      lock.lock();
      if (good) continue;
      untold += told;
      drop(lines_in(std::string_view{batch}.substr(written)));
      // If the descriptor is broken, nothing is reported until the next line arrives.
      changed.wait(lock, [this] { return stopping || !waiting.empty(); });
      if (stopping) break;
    }
    stopped = true;
    changed.notify_all();
  }

  [[nodiscard]] bool tell(std::int64_t dropped) const {
    auto const line = report(dropped);
    return write_fully(descriptor, line) == line.size();
  }
};

LogQueue::LogQueue(int descriptor, std::size_t most_bytes, Report report)
    : state_{std::make_shared<State>(descriptor, most_bytes, std::move(report))} {
  // The thread inherits this mask, so that signals go to the other threads of the process.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread{[state = state_] { state->write_all(); }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogQueue::~LogQueue() {
  if (thread_.joinable()) stop(std::chrono::milliseconds{0});
}

void LogQueue::push(std::string_view line) {
  std::lock_guard const lock{state_->mutex};
  if (state_->stopping || state_->waiting.size() + line.size() > state_->most_bytes) {
    state_->drop(lines_in(line));
    return;
  }
  bool const was_empty = state_->waiting.empty();
  state_->waiting += line;
  if (was_empty) state_->changed.notify_one();
}

bool LogQueue::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock{state_->mutex};
  state_->stopping = true;
  state_->changed.notify_all();
  if (state_->changed.wait_for(lock, patience, [this] { return state_->stopped; })) {
    lock.unlock();
    thread_.join();
    return true;
  }
  state_->drop(lines_in(state_->waiting));
  state_->waiting.clear();
  lock.unlock();
  thread_.detach();
  return false;
}

std::int64_t LogQueue::dropped() {
  return dropped_lines.load(std::memory_order_relaxed);
}

std::size_t write_fully(int descriptor, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto const written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd waits{descriptor, POLLOUT, 0};  // Another process may have made it non-blocking.
      ::poll(&waits, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      break;
    }
  }
  return done;
}

}  // namespace runnel::base
