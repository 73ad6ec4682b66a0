#pragma once

#include <cstdint>

#include "runnel/store/call_rows.h"

namespace runnel::store {

// In milliseconds; `from` is inclusive, `to` is exclusive.
struct Instants {
  std::int64_t from = 0;
  std::int64_t to = 0;

  [[nodiscard]] bool empty() const { return from >= to; }
};

// The parts of a report (USE-8): whole UTC days, counted from 1970, whose sums are stored, and the partial
// days at both ends, which are read from the ledger itself.
struct UsageRange {
  std::int64_t first_day = 0;
  std::int64_t end_day = 0;  // Exclusive.
  Instants before;
  Instants after;

  [[nodiscard]] bool is_whole_days() const { return before.empty() && after.empty(); }
};

UsageRange range_of(UsageQuery const& query);

}  // namespace runnel::store
