#pragma once

#include <cstdint>

#include "runnel/store/call_rows.h"

namespace runnel::store {

// From inclusive, to exclusive, in milliseconds.
struct Instants {
  std::int64_t from = 0;
  std::int64_t to = 0;

  [[nodiscard]] bool empty() const { return from >= to; }
};

// What a report is put together from (USE-8): whole UTC days, counted from 1970, whose sums are kept, and
// what is left of the days at both ends, from the ledger itself.
struct UsageRange {
  std::int64_t first_day = 0;
  std::int64_t end_day = 0;  // Exclusive.
  Instants before;
  Instants after;

  [[nodiscard]] bool is_whole_days() const { return before.empty() && after.empty(); }
};

UsageRange range_of(UsageQuery const& query);

}  // namespace runnel::store
