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

// What tells the series of one name apart. Values come from a set that is closed when the process has
// started, never from a client: each of them costs memory for as long as the process lives.
using Labels = std::vector<std::pair<std::string, std::string>>;

// Only grows. A default one counts nothing, for parts that nobody looks at.
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

// How much there is of something now. What one thread adds another may take away.
class Level {
 public:
  Level() = default;
  void add(std::int64_t n = 1) const;
  void subtract(std::int64_t n = 1) const { add(-n); }

 private:
  friend class Metrics;
  Level(Metrics& metrics, std::uint32_t cell) : metrics_{&metrics}, cell_{cell} {}

  Metrics* metrics_ = nullptr;
  std::uint32_t cell_ = 0;
};

// How often values fell below each of a few fixed bounds. Times are observed in nanoseconds and shown in
// seconds.
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
  std::uint32_t cell_ = 0;  // Of the first bucket; after the last one, which has no bound, comes the sum.
  std::uint32_t size_ = 0;
};

// Keeps a level raised while it lives.
class Raised {
 public:
  explicit Raised(Level const& level) : level_{level} { level_.add(); }
  Raised(Raised const&) = delete;
  Raised& operator=(Raised const&) = delete;
  ~Raised() { level_.subtract(); }

 private:
  Level const level_;
};

// All that the process counts, for operators (HTTP-7). Counting takes no lock and touches no line that
// another thread writes: each thread has cells of its own, and they are summed when someone asks. It must
// outlive whoever counts. Any thread may call anything.
//
// A name is made once for each set of labels; making it again, or in another form, throws, as does running
// out of cells: both are bugs that a first start shows.
class Metrics final : public prometheus::Collectable {
 public:
  Metrics();
  Metrics(Metrics const&) = delete;
  Metrics& operator=(Metrics const&) = delete;
  ~Metrics() override;

  Counter counter(std::string name, std::string help, Labels labels = {});
  Level level(std::string name, std::string help, Labels labels = {});
  // Bounds ascend.
  Histogram sizes(std::string name, std::string help, std::vector<std::int64_t> const& bounds,
                  Labels labels = {});
  Histogram times(std::string name, std::string help, std::vector<std::chrono::microseconds> const& bounds,
                  Labels labels = {});

  // Of this process: memory, CPU, descriptors, lost log lines, and of this build. Read when asked for.
  void add_process();

  // For an exposer of prometheus-cpp; ours is `text`.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  // In Prometheus' text form. Takes milliseconds where there are a thousand series, so not on a core.
  [[nodiscard]] std::string text() const;

 private:
  friend class Counter;
  friend class Level;
  friend class Histogram;

  using Cell = std::atomic<std::int64_t>;
  static constexpr std::size_t kCells = 4096;
  static constexpr std::size_t kPlaces = 128;  // Number 0 is no place, the last one is shared.
  struct alignas(64) Block {
    std::array<Cell, kCells> cells{};
  };
  struct Family;

  // The thread's place among the blocks; 0: it has not counted yet.
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
  mutable std::mutex mutex_;  // For all below.
  std::vector<std::unique_ptr<Family>> families_;
  std::uint32_t cells_used_ = 0;
  bool with_process_ = false;
};

inline void Counter::add(std::int64_t n) const {
  if (metrics_ != nullptr) metrics_->add(cell_, n);
}

inline void Level::add(std::int64_t n) const {
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
