#include "runnel/store/usage_range.h"

#include <algorithm>
#include <limits>

namespace runnel::store {

namespace {

constexpr std::int64_t kDay = 86'400'000;
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

}  // namespace

UsageRange range_of(UsageQuery const& query) {
  auto const from = std::clamp<std::int64_t>(query.from.value_or(0), 0, kForever - kDay);
  auto const to = query.to.value_or(kForever);
  auto const first = from / kDay + (from % kDay != 0 ? 1 : 0);
  auto const end = query.to ? to / kDay : kForever;
  UsageRange range;
  if (first >= end) {
    range.before = {from, to};
    return range;
  }
  range.first_day = first;
  range.end_day = end;
  range.before = {from, first * kDay};
  if (query.to) range.after = {end * kDay, to};
  return range;
}

}  // namespace runnel::store
