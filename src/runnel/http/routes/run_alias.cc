#include "runnel/http/routes/run_alias.h"

#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/fact/fact_json.h"

namespace runnel::http {

namespace {

// Small, because the log is searched on the reader's core.
constexpr std::size_t kAliasPageBytes = std::size_t{64} * 1024;

// Rows without this text have no such fact. They are not parsed, because anybody may ask for an id that the
// run never had.
constexpr char kResumed[] = R"("fact":"run_resumed")";

bool resumes_as(Record const& record, RunId const& alias) {
  auto const* const resumed = std::get_if<RunResumed>(&record.fact);
  return resumed != nullptr && resumed->alias == alias;
}

// The position before the fact with which the run goes on under this id.
store::Async<std::optional<Position>> place_of(store::Store& store, RunKey run, RunId alias) {
  Position last;
  for (;;) {
    auto const rows = co_await store.read_log(run, last.n, kAliasPageBytes);
    if (!rows) co_return rows.error();
    bool const has_more = !rows->empty() && rows->back().last_n > last.n;
    if (!has_more) co_return std::nullopt;
    for (auto const& row : *rows) {
      if (row.body.find(kResumed) == std::string::npos) {
        last = {row.epoch, row.last_n};
        continue;
      }
      auto const records = parse_log_body(row.body, row.epoch);
      if (!records) co_return records.error();
      for (auto const& record : *records) {
        if (resumes_as(record, alias)) co_return last;
        last = record.position;
      }
    }
  }
}

NamedRun as_found(store::RunRow row) {
  auto const before = row.before_alias;
  return {std::move(row), before};
}

NamedRun by_old_alias(store::RunRow row, Position before) {
  return {std::move(row), before};
}

}  // namespace

store::Async<std::optional<NamedRun>> find_named_run(store::Store& store, UserId owner, ThreadId thread,
                                                     RunId id) {
  auto found = co_await store.find_run(owner, thread, id);
  if (!found) co_return found.error();
  if (*found) co_return as_found(std::move(**found));
  // The aliases of an older version were all made from the run's id, and are only in its log.
  auto const own = base_of_alias(id);
  if (own.empty()) co_return std::nullopt;
  auto base = co_await store.find_run(owner, thread, own);
  if (!base) co_return base.error();
  if (!*base) co_return std::nullopt;
  auto const place = co_await place_of(store, (*base)->key, id);
  if (!place) co_return place.error();
  if (!*place) co_return std::nullopt;
  co_return by_old_alias(std::move(**base), **place);
}

}  // namespace runnel::http
