#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "runnel/http/http_metrics.h"

namespace runnel::http {

// How many connections are open on all cores, and how many of them are silent: their first request has not
// arrived. Any thread may ask.
class Census {
 public:
  struct Caps {
    std::size_t open = 0;
    std::size_t silent = 0;
  };

  explicit Census(Caps caps, HttpMetrics counted = {}) : metrics{counted}, caps_{caps} {}
  Census(Census const&) = delete;
  Census& operator=(Census const&) = delete;

  HttpMetrics const metrics;

  [[nodiscard]] Caps caps() const { return caps_; }
  [[nodiscard]] std::size_t open() const { return open_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t silent() const { return silent_.load(std::memory_order_relaxed); }

  // Whether someone has to go, and whether only a silent connection's going would help. `slack` is how many
  // are tolerated above the caps.
  [[nodiscard]] bool is_crowded(std::size_t slack = 0) const {
    return open() > caps_.open + slack || is_silence_crowded(slack);
  }
  [[nodiscard]] bool is_silence_crowded(std::size_t slack = 0) const {
    return silent() > caps_.silent + slack;
  }

 private:
  friend class Place;

  Caps const caps_;
  std::atomic<std::size_t> open_{0};
  std::atomic<std::size_t> silent_{0};
};

// One connection's entry in the census, silent at first. It goes where the socket goes and is given up with
// it.
class Place {
 public:
  Place() = default;  // None.
  explicit Place(Census& census) : census_{&census}, silent_{true} {
    census.metrics.connections.add();
    census.open_.fetch_add(1, std::memory_order_relaxed);
    census.silent_.fetch_add(1, std::memory_order_relaxed);
  }
  Place(Place&& other) noexcept
      : census_{std::exchange(other.census_, nullptr)}, silent_{std::exchange(other.silent_, false)} {}
  Place& operator=(Place&& other) noexcept {
    std::swap(census_, other.census_);
    std::swap(silent_, other.silent_);
    return *this;
  }
  ~Place() { give_up(); }

  // It has sent something that is answered.
  void prove() {
    if (!std::exchange(silent_, false)) return;
    census_->silent_.fetch_sub(1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_silent() const { return silent_; }

  // The server fills up, so that a connection should not be kept out of politeness.
  [[nodiscard]] bool is_wanted_by_others() const {
    return census_ != nullptr && census_->open() > census_->caps().open / 2;
  }

  void give_up() {
    prove();
    if (census_ == nullptr) return;
    census_->metrics.connections.subtract();
    census_->open_.fetch_sub(1, std::memory_order_relaxed);
    census_ = nullptr;
  }

 private:
  Census* census_ = nullptr;
  bool silent_ = false;
};

}  // namespace runnel::http
