#include "runnel/base/log/log.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runnel/base/log/log_line.h"
#include "runnel/base/log/log_queue.h"

namespace runnel::base {
namespace {

// The options before start_logging and after stop_logging.
constexpr LogOptions kUnstarted{LogLevel::warn, LogFormat::human};

std::atomic<LogLevel> level_now{kUnstarted.level};
std::atomic<LogFormat> format_now{kUnstarted.format};

std::atomic<LogQueue*> queue_now{nullptr};
std::atomic<bool> stderr_is_stuck{false};
// Without a queue, this keeps the several writes of a long line together.
std::mutex stderr_mutex;

// Keeps every queue until the process ends: a thread may be about to push a line into one that has stopped.
void keep(std::unique_ptr<LogQueue> queue) {
  static auto* const kept = new std::vector<std::unique_ptr<LogQueue>>;
  static std::mutex mutex;
  std::lock_guard const lock{mutex};
  kept->push_back(std::move(queue));
}

std::string dropped_line(std::int64_t lines) {
  return to_line(LogLevel::warn, format_now.load(std::memory_order_relaxed), "log lines were dropped",
                 {{"lines", lines}});
}

void set(LogOptions options) {
  level_now = options.level;
  format_now = options.format;
}

}  // namespace

void start_logging(LogOptions options) {
  set(options);
  if (queue_now.load() != nullptr) return;
  auto queue = std::make_unique<LogQueue>(STDERR_FILENO, kLogQueueBytes, &dropped_line);
  stderr_is_stuck = false;
  queue_now = queue.get();
  keep(std::move(queue));
}

void stop_logging(std::chrono::milliseconds patience) {
  auto* const queue = queue_now.exchange(nullptr);
  if (queue != nullptr) stderr_is_stuck = !queue->stop(patience);
  set(kUnstarted);
}

void log_text(std::string_view text) {
  if (auto* const queue = queue_now.load(std::memory_order_acquire)) return queue->push(text);
  if (stderr_is_stuck) return;
  std::lock_guard const lock{stderr_mutex};
  write_fully(STDERR_FILENO, text);
}

void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
  if (level < level_now.load(std::memory_order_relaxed)) return;
  log_text(to_line(level, format_now.load(std::memory_order_relaxed), event, fields));
}

std::int64_t dropped_log_lines() {
  return LogQueue::dropped();
}

}  // namespace runnel::base
