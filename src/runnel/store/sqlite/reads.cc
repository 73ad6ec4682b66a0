#include "runnel/store/sqlite/reads.h"

#include <algorithm>

#include "runnel/store/page.h"

namespace runnel::store::sqlite {

namespace {

constexpr char kRunColumns[] =
    "SELECT r.id, r.thread_id, r.owner_id, s.thread_ref, r.run_ref, r.status, r.mode, r.epoch, r.last_n, "
    "r.next_idx, r.cancel_at IS NOT NULL, r.log_expired, i.input, r.agui_version, r.error_code, r.error_id, "
    "r.created_at, r.started_at, r.ended_at, r.profile";
constexpr char kRunTables[] =
    "JOIN agent_chat_sessions s ON s.id = r.thread_id LEFT JOIN run_inputs i ON i.run_id = r.id ";
std::string const kRuns = std::string{kRunColumns} + " FROM runs r " + kRunTables;
// Runs by their aliases, with the place behind which the alias begins.
std::string const kAliasedRuns = std::string{kRunColumns} +
                                 ", n.after_epoch, n.after_n FROM run_aliases n JOIN runs r ON r.id = "
                                 "n.run_id " +
                                 kRunTables;
constexpr int kAfterEpoch = 20;
std::string const kRunOfOwner = kRuns +
                                "WHERE r.owner_id = ?1 AND r.run_ref = ?2 AND s.thread_ref = ?3 "
                                "AND s.owner_id <> ''";
std::string const kOwnedRun = kRuns + "WHERE r.owner_id = ?1 AND r.run_ref = ?2 AND s.owner_id <> ''";
std::string const kAliasedRunOfOwner = kAliasedRuns +
                                       "WHERE n.owner_id = ?1 AND n.alias = ?2 AND s.thread_ref = ?3 "
                                       "AND s.owner_id <> ''";
std::string const kAliasedOwnedRun =
    kAliasedRuns + "WHERE n.owner_id = ?1 AND n.alias = ?2 AND s.owner_id <> ''";
std::string const kRunByKey = kRuns + "WHERE r.id = ?1 AND s.owner_id <> ''";
// The columns of `kRuns`, with the long ones empty. The index holds only the runs that have not ended;
// without the hint SQLite would look through all runs by key.
constexpr char kRunsToRecover[] =
    "SELECT r.id, r.thread_id, r.owner_id, s.thread_ref, r.run_ref, r.status, r.mode, r.epoch, r.last_n, "
    "r.next_idx, r.cancel_at IS NOT NULL, r.log_expired, NULL, r.agui_version, r.error_code, r.error_id, "
    "r.created_at, r.started_at, r.ended_at, NULL FROM runs r INDEXED BY idx_runs_owner_active "
    "JOIN agent_chat_sessions s ON s.id = r.thread_id "
    "WHERE r.ended_at IS NULL AND r.status IN ('pending','running') AND r.id > ?1 ORDER BY r.id LIMIT ?2";

std::string const kMessages =
    "SELECT m.message_id, m.seq, m.role, m.content, m.metadata, r.run_ref, m.created_at "
    "FROM agent_chat_messages m JOIN runs r ON r.id = m.run_id ";
std::string const kHistory =
    kMessages +
    "WHERE m.session_id = ?1 AND m.seq > 0 AND m.seq < ?2 AND (m.visibility_mask & 1) <> 0 "
    "ORDER BY m.seq DESC LIMIT ?3";
std::string const kContext =
    kMessages +
    "WHERE m.session_id = ?1 AND m.seq > 0 AND (m.visibility_mask & 2) <> 0 "
    "AND (m.run_id <> ?2 OR m.role = 'user' OR m.message_id IN (SELECT result_id FROM "
    "client_calls WHERE thread_id = ?1 AND closed_by = ?2)) "
    "ORDER BY m.seq DESC LIMIT ?3";

// The last two columns are read from the indexes of a thread's unfinished runs.
std::string const kThreads =
    "SELECT s.id, s.thread_ref, s.title, s.status, s.created_at, s.updated_at, "
    "(SELECT run_ref FROM runs WHERE thread_id = s.id AND status IN "
    "('pending','running','awaiting_approval')), "
    "(SELECT group_concat(run_ref, ' ') FROM (SELECT run_ref FROM runs "
    "WHERE thread_id = s.id AND status = 'queued' ORDER BY queue_no)) "
    "FROM agent_chat_sessions s ";
std::string const kThread = kThreads + "WHERE owner_id = ?1 AND thread_ref = ?2";
std::string const kThreadPage =
    kThreads +
    "WHERE owner_id = ?1 AND (updated_at, id) < (?2, ?3) ORDER BY updated_at DESC, id DESC LIMIT ?4";

RunRow run_row(Query const& query) {
  RunRow row;
  row.key = RunKey{query.integer(0)};
  row.thread = ThreadKey{query.integer(1)};
  row.owner = UserId{query.text(2)};
  row.thread_id = ThreadId{query.text(3)};
  row.id = RunId{query.text(4)};
  row.status = parse_run_status(query.text(5)).value();
  row.mode = query.text(6) == "chat" ? RuntimeMode::chat : RuntimeMode::automation;
  row.epoch = query.integer(7);
  row.last_n = static_cast<std::uint64_t>(query.integer(8));
  row.next_idx = query.integer(9);
  row.cancel_requested = query.integer(10) != 0;
  row.log_expired = query.integer(11) != 0;
  row.input = query.text(12);
  row.agui_version = query.text(13);
  row.error_code = query.text(14);
  row.error_id = query.text(15);
  row.created_at = query.integer(16);
  row.started_at = query.integer(17);
  row.ended_at = query.integer(18);
  row.profile = query.text(19);
  if (query.columns() > kAfterEpoch) {
    row.before_alias =
        Position{query.integer(kAfterEpoch), static_cast<std::uint64_t>(query.integer(kAfterEpoch + 1))};
  }
  return row;
}

std::vector<EpochStart> epochs_of(Db& db, RunKey run) {
  std::vector<EpochStart> epochs;
  Query query{db, "SELECT epoch, first_n FROM run_epochs WHERE run_id = ?1 ORDER BY epoch", run.value};
  while (query.next()) {
    epochs.push_back({query.integer(0), static_cast<std::uint64_t>(query.integer(1))});
  }
  return epochs;
}

std::optional<RunRow> one_run(Db& db, Query& query) {
  if (!query.next()) return std::nullopt;
  auto row = run_row(query);
  row.epochs = epochs_of(db, row.key);
  return row;
}

MessageRow message_row(Query const& query) {
  MessageRow row;
  row.id = MessageId{query.text(0)};
  row.seq = query.integer(1);
  row.role = parse_role(query.text(2)).value();
  row.content = query.text(3);
  row.metadata = query.text(4);
  row.run = RunId{query.text(5)};
  row.created_at = query.integer(6);
  return row;
}

struct MessageRows {
  std::vector<MessageRow> rows;
  bool more = false;
};

// The first row that does not fit is measured but not copied, and the rows behind it are not read at all.
MessageRows message_rows(Query& query, PageSize size) {
  MessageRows out;
  std::size_t bytes = 0;
  while (query.next()) {
    bytes += query.bytes(3) + query.bytes(4);
    out.more = !out.rows.empty() && (out.rows.size() >= size.rows || bytes > size.bytes);
    if (out.more) break;
    out.rows.push_back(message_row(query));
  }
  return out;
}

// False if the log has expired or its thread was deleted. Its rows are then deleted piece by piece, and
// nobody may see what is left of them.
bool has_log(Db& db, RunKey run) {
  Query query{db,
              "SELECT 1 FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id "
              "WHERE r.id = ?1 AND r.log_expired = 0 AND s.owner_id <> ''",
              run.value};
  return query.next();
}

// `last_logged`, but 0 if the rows cannot be read.
std::uint64_t last_readable(Db& db, RunKey run) {
  try {
    return last_logged(db, run);
  } catch (SqlError const& error) {
    if (!is_damage(error)) throw;
    return 0;
  }
}

ThreadRow thread_row(Query const& query) {
  ThreadRow row;
  row.key = ThreadKey{query.integer(0)};
  row.id = ThreadId{query.text(1)};
  if (!query.is_null(2)) row.title = query.text(2);
  row.status = parse_thread_status(query.text(3)).value();
  row.created_at = query.integer(4);
  row.updated_at = query.integer(5);
  row.active_run = RunId{query.text(6)};
  row.queued_runs = split_run_ids(query.text(7));
  return row;
}

}  // namespace

Result<std::optional<RunRow>> find_run(Db& db, UserId const& owner, ThreadId const& thread,
                                       RunId const& run) {
  Query own{db, kRunOfOwner, owner.text, run.text, thread.text};
  if (auto row = one_run(db, own)) return row;
  Query alias{db, kAliasedRunOfOwner, owner.text, run.text, thread.text};
  return one_run(db, alias);
}

Result<std::optional<RunRow>> run_by_key(Db& db, RunKey run) {
  Query query{db, kRunByKey, run.value};
  return one_run(db, query);
}

Result<std::optional<RunRow>> find_owned_run(Db& db, UserId const& owner, RunId const& run) {
  Query own{db, kOwnedRun, owner.text, run.text};
  if (auto row = one_run(db, own)) return row;
  Query alias{db, kAliasedOwnedRun, owner.text, run.text};
  return one_run(db, alias);
}

Result<std::vector<RunRow>> runs_to_recover(Db& db, RunKey after, std::size_t limit) {
  std::vector<RunRow> rows;
  Query query{db, kRunsToRecover, after.value, limit};
  while (query.next()) {
    rows.push_back(run_row(query));
  }
  return rows;
}

Result<std::vector<LogRow>> read_log(Db& db, RunKey run, std::uint64_t after_n, std::size_t max_bytes) {
  if (!has_log(db, run)) return std::vector<LogRow>{};
  // The row that holds after_n + 1 may begin with a smaller number, so the read starts at the last row that
  // begins with after_n + 1 or less.
  Query query{
      db,
      "SELECT first_n, last_n, epoch, body FROM log WHERE run_id = ?1 AND last_n > ?2 AND first_n >= "
      "coalesce((SELECT max(first_n) FROM log WHERE run_id = ?1 AND first_n <= ?2 + 1), 0) ORDER BY first_n",
      run.value, after_n};
  std::vector<LogRow> rows;
  std::size_t bytes = 0;
  while (bytes < max_bytes && query.next()) {
    rows.push_back({static_cast<std::uint64_t>(query.integer(0)),
                    static_cast<std::uint64_t>(query.integer(1)), query.integer(2), query.text(3)});
    bytes += rows.back().body.size();
  }
  return rows;
}

Result<LogPlace> place_of_idx(Db& db, RunKey run, std::int64_t idx) {
  Query query{db,
              "SELECT epoch, last_n, next_idx FROM log WHERE run_id = ?1 AND next_idx <= ?2 "
              "ORDER BY first_n DESC LIMIT 1",
              run.value, idx};
  if (!query.next()) return LogPlace{};
  return LogPlace{{query.integer(0), static_cast<std::uint64_t>(query.integer(1))}, query.integer(2)};
}

std::uint64_t last_logged(Db& db, RunKey run) {
  Query query{db, "SELECT last_n FROM log WHERE run_id = ?1 ORDER BY first_n DESC LIMIT 1", run.value};
  return query.next() ? static_cast<std::uint64_t>(query.integer(0)) : 0;
}

Result<LogEnd> log_end(Db& db, RunKey run) {
  Query query{db, "SELECT epoch, last_n, next_idx, status FROM runs WHERE id = ?1", run.value};
  if (!query.next()) return Error{Errc::not_found, "cannot read the end of the log: the run does not exist"};
  LogEnd end;
  end.epoch = query.integer(0);
  end.last_n = std::max(static_cast<std::uint64_t>(query.integer(1)), last_readable(db, run));
  end.next_idx = query.integer(2);
  end.status = parse_run_status(query.text(3)).value();
  return end;
}

Result<RunUsage> run_usage(Db& db, RunKey run) {
  Query query{
      db,
      "SELECT coalesce(sum(m.input_tokens), 0), coalesce(sum(m.output_tokens), 0), coalesce(sum(m.cost), 0), "
      "s.billing_currency FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id "
      "LEFT JOIN agent_chat_messages m ON m.run_id = r.id WHERE r.id = ?1 GROUP BY r.id",
      run.value};
  if (!query.next()) return Error{Errc::not_found, "cannot read the usage: the run does not exist"};
  return RunUsage{query.integer(0), query.integer(1), Money{query.integer(2)}, query.text(3)};
}

Result<std::vector<Checkpoint>> checkpoints(Db& db, RunKey run, std::int64_t after, std::size_t max_bytes) {
  if (!has_log(db, run)) return std::vector<Checkpoint>{};
  Query query{
      db,
      "SELECT number, stage, kind, body FROM checkpoints WHERE run_id = ?1 AND number > ?2 ORDER BY number",
      run.value, after};
  std::vector<Checkpoint> rows;
  std::size_t bytes = 0;
  while ((rows.empty() || bytes < max_bytes) && query.next()) {
    rows.push_back({query.integer(0), query.text(1), query.text(2), query.text(3)});
    bytes += rows.back().body.size();
  }
  return rows;
}

std::string const& history_query() {
  return kHistory;
}

Result<HistoryPage> history(Db& db, UserId const& owner, ThreadId const& thread_id,
                            std::optional<std::int64_t> before, PageSize size) {
  auto const found = thread(db, owner, thread_id);
  if (!*found) return Error{Errc::not_found, "no thread " + thread_id.text};
  Query query{db, kHistory, (*found)->key.value, before.value_or(INT64_MAX), size.rows + 1};
  auto page = message_rows(query, size);
  return history_page(std::move(page.rows), page.more);
}

Result<std::vector<MessageRow>> context(Db& db, ThreadKey thread, RunKey reader, PageSize size) {
  Query query{db, kContext, thread.value, reader.value, size.rows};
  auto rows = message_rows(query, size).rows;
  std::reverse(rows.begin(), rows.end());
  return rows;
}

Result<ThreadPage> threads(Db& db, UserId const& owner, std::string const& cursor, std::size_t limit) {
  auto const after = parse_thread_cursor(cursor);
  if (!after) return after.error();
  Query query{db, kThreadPage, owner.text, after->updated_at, after->key.value, limit + 1};
  std::vector<ThreadRow> rows;
  while (query.next()) {
    rows.push_back(thread_row(query));
  }
  return thread_page(std::move(rows), limit);
}

Result<std::optional<ThreadRow>> thread(Db& db, UserId const& owner, ThreadId const& thread) {
  Query query{db, kThread, owner.text, thread.text};
  return query.next() ? std::optional{thread_row(query)} : std::nullopt;
}

}  // namespace runnel::store::sqlite
