#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runnel/base/log/log.h"
#include "runnel/store/sqlite/intents.h"

// Deletes rows, one bounded piece at a time: purge. An entry of `purges` is handled in steps of a few rows,
// each in a savepoint. If a step fails, only its own rows are restored, and its entry moves behind all
// others.
namespace runnel::store::sqlite {

namespace {

// Each statement deletes only a few rows, so that the clock is checked often enough, however long their texts
// are.
constexpr std::string_view kDeleteLog =
    "DELETE FROM log WHERE rowid IN (SELECT rowid FROM log WHERE run_id = ?1 LIMIT 8)";
constexpr std::string_view kDeleteCheckpoints =
    "DELETE FROM checkpoints WHERE rowid IN (SELECT rowid FROM checkpoints WHERE run_id = ?1 LIMIT 8)";
constexpr std::string_view kDeleteToolCalls =
    "DELETE FROM tool_calls WHERE run_id = ?1 AND id IN (SELECT id FROM tool_calls WHERE run_id = ?1 LIMIT "
    "8)";
constexpr std::string_view kDeleteApprovals =
    "DELETE FROM approvals WHERE run_id = ?1 AND call_id IN "
    "(SELECT call_id FROM approvals WHERE run_id = ?1 LIMIT 8)";
constexpr std::string_view kDeleteMessages =
    "DELETE FROM agent_chat_messages WHERE id IN "
    "(SELECT id FROM agent_chat_messages WHERE run_id = ?1 LIMIT 8)";
constexpr std::string_view kDeleteEpochs =
    "DELETE FROM run_epochs WHERE run_id = ?1 AND epoch IN "
    "(SELECT epoch FROM run_epochs WHERE run_id = ?1 LIMIT 8)";
constexpr std::string_view kDeleteAliases =
    "DELETE FROM run_aliases WHERE run_id = ?1 AND call_id IN "
    "(SELECT call_id FROM run_aliases WHERE run_id = ?1 LIMIT 8)";
constexpr std::string_view kReleaseCalls =
    "UPDATE model_calls SET run_id = NULL WHERE row_no IN "
    "(SELECT row_no FROM model_calls WHERE run_id = ?1 LIMIT 8)";

struct Purge {
  std::int64_t number = 0;
  std::optional<std::int64_t> run;  // The run whose log is deleted. Empty if a thread is deleted.
  std::int64_t thread = 0;
};

std::optional<Purge> next_purge(Db& db, std::int64_t before) {
  Query query{db, "SELECT number, run_id, thread_id FROM purges WHERE number < ?1 ORDER BY number LIMIT 1",
              before};
  if (!query.next()) return std::nullopt;
  Purge purge;
  purge.number = query.integer(0);
  if (!query.is_null(1)) purge.run = query.integer(1);
  purge.thread = query.integer(2);
  return purge;
}

std::int64_t finish(Db& db, Purge const& purge) {
  return db.run("DELETE FROM purges WHERE number = ?1", purge.number);
}

std::optional<std::int64_t> some_run_of(Db& db, std::int64_t thread) {
  Query query{db, "SELECT id FROM runs WHERE thread_id = ?1 LIMIT 1", thread};
  return query.next() ? std::optional{query.integer(0)} : std::nullopt;
}

std::int64_t delete_some_log(Db& db, std::int64_t run) {
  for (auto const statement : {kDeleteLog, kDeleteCheckpoints, kDeleteToolCalls, kDeleteApprovals}) {
    if (auto const rows = db.run(statement, run); rows > 0) return rows;
  }
  return 0;
}

// The owner gets the storage back when the last row is deleted.
std::int64_t step_log(Db& db, Purge const& purge) {
  if (auto const rows = delete_some_log(db, *purge.run); rows > 0) return rows;
  db.run(
      "UPDATE storage_totals SET bytes = bytes - (SELECT log_bytes FROM runs WHERE id = ?1) "
      "WHERE owner_id = (SELECT owner_id FROM runs WHERE id = ?1)",
      *purge.run);
  db.run("UPDATE runs SET log_bytes = 0 WHERE id = ?1", *purge.run);
  return finish(db, purge);
}

std::int64_t step_run(Db& db, std::int64_t run) {
  if (auto const rows = delete_some_log(db, run); rows > 0) return rows;
  for (auto const statement : {kDeleteMessages, kDeleteEpochs, kDeleteAliases, kReleaseCalls}) {
    if (auto const rows = db.run(statement, run); rows > 0) return rows;
  }
  return db.run("DELETE FROM runs WHERE id = ?1", run);
}

std::int64_t step_thread(Db& db, Purge const& purge) {
  if (auto const run = some_run_of(db, purge.thread)) return step_run(db, *run);
  db.run("DELETE FROM agent_chat_sessions WHERE id = ?1", purge.thread);
  return finish(db, purge);
}

// Moves the entry behind all others and returns its new number.
std::int64_t pass_over(Db& db, Purge const& purge, std::string const& why) {
  base::log(base::LogLevel::warn,
            "cannot delete the rows of an expired log or a deleted thread; will try again later",
            {{purge.run ? "run_row" : "thread_row", purge.run.value_or(purge.thread)}, {"detail", why}});
  Query query{
      db,
      "UPDATE purges SET number = (SELECT max(number) + 1 FROM purges) WHERE number = ?1 RETURNING number",
      purge.number};
  query.next();
  return query.integer(0);
}

}  // namespace

Result<std::size_t> purge(Db& db, PieceSize piece) {
  auto const deadline = std::chrono::steady_clock::now() + piece.time;
  std::int64_t rows = 0;
  std::size_t failures = 0;
  auto first_passed_over = INT64_MAX;  // No entry is tried twice in one piece.
  while (auto const next = next_purge(db, first_passed_over)) {
    std::int64_t step = 0;
    auto const failed = attempt(db, [&] { step = next->run ? step_log(db, *next) : step_thread(db, *next); });
    if (failed) {
      ++failures;
      first_passed_over = std::min(first_passed_over, pass_over(db, *next, failed->what()));
    } else {
      rows += step;
    }
    if (rows >= static_cast<std::int64_t>(piece.rows) || failures >= piece.failures) break;
    if (rows > 0 && std::chrono::steady_clock::now() >= deadline) break;
  }
  return static_cast<std::size_t>(rows);
}

Result<std::size_t> postpone_purge(Db& db, std::string const& why) {
  if (auto const next = next_purge(db, INT64_MAX)) pass_over(db, *next, why);
  return std::size_t{0};
}

}  // namespace runnel::store::sqlite
