#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/fact_order.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The end of a run's log: the one place where facts are checked, get their numbers and become the body of a
// row. A copy lets a writer prepare two alternative endings of a run.
class LogTail {
 public:
  // The tail of an empty log. The first facts do not depend on the epoch, so they can be written in the
  // transaction that creates the epoch.
  LogTail() : order_{FactOrder{}} {}

  // The tail of a log whose last fact has the number `last_n`; `order` is the state after that fact.
  LogTail(Epoch epoch, std::uint64_t last_n, std::int64_t next_idx, FactOrder order)
      : order_{std::move(order)}, epoch_{epoch}, last_n_{last_n}, next_idx_{next_idx} {}

  // The tail of a log that cannot be read: it is unknown which facts may follow, so every fact is accepted.
  static LogTail of_unreadable(std::uint64_t last_n, std::int64_t next_idx);

  // Fails with `internal` on a fact that no dialect could show in this place; then nothing changes.
  Result<Record> add(Fact fact, std::int64_t now_us);

  // Returns what was added since the last call as one row of the log.
  store::LogBatch take();

  // Sets the epoch that a claim gave to the run.
  void set_epoch(Epoch epoch) { epoch_ = epoch; }

  // Only for a log that can be read.
  [[nodiscard]] FactOrder const& order() const { return *order_; }
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t last_n() const { return last_n_; }
  [[nodiscard]] bool empty() const { return body_.empty(); }  // True if nothing was added since `take`.
  [[nodiscard]] std::size_t size() const { return body_.size(); }

 private:
  std::optional<FactOrder> order_;  // Empty if the log cannot be read.
  Epoch epoch_ = 0;
  std::uint64_t last_n_ = 0;
  std::int64_t next_idx_ = 0;
  std::uint64_t first_n_ = 0;  // The first number that was added since `take`.
  std::string body_;
};

}  // namespace runnel::runtime
