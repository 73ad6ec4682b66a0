#include "runnel/http/routes/tasks/log_place.h"

#include <optional>
#include <vector>

#include "runnel/core/fact/fact_json.h"

namespace runnel::http {

namespace {

constexpr std::size_t kSearchedPage = std::size_t{64} * 1024;

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

store::Async<Position> place_before_event(store::Store& store, RunKey run, std::int64_t idx) {
  if (idx == 0) co_return Position{};
  auto const place = co_await store.place_of_idx(run, idx);
  if (!place) co_return place.error();
  auto after = place->after;
  bool found = place->next_idx == idx;
  while (!found) {
    auto const rows = co_await store.read_log(run, after.n, kSearchedPage);
    if (!rows) co_return rows.error();
    auto const passed = pass(*rows, idx, after);
    if (!passed) co_return passed.error();
    found = *passed;
  }
  co_return after;
}

}  // namespace runnel::http
