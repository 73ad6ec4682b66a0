#include "runnel/base/metrics/metrics.h"

#include <prometheus/check_names.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "runnel/base/log/log.h"
#include "runnel/base/metrics/process_stats.h"

namespace runnel::base {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Metrics::Family {
  std::string name;
  std::string help;
  MetricType type = MetricType::Counter;
  std::vector<std::int64_t> bounds;  // Only a histogram has bounds.
  double unit = 1;                   // The exported value of one counted unit.
  std::vector<std::pair<Labels, std::uint32_t>> series;

  [[nodiscard]] std::size_t cells() const { return type == MetricType::Histogram ? bounds.size() + 2 : 1; }
};

// Gives each thread its place. Like thread ids, places belong to the process: a thread has the same place in
// every `Metrics`, and the next thread that gets the place continues to count in the same cells.
class Metrics::Places {
 public:
  // Gives the calling thread a place until the thread ends. It is the shared place if all others are taken.
  static void take() {
    thread_local Places::Lease const lease;
    static_cast<void>(lease);
  }

 private:
  struct Pool {
    std::mutex mutex;
    std::vector<std::uint32_t> free;
    std::uint32_t next = 1;
  };
  static Pool& pool() {
    static Pool* const kept = new Pool;  // Never deleted: threads may end after static objects are destroyed.
    return *kept;
  }

  class Lease {
   public:
    Lease() {
      std::lock_guard const lock{pool().mutex};
      auto& free = pool().free;
      if (!free.empty()) {
        place_ = free.back();
        free.pop_back();
      } else {
        place_ = pool().next < kPlaces - 1 ? pool().next++ : kPlaces - 1;
      }
    }
    Lease(Lease const&) = delete;
    Lease& operator=(Lease const&) = delete;
    ~Lease() {
      auto const place = std::exchange(place_, kPlaces - 1);
      if (place == kPlaces - 1) return;
      std::lock_guard const lock{pool().mutex};
      pool().free.push_back(place);
    }
  };
};

Metrics::Metrics() = default;

Metrics::~Metrics() {
  for (auto& block : blocks_)
    delete block.load();
}

// Another thread may be creating the block of the shared place at the same time.
void Metrics::add_first(std::uint32_t cell, std::int64_t n) {
  if (place_ == 0) Places::take();
  auto& place = blocks_[place_];
  if (place.load(std::memory_order_acquire) == nullptr) {
    auto fresh = std::make_unique<Block>();
    Block* expected = nullptr;
    if (place.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
      static_cast<void>(fresh.release());
  }
  add_to(place.load(std::memory_order_acquire)->cells[cell], n);
}

std::pair<Metrics::Family*, std::uint32_t> Metrics::make(Family family, Labels labels) {
  std::lock_guard const lock{mutex_};
  if (!prometheus::CheckMetricName(family.name))
    throw std::logic_error("not a valid name for a metric: " + family.name);
  auto found = std::find_if(families_.begin(), families_.end(),
                            [&](auto const& other) { return other->name == family.name; });
  if (found == families_.end()) {
    families_.push_back(std::make_unique<Family>(std::move(family)));
    found = families_.end() - 1;
  } else if ((*found)->type != family.type || (*found)->bounds != family.bounds ||
             (*found)->help != family.help) {
    throw std::logic_error("a metric is registered in two forms: " + family.name);
  }
  auto& kept = **found;
  for (auto const& [other, cell] : kept.series) {
    if (other == labels) throw std::logic_error("a metric is registered twice: " + kept.name);
  }
  if (cells_used_ + kept.cells() > kCells)
    throw std::logic_error("no cells are left for the metric " + kept.name);
  auto const cell = cells_used_;
  cells_used_ += static_cast<std::uint32_t>(kept.cells());
  kept.series.emplace_back(std::move(labels), cell);
  return {&kept, cell};
}

Counter Metrics::counter(std::string name, std::string help, Labels labels) {
  auto const made =
      make({std::move(name), std::move(help), MetricType::Counter, {}, 1, {}}, std::move(labels));
  return {*this, made.second};
}

Gauge Metrics::gauge(std::string name, std::string help, Labels labels) {
  auto const made = make({std::move(name), std::move(help), MetricType::Gauge, {}, 1, {}}, std::move(labels));
  return {*this, made.second};
}

Histogram Metrics::sizes(std::string name, std::string help, std::vector<std::int64_t> const& bounds,
                         Labels labels) {
  auto const made =
      make({std::move(name), std::move(help), MetricType::Histogram, bounds, 1, {}}, std::move(labels));
  return {*this, made.second, made.first->bounds};
}

Histogram Metrics::times(std::string name, std::string help,
                         std::vector<std::chrono::microseconds> const& bounds, Labels labels) {
  std::vector<std::int64_t> nanoseconds;
  nanoseconds.reserve(bounds.size());
  for (auto const bound : bounds)
    nanoseconds.push_back(std::chrono::nanoseconds{bound}.count());
  auto const made =
      make({std::move(name), std::move(help), MetricType::Histogram, std::move(nanoseconds), 1e-9, {}},
           std::move(labels));
  return {*this, made.second, made.first->bounds};
}

void Metrics::add_process() {
  std::lock_guard const lock{mutex_};
  with_process_ = true;
}

std::int64_t Metrics::sum(std::uint32_t cell) const {
  std::int64_t total = 0;
  for (auto const& place : blocks_) {
    auto const* const block = place.load(std::memory_order_acquire);
    if (block != nullptr) total += block->cells[cell].load(std::memory_order_relaxed);
  }
  return total;
}

namespace {

ClientMetric::Histogram histogram(std::vector<std::int64_t> const& counts,
                                  std::vector<std::int64_t> const& bounds, std::int64_t total, double unit) {
  ClientMetric::Histogram out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.sample_count += static_cast<std::uint64_t>(counts[i]);
    auto const bound =
        i < bounds.size() ? static_cast<double>(bounds[i]) * unit : std::numeric_limits<double>::infinity();
    out.bucket.push_back({out.sample_count, bound});
  }
  out.sample_sum = static_cast<double>(total) * unit;
  return out;
}

MetricFamily single(char const* name, char const* help, MetricType type, double value,
                    Labels const& labels = {}) {
  MetricFamily family{name, help, type, {}};
  auto& metric = family.metric.emplace_back();
  metric.counter.value = value;
  metric.gauge.value = value;
  for (auto const& [key, text] : labels)
    metric.label.push_back({key, text});
  return family;
}

void append_process(std::vector<MetricFamily>& out) {
  auto const stats = read_process_stats();
  auto const gauge = [&out](char const* name, char const* help, double value) {
    out.push_back(single(name, help, MetricType::Gauge, value));
  };
  out.push_back(single("process_cpu_seconds_total", "User and system CPU time spent in seconds.",
                       MetricType::Counter, stats.cpu_seconds));
  gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
        static_cast<double>(stats.resident_bytes));
  gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.",
        static_cast<double>(stats.virtual_bytes));
  gauge("process_open_fds", "Number of open file descriptors.", static_cast<double>(stats.open_fds));
  gauge("process_max_fds", "Maximum number of open file descriptors.", static_cast<double>(stats.max_fds));
  gauge("process_start_time_seconds", "Start time of the process since the Unix epoch in seconds.",
        stats.start_time_seconds);
  out.push_back(single("runnel_log_lines_dropped_total", "Log lines that stderr did not accept in time.",
                       MetricType::Counter, static_cast<double>(dropped_log_lines())));
  out.push_back(single("runnel_build_info", "Always 1; the label has the version that is running.",
                       MetricType::Gauge, 1, {{"version", RUNNEL_VERSION}}));
}

}  // namespace

std::vector<MetricFamily> Metrics::Collect() const {
  std::vector<MetricFamily> out;
  std::lock_guard const lock{mutex_};
  for (auto const& family : families_) {
    MetricFamily shown{family->name, family->help, family->type, {}};
    for (auto const& [labels, cell] : family->series) {
      auto& metric = shown.metric.emplace_back();
      for (auto const& [key, value] : labels)
        metric.label.push_back({key, value});
      if (family->type == MetricType::Histogram) {
        std::vector<std::int64_t> counts;
        for (std::uint32_t i = 0; i <= family->bounds.size(); ++i)
          counts.push_back(sum(cell + i));
        auto const total = sum(cell + static_cast<std::uint32_t>(family->bounds.size()) + 1);
        metric.histogram = histogram(counts, family->bounds, total, family->unit);
        continue;
      }
      // The cells are not all read at the same moment, so a subtraction by one thread may be seen without the
      // addition by another.
      auto const value = static_cast<double>(std::max<std::int64_t>(sum(cell), 0));
      metric.counter.value = value;
      metric.gauge.value = value;
    }
    out.push_back(std::move(shown));
  }
  if (with_process_) append_process(out);
  return out;
}

std::string Metrics::text() const {
  return prometheus::TextSerializer{}.Serialize(Collect());
}

}  // namespace runnel::base
