#include "runnel/http/routes/tasks/log_place.h"

#include <optional>
#include <vector>

#include "runnel/core/fact/fact_json.h"

namespace runnel::http {

namespace {

constexpr std::size_t kSearchedPage = std::size_t{64} * 1024;
constexpr std::size_t kParsedOnCore = std::size_t{8} * 1024;

// Moves `after` over the facts before the event. True if the event was found.
Result<bool> pass(std::vector<store::LogRow> const& rows, std::int64_t idx, Position& after) {
  for (auto const& row : rows) {
    auto const records = parse_log_body(row.body, row.epoch);
    if (!records) return records.error();
    for (auto const& record : *records) {
      if (record.position.n <= after.n) continue;
      if (record.idx >= idx) return true;
      after = record.position;
    }
  }
  return rows.empty();
}

}  // namespace

bool are_small(std::vector<store::LogRow> const& rows) {
  std::size_t bytes = 0;
  for (auto const& row : rows)
    bytes += row.body.size();
  return bytes <= kParsedOnCore;
}

store::Async<Position> place_before_event(FeedParts parts, UserId user, RunKey run, std::int64_t idx) {
  if (idx == 0) co_return Position{};
  auto const place = co_await parts.store.place_of_idx(run, idx);
  if (!place) co_return place.error();
  auto after = place->after;
  bool found = place->next_idx == idx;
  while (!found) {
    auto const rows = co_await parts.store.read_log(run, after.n, kSearchedPage);
    if (!rows) co_return rows.error();
    auto const search = [&] { return pass(*rows, idx, after); };
    Result<bool> passed = true;
    if (are_small(*rows)) {
      passed = search();
    } else {
      passed = co_await parts.replaying.run<bool>(user.text, search);
    }
    if (!passed) co_return passed.error();
    found = *passed;
  }
  co_return after;
}

}  // namespace runnel::http
