#include "runnel/store/postgres/store.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "runnel/store/page.h"
#include "runnel/store/postgres/calls.h"
#include "runnel/store/postgres/connection.h"
#include "runnel/store/postgres/messages.h"
#include "runnel/store/postgres/rows.h"
#include "runnel/store/postgres/runs.h"
#include "runnel/store/postgres/schema.h"
#include "runnel/store/postgres/sql.h"
#include "runnel/store/postgres/usage.h"
#include "runnel/store/refused.h"
#include "runnel/store/request_checks.h"

namespace runnel::store {

namespace {

namespace asio = boost::asio;
using postgres::Rows;
using postgres::Statement;

constexpr char kRunColumns[] =
    "SELECT r.id, r.thread_id, r.owner_id, s.thread_ref, r.run_ref, r.status, r.mode, r.epoch, r.last_n, "
    "r.next_idx, r.cancel_at IS NOT NULL, r.log_expired, i.input, r.agui_version, r.error_code, r.error_id, "
    "r.created_at, r.started_at, r.ended_at, (SELECT string_agg(e.epoch || '-' || e.first_n, ' ' ORDER BY "
    "e.epoch) FROM run_epochs e WHERE e.run_id = r.id), r.profile";
constexpr char kRunTables[] =
    "JOIN agent_chat_sessions s ON s.id = r.thread_id LEFT JOIN run_inputs i ON i.run_id = r.id ";
std::string const kRuns = std::string{kRunColumns} + " FROM runs r " + kRunTables;
// A run by its own id, or by an alias with the place behind which it begins. No alias is also an own id.
std::string const kNamedRun =
    std::string{kRunColumns} +
    ", n.after_epoch, n.after_n FROM ("
    "SELECT id AS run_id, NULL::bigint AS after_epoch, NULL::bigint AS after_n FROM runs "
    "WHERE owner_id = $1 AND run_ref = $2 "
    "UNION ALL "
    "SELECT run_id, after_epoch, after_n FROM run_aliases WHERE owner_id = $1 AND alias = $2"
    ") n JOIN runs r ON r.id = n.run_id " +
    kRunTables;
std::string const kRunOfOwner = kNamedRun + "WHERE s.thread_ref = $3 AND s.owner_id <> ''";
std::string const kOwnedRun = kNamedRun + "WHERE s.owner_id <> ''";
std::string const kRunByKey = kRuns + "WHERE r.id = $1 AND s.owner_id <> ''";
// The columns of `kRuns`, with the long ones empty.
constexpr char kRunsToRecover[] =
    "SELECT r.id, r.thread_id, r.owner_id, s.thread_ref, r.run_ref, r.status, r.mode, r.epoch, r.last_n, "
    "r.next_idx, r.cancel_at IS NOT NULL, r.log_expired, NULL, r.agui_version, r.error_code, r.error_id, "
    "r.created_at, r.started_at, r.ended_at, NULL, NULL "
    "FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id "
    "WHERE r.ended_at IS NULL AND r.status IN ('pending','running') AND r.id > $1 ORDER BY r.id LIMIT $2";

// `before` is the number of bytes in the rows before this one; the result ends when it reaches the requested
// number. A log that has expired or whose thread was deleted gives no rows, even if some are left.
constexpr char kReadLog[] = R"sql(
SELECT first_n, last_n, epoch, body FROM (
  SELECT first_n, last_n, epoch, body,
         sum(octet_length(body)) OVER (ORDER BY first_n) - octet_length(body) AS before
  FROM (
    SELECT l.first_n, l.last_n, l.epoch, l.body
    FROM log l JOIN runs r ON r.id = l.run_id JOIN agent_chat_sessions s ON s.id = r.thread_id
    WHERE l.run_id = $1 AND l.last_n > $2 AND NOT r.log_expired AND s.owner_id <> ''
      AND l.first_n >= coalesce((SELECT max(first_n) FROM log WHERE run_id = $1 AND first_n <= $2 + 1), 0)
    ORDER BY l.first_n LIMIT 1000
  ) next
) rows WHERE before < $3 ORDER BY first_n)sql";

constexpr char kUsage[] = R"sql(
SELECT coalesce(sum(m.input_tokens), 0), coalesce(sum(m.output_tokens), 0),
       (coalesce(sum(m.cost), 0) * 1000000000000)::bigint, s.billing_currency
FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
LEFT JOIN agent_chat_messages m ON m.run_id = r.id WHERE r.id = $1 GROUP BY s.billing_currency)sql";

std::string const kThreads =
    "SELECT s.id, s.thread_ref, s.title, s.status, s.created_at, s.updated_at, "
    "(SELECT run_ref FROM runs WHERE thread_id = s.id AND status IN "
    "('pending','running','awaiting_approval')), "
    "(SELECT string_agg(run_ref, ' ' ORDER BY queue_no) FROM runs WHERE thread_id = s.id AND status = "
    "'queued') "
    "FROM agent_chat_sessions s ";
std::string const kThread = kThreads + "WHERE owner_id = $1 AND thread_ref = $2";
std::string const kThreadPage =
    kThreads +
    "WHERE owner_id = $1 AND (updated_at, id) < ($2, $3) ORDER BY updated_at DESC, id DESC LIMIT $4";

Result<void> nothing(Rows const& /*rows*/) {
  return {};
}

Result<std::size_t> to_count(Rows const& rows) {
  return static_cast<std::size_t>(rows.integer(0, 0));
}

Result<std::vector<LogRow>> to_log(Rows const& rows) {
  std::vector<LogRow> log;
  log.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    log.push_back({static_cast<std::uint64_t>(rows.integer(i, 0)),
                   static_cast<std::uint64_t>(rows.integer(i, 1)), rows.integer(i, 2), rows.text(i, 3)});
  }
  return log;
}

class PostgresStore final : public Database {
 public:
  explicit PostgresStore(PostgresOptions const& options) : write_connections_{options.write_connections} {
    for (std::size_t i = 0; i < options.write_connections + options.read_connections + kOwnLanes; ++i) {
      connections_.emplace_back(context_, options.url);
    }
    thread_ = std::thread{[this] { context_.run(); }};
  }
  ~PostgresStore() override {
    asio::post(context_, [this] {
      for (auto& connection : connections_) {
        connection.close();
      }
    });
    work_.reset();
    thread_.join();
  }

  Async<Admission> admit(AdmitRequest request) override {
    if (auto const ok = check(request); !ok) return refused<Admission>(ok.error());
    auto const order =
        std::hash<std::string>{}(request.owner.text) ^ std::hash<std::string>{}(request.thread.text);
    return writer(order).call<Admission>(postgres::admit_statement(request), postgres::to_admission);
  }

  Async<Claim> claim(ClaimRequest request) override {
    if (auto const ok = check(request); !ok) return refused<Claim>(ok.error());
    auto const begin = request.begin ? std::optional{postgres::begin_json(*request.begin)} : std::nullopt;
    return writer(request.run)
        .call<Claim>(Statement{"SELECT * FROM runnel_claim_run($1, $2, $3, $4::text::json)",
                               request.run.value, request.node.text, request.now, begin},
                     postgres::to_claim);
  }

  Async<void> append(AppendRequest request) override {
    if (auto const ok = check(request); !ok) return refused<void>(ok.error());
    return writer(request.run).call<void>(postgres::append_statement(request), nothing);
  }

  Async<Ended> end(EndRequest request) override {
    if (auto const ok = check(request); !ok) return refused<Ended>(ok.error());
    return writer(request.append.run).call<Ended>(postgres::end_statement(request), postgres::to_ended);
  }

  Async<Ended> force_end(ForceEndRequest request) override {
    if (auto const ok = check(request); !ok) return refused<Ended>(ok.error());
    return writer(request.end.append.run)
        .call<Ended>(postgres::force_end_statement(request), postgres::to_ended);
  }

  Async<void> release(RunKey run, Epoch epoch) override {
    return writer(run).call<void>(postgres::release_statement(run, epoch), postgres::to_released);
  }

  Async<void> open_call(NewCall call) override {
    if (auto const ok = check(call); !ok) return refused<void>(ok.error());
    return writer(call.run).call<void>(postgres::open_call_statement(call), nothing);
  }

  Async<CancelOutcome> request_cancel(RunKey run, std::int64_t now) override {
    return writer(run).call<CancelOutcome>(
        Statement{"SELECT runnel_request_cancel($1, $2)", run.value, now},
        [run](Rows const& rows) -> Result<CancelOutcome> {
          return CancelOutcome{run, parse_run_status(rows.text(0, 0)).value()};
        });
  }

  Async<void> discard(DiscardRequest request) override {
    if (auto const ok = check(request); !ok) return refused<void>(ok.error());
    return writer(request.run)
        .call<void>(Statement{"SELECT runnel_discard($1, $2, $3, $4, $5)", request.run.value,
                              request.facts.last_n, request.facts.next_idx, request.facts.body, request.now},
                    nothing);
  }

  Async<std::size_t> expire_logs(std::int64_t ended_before, std::size_t limit) override {
    return maintenance().call<std::size_t>(
        Statement{"SELECT runnel_expire_logs($1, $2)", ended_before, limit}, to_count);
  }

  Async<std::size_t> purge(PieceSize piece) override {
    return maintenance().call<std::size_t>(
        Statement{"SELECT * FROM runnel_purge($1, $2, $3)", piece.rows, piece.time.count(), piece.failures},
        postgres::to_purged);
  }

  Async<void> ensure_user(UserId user, std::int64_t now) override {
    return writer(0).call<void>(
        Statement{"INSERT INTO users(id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id",
                  user.text, now},
        nothing);
  }

  Async<void> rename_thread(UserId owner, ThreadId thread, std::string title, std::int64_t now) override {
    if (auto const ok = check_title(title); !ok) return refused<void>(ok.error());
    return writer(0).call<void>(
        Statement{"UPDATE agent_chat_sessions SET title = $3, updated_at = greatest(updated_at, $4) "
                  "WHERE owner_id = $1 AND thread_ref = $2 RETURNING id",
                  owner.text, thread.text, title, now},
        [](Rows const& rows) -> Result<void> {
          if (rows.size() == 0) return Error{Errc::not_found, "no such thread to rename"};
          return {};
        });
  }

  Async<DeleteOutcome> delete_thread(UserId owner, ThreadId thread) override {
    return writer(0).call<DeleteOutcome>(
        Statement{"SELECT runnel_delete_thread($1, $2)", owner.text, thread.text},
        postgres::to_delete_outcome);
  }

  Async<void> probe() override {
    return writer(0).call<void>(Statement{"UPDATE health SET probes = probes + 1 RETURNING id"}, nothing);
  }

  Async<std::vector<SqlResult>> write(std::vector<SqlStatement> statements) override {
    if (auto const ok = check(statements); !ok) return refused<std::vector<SqlResult>>(ok.error());
    return writer(next_writer_.fetch_add(1, std::memory_order_relaxed))
        .call_all(postgres::to_segment(statements));
  }

  Async<SqlResult> write_in_background(SqlStatement statement) override {
    if (auto const ok = check(statement); !ok) return refused<SqlResult>(ok.error());
    return only_result(maintenance().call_all(postgres::to_segment({std::move(statement)})));
  }

  Async<SqlResult> read(SqlStatement statement) override {
    if (auto const ok = check(statement); !ok) return refused<SqlResult>(ok.error());
    return reader().call<SqlResult>(postgres::to_statement(statement), postgres::to_sql_result);
  }

  Async<std::optional<RunRow>> find_run(UserId owner, ThreadId thread, RunId run) override {
    return reader().call<std::optional<RunRow>>(
        Statement{kRunOfOwner.c_str(), owner.text, run.text, thread.text}, postgres::to_run);
  }

  Async<std::optional<RunRow>> run_by_key(RunKey run) override {
    return reader().call<std::optional<RunRow>>(Statement{kRunByKey.c_str(), run.value}, postgres::to_run);
  }

  Async<std::optional<RunRow>> find_owned_run(UserId owner, RunId run) override {
    return reader().call<std::optional<RunRow>>(Statement{kOwnedRun.c_str(), owner.text, run.text},
                                                postgres::to_run);
  }

  Async<LogPlace> place_of_idx(RunKey run, std::int64_t idx) override {
    return reader().call<LogPlace>(
        Statement{"SELECT epoch, last_n, next_idx FROM log WHERE run_id = $1 AND next_idx <= $2 "
                  "ORDER BY first_n DESC LIMIT 1",
                  run.value, idx},
        [](Rows const& rows) -> Result<LogPlace> {
          if (rows.size() == 0) return LogPlace{};
          return LogPlace{{rows.integer(0, 0), static_cast<std::uint64_t>(rows.integer(0, 1))},
                          rows.integer(0, 2)};
        });
  }

  Async<std::vector<RunRow>> runs_to_recover(RunKey after, std::size_t limit) override {
    return reader().call<std::vector<RunRow>>(
        Statement{kRunsToRecover, after.value, limit},
        [](Rows const& rows) -> Result<std::vector<RunRow>> { return postgres::to_runs(rows); });
  }

  Async<std::vector<LogRow>> read_log(RunKey run, std::uint64_t after_n, std::size_t max_bytes) override {
    return reader().call<std::vector<LogRow>>(Statement{kReadLog, run.value, after_n, max_bytes}, to_log);
  }

  Async<LogEnd> log_end(RunKey run) override {
    return reader().call<LogEnd>(postgres::log_end_statement(run), postgres::to_log_end);
  }

  Async<RunUsage> run_usage(RunKey run) override {
    return reader().call<RunUsage>(Statement{kUsage, run.value}, [](Rows const& rows) -> Result<RunUsage> {
      if (rows.size() == 0) return Error{Errc::not_found, "cannot read the usage: the run does not exist"};
      return RunUsage{rows.integer(0, 0), rows.integer(0, 1), Money{rows.integer(0, 2)}, rows.text(0, 3)};
    });
  }

  Async<std::vector<Checkpoint>> checkpoints(RunKey run, std::int64_t after, std::size_t max_bytes) override {
    return reader().call<std::vector<Checkpoint>>(postgres::checkpoints_statement(run, after, max_bytes),
                                                  postgres::to_checkpoints);
  }

  Async<std::vector<UnbookedCall>> unbooked_calls(RunKey run) override {
    return reader().call<std::vector<UnbookedCall>>(postgres::unbooked_statement(run), postgres::to_unbooked);
  }

  Async<UsageReport> usage(UsageQuery query) override {
    return reporter().call<UsageReport>(postgres::usage_statement(query),
                                        [group = query.group, limit = query.limit](Rows const& rows) {
                                          return postgres::to_usage(rows, group, limit);
                                        });
  }

  Async<HistoryPage> history(UserId owner, ThreadId thread, std::optional<std::int64_t> before,
                             PageSize size) override {
    return reader().call<HistoryPage>(postgres::history_statement(owner, thread, before, size),
                                      postgres::to_history);
  }

  Async<std::vector<MessageRow>> context(ThreadKey thread, RunKey reading, PageSize size) override {
    return reader().call<std::vector<MessageRow>>(postgres::context_statement(thread, reading, size),
                                                  postgres::to_context);
  }

  Async<ThreadPage> threads(UserId owner, std::string cursor, std::size_t limit) override {
    auto const after = parse_thread_cursor(cursor);
    if (!after) return refused<ThreadPage>(after.error());
    return reader().call<ThreadPage>(
        Statement{kThreadPage.c_str(), owner.text, after->updated_at, after->key.value, limit + 1},
        [limit](Rows const& rows) -> Result<ThreadPage> {
          return thread_page(postgres::to_threads(rows), limit);
        });
  }

  Async<std::optional<ThreadRow>> thread(UserId owner, ThreadId thread) override {
    return reader().call<std::optional<ThreadRow>>(
        Statement{kThread.c_str(), owner.text, thread.text},
        [](Rows const& rows) -> Result<std::optional<ThreadRow>> {
          auto found = postgres::to_threads(rows);
          return found.empty() ? std::nullopt : std::optional{std::move(found.front())};
        });
  }

 private:
  postgres::Connection& writer(std::size_t order) { return connections_[order % write_connections_]; }
  postgres::Connection& writer(RunKey run) { return writer(static_cast<std::size_t>(run.value)); }
  postgres::Connection& reader() {
    auto const readers = connections_.size() - write_connections_ - kOwnLanes;
    return connections_[write_connections_ + next_reader_.fetch_add(1, std::memory_order_relaxed) % readers];
  }

  // Long statements have connections of their own, so that nothing else waits for them.
  static constexpr std::size_t kOwnLanes = 2;
  postgres::Connection& reporter() { return connections_[connections_.size() - 1]; }
  postgres::Connection& maintenance() { return connections_[connections_.size() - 2]; }

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::size_t const write_connections_;
  std::deque<postgres::Connection> connections_;  // For writes, then for reads, then the two lanes.
  std::atomic<std::size_t> next_writer_{0};
  std::atomic<std::size_t> next_reader_{0};
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(PostgresOptions options) {
  if (options.write_connections == 0 || options.read_connections == 0) {
    return Error{Errc::invalid, "PostgreSQL needs at least one connection to write and one to read"};
  }
  if (auto const ok = postgres::migrate(options.url, all_migrations(options.module_migrations)); !ok)
    return ok.error();
  return std::unique_ptr<Database>{std::make_unique<PostgresStore>(options)};
}

}  // namespace runnel::store
