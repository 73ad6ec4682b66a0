#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "runnel/http/http_metrics.h"

namespace runnel::http {

// How many connections are open on all cores, and how many of them are silent: their first request has not
// arrived. Any thread may call it.
class ConnectionCount {
 public:
  struct Caps {
    std::size_t open = 0;
    std::size_t silent = 0;
  };

  explicit ConnectionCount(Caps caps, HttpMetrics counted = {}) : metrics{counted}, caps_{caps} {}
  ConnectionCount(ConnectionCount const&) = delete;
  ConnectionCount& operator=(ConnectionCount const&) = delete;

  HttpMetrics const metrics;

  [[nodiscard]] Caps caps() const { return caps_; }
  [[nodiscard]] std::size_t open() const { return open_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t silent() const { return silent_.load(std::memory_order_relaxed); }

  // Whether a connection has to be closed, and whether closing helps only if it is a silent one. `slack` is
  // how many connections are tolerated above the caps.
  [[nodiscard]] bool is_crowded(std::size_t slack = 0) const {
    return open() > caps_.open + slack || is_silence_crowded(slack);
  }
  [[nodiscard]] bool is_silence_crowded(std::size_t slack = 0) const {
    return silent() > caps_.silent + slack;
  }

 private:
  friend class ConnectionEntry;

  Caps const caps_;
  std::atomic<std::size_t> open_{0};
  std::atomic<std::size_t> silent_{0};
};

// One connection's entry in the count, silent at first. It moves together with the socket and is given up
// with it.
class ConnectionEntry {
 public:
  ConnectionEntry() = default;  // Without a connection.
  explicit ConnectionEntry(ConnectionCount& count) : count_{&count}, silent_{true} {
    count.metrics.connections.add();
    count.open_.fetch_add(1, std::memory_order_relaxed);
    count.silent_.fetch_add(1, std::memory_order_relaxed);
  }
  ConnectionEntry(ConnectionEntry&& other) noexcept
      : count_{std::exchange(other.count_, nullptr)}, silent_{std::exchange(other.silent_, false)} {}
  ConnectionEntry& operator=(ConnectionEntry&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(silent_, other.silent_);
    return *this;
  }
  ~ConnectionEntry() { give_up(); }

  // The connection has sent something that gets an answer, so it is not silent.
  void prove() {
    if (!std::exchange(silent_, false)) return;
    count_->silent_.fetch_sub(1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_silent() const { return silent_; }

  // The server is filling up, so no connection should be kept longer than necessary.
  [[nodiscard]] bool is_wanted_by_others() const {
    return count_ != nullptr && count_->open() > count_->caps().open / 2;
  }

  void give_up() {
    prove();
    if (count_ == nullptr) return;
    count_->metrics.connections.subtract();
    count_->open_.fetch_sub(1, std::memory_order_relaxed);
    count_ = nullptr;
  }

 private:
  ConnectionCount* count_ = nullptr;
  bool silent_ = false;
};

}  // namespace runnel::http
