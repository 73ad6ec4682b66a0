#pragma once

#include <prometheus/collectable.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runnel::base {

class Metrics;

// Labels tell the series of one metric apart. Their values come from a set that is fixed once the process has
// started, and never from a client: each value costs memory for as long as the process lives.
using Labels = std::vector<std::pair<std::string, std::string>>;

// A count that only grows. A default-constructed counter counts nothing, for components without metrics.
class Counter {
 public:
  Counter() = default;
  void add(std::int64_t n = 1) const;

 private:
  friend class Metrics;
  Counter(Metrics& metrics, std::uint32_t cell) : metrics_{&metrics}, cell_{cell} {}

  Metrics* metrics_ = nullptr;
  std::uint32_t cell_ = 0;
};

// The current amount of something. One thread may subtract what another has added.
class Gauge {
 public:
  Gauge() = default;
  void add(std::int64_t n = 1) const;
  void subtract(std::int64_t n = 1) const { add(-n); }

 private:
  friend class Metrics;
  Gauge(Metrics& metrics, std::uint32_t cell) : metrics_{&metrics}, cell_{cell} {}

  Metrics* metrics_ = nullptr;
  std::uint32_t cell_ = 0;
};

// Counts how many values are at or below each of a few fixed bounds. Times are observed in nanoseconds and
// shown in seconds.
class Histogram {
 public:
  Histogram() = default;
  void observe(std::int64_t value) const;
  void observe(std::chrono::nanoseconds time) const { observe(time.count()); }

 private:
  friend class Metrics;
  Histogram(Metrics& metrics, std::uint32_t cell, std::vector<std::int64_t> const& bounds)
      : metrics_{&metrics},
        bounds_{bounds.data()},
        cell_{cell},
        size_{static_cast<std::uint32_t>(bounds.size())} {}

  Metrics* metrics_ = nullptr;
  std::int64_t const* bounds_ = nullptr;
  std::uint32_t cell_ =
      0;  // The first bucket's cell. The sum comes after the last bucket, which has no bound.
  std::uint32_t size_ = 0;
};

// Keeps a gauge raised by one as long as this object exists.
class Raised {
 public:
  explicit Raised(Gauge const& gauge) : gauge_{gauge} { gauge_.add(); }
  Raised(Raised const&) = delete;
  Raised& operator=(Raised const&) = delete;
  ~Raised() { gauge_.subtract(); }

 private:
  Gauge const gauge_;
};

// Everything that the process counts, for operators (HTTP-7). Counting takes no lock and touches no cache
// line that another thread writes: each thread has its own cells, and they are summed on request. This object
// must outlive all of its counters, gauges and histograms. Any thread may call any function.
//
// A name is registered once for each set of labels. Registering it again or in another form throws, and so
// does running out of cells. These are bugs, and the first start shows them.
class Metrics final : public prometheus::Collectable {
 public:
  Metrics();
  Metrics(Metrics const&) = delete;
  Metrics& operator=(Metrics const&) = delete;
  ~Metrics() override;

  Counter counter(std::string name, std::string help, Labels labels = {});
  Gauge gauge(std::string name, std::string help, Labels labels = {});
  // The bounds must be in ascending order.
  Histogram sizes(std::string name, std::string help, std::vector<std::int64_t> const& bounds,
                  Labels labels = {});
  Histogram times(std::string name, std::string help, std::vector<std::chrono::microseconds> const& bounds,
                  Labels labels = {});

  // Adds the metrics of this process (memory, CPU, descriptors, dropped log lines) and of this build. They
  // are read on request.
  void add_process();

  // For an exposer of prometheus-cpp. The server itself uses `text`.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  // All metrics in Prometheus' text format. With a thousand series it takes milliseconds, so do not call it
  // on a core.
  [[nodiscard]] std::string text() const;

 private:
  friend class Counter;
  friend class Gauge;
  friend class Histogram;

  using Cell = std::atomic<std::int64_t>;
  static constexpr std::size_t kCells = 4096;
  static constexpr std::size_t kPlaces = 128;  // Number 0 is not a place, and the last place is shared.
  struct alignas(64) Block {
    std::array<Cell, kCells> cells{};
  };
  struct Family;

  // The thread's place among the blocks. 0 if the thread has not counted yet.
  static inline constinit thread_local std::uint32_t place_ = 0;
  class Places;

  void add(std::uint32_t cell, std::int64_t n) {
    auto* const block = blocks_[place_].load(std::memory_order_acquire);
    if (block == nullptr) return add_first(cell, n);
    add_to(block->cells[cell], n);
  }
  static void add_to(Cell& cell, std::int64_t n) {
    if (place_ == kPlaces - 1) {
      cell.fetch_add(n, std::memory_order_relaxed);
    } else {
      cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
  }
  void add_first(std::uint32_t cell, std::int64_t n);
  std::pair<Family*, std::uint32_t> make(Family family, Labels labels);
  [[nodiscard]] std::int64_t sum(std::uint32_t cell) const;

  std::array<std::atomic<Block*>, kPlaces> blocks_{};
  mutable std::mutex mutex_;  // Guards everything below.
  std::vector<std::unique_ptr<Family>> families_;
  std::uint32_t cells_used_ = 0;
  bool with_process_ = false;
};

inline void Counter::add(std::int64_t n) const {
  if (metrics_ != nullptr) metrics_->add(cell_, n);
}

inline void Gauge::add(std::int64_t n) const {
  if (metrics_ != nullptr) metrics_->add(cell_, n);
}

inline void Histogram::observe(std::int64_t value) const {
  if (metrics_ == nullptr) return;
  std::uint32_t bucket = 0;
  while (bucket < size_ && value > bounds_[bucket])
    ++bucket;
  metrics_->add(cell_ + bucket, 1);
  metrics_->add(cell_ + size_ + 1, value);
}

}  // namespace runnel::base
