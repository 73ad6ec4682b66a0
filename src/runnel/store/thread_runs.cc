#include "runnel/store/thread_runs.h"

#include <cstdint>
#include <string_view>

namespace runnel::store {

namespace {

constexpr std::string_view kNext = R"sql(
SELECT r.id, r.epoch, CASE WHEN EXISTS(
  SELECT 1 FROM runs x WHERE x.thread_id = $1 AND x.epoch > $2 AND x.epoch < r.epoch AND x.id <> $3 AND x.log_expired
    AND (x.started_at IS NOT NULL OR x.status <> 'canceled')) THEN 1 ELSE 0 END
FROM runs r
WHERE r.thread_id = $1 AND r.epoch > $2 AND r.id <> $3 AND NOT r.log_expired
  AND (r.started_at IS NOT NULL OR r.status <> 'canceled')
ORDER BY r.epoch LIMIT 1)sql";

constexpr std::string_view kNewest = R"sql(
SELECT id, epoch FROM runs
WHERE thread_id = $1 AND epoch > 0 AND (started_at IS NOT NULL OR status <> 'canceled')
ORDER BY epoch DESC LIMIT 1)sql";

// A run's row has its newest epoch, so the run is the first one whose newest epoch is not below the wanted
// one. A run that was canceled in the queue took its epoch while another was active.
constexpr std::string_view kWithEpoch = R"sql(
SELECT r.id FROM (SELECT id FROM runs WHERE thread_id = $1 AND epoch >= $2
                    AND (epoch = $2 OR started_at IS NOT NULL OR status <> 'canceled') ORDER BY epoch LIMIT 1) r
JOIN run_epochs e ON e.run_id = r.id AND e.epoch = $2)sql";

std::optional<BegunRun> to_begun_run(SqlResult const& found) {
  if (found.empty()) return std::nullopt;
  return BegunRun{RunKey{found.integer(0, 0)}, static_cast<Epoch>(found.integer(0, 1)), false};
}

}  // namespace

Async<std::optional<BegunRun>> ThreadRuns::next(ThreadKey thread, Epoch after, RunKey read) {
  auto const found =
      co_await sql_->read(statement(kNext, thread.value, static_cast<std::int64_t>(after), read.value));
  if (!found) co_return found.error();
  auto run = to_begun_run(*found);
  if (run) run->expired_before = found->integer(0, 2) != 0;
  co_return run;
}

Async<std::optional<BegunRun>> ThreadRuns::newest(ThreadKey thread) {
  auto const found = co_await sql_->read(statement(kNewest, thread.value));
  if (!found) co_return found.error();
  co_return to_begun_run(*found);
}

Async<std::optional<RunKey>> ThreadRuns::with_epoch(ThreadKey thread, Epoch epoch) {
  auto const found =
      co_await sql_->read(statement(kWithEpoch, thread.value, static_cast<std::int64_t>(epoch)));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return RunKey{found->integer(0, 0)};
}

}  // namespace runnel::store
