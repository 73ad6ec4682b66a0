#include "runnel/store/sqlite/store.h"

#include <chrono>
#include <deque>
#include <exception>
#include <utility>

#include "runnel/base/blocking_pool.h"
#include "runnel/store/refused.h"
#include "runnel/store/request_checks.h"
#include "runnel/store/sqlite/db.h"
#include "runnel/store/sqlite/intents.h"
#include "runnel/store/sqlite/reads.h"
#include "runnel/store/sqlite/schema.h"
#include "runnel/store/sqlite/sql.h"
#include "runnel/store/sqlite/wal_checkpointer.h"
#include "runnel/store/sqlite/writer.h"
#include "runnel/store/stored_bytes.h"

namespace runnel::store {

namespace {

using sqlite::Db;

// Ends the read transaction however the read ends.
class Snapshot {
 public:
  explicit Snapshot(Db& db) : db_{db} { db_.run("BEGIN"); }
  Snapshot(Snapshot const&) = delete;
  Snapshot& operator=(Snapshot const&) = delete;
  ~Snapshot() {
    try {
      if (db_.in_transaction()) db_.run("COMMIT");
    } catch (sqlite::SqlError const&) {
      // Nothing was written; SQLite ends a failed read transaction by itself.
    }
  }

 private:
  Db& db_;
};

// About how many bytes a request writes: its texts, and a row for each statement. The other requests write
// small rows.
template <class Request>
std::size_t written_bytes(Request const& /*request*/) {
  return 0;
}

std::size_t written_bytes(AppendRequest const& request) {
  auto const bytes = bytes_of(request);
  return static_cast<std::size_t>(bytes.log + bytes.kept);
}

std::size_t written_bytes(EndRequest const& request) {
  return written_bytes(request.append);
}

std::size_t written_bytes(AdmitRequest const& request) {
  auto const begin = bytes_of(request.begin);
  return request.input.size() + static_cast<std::size_t>(begin.log + begin.kept);
}

constexpr std::size_t kRowBytes = 256;

std::size_t written_bytes(std::vector<SqlStatement> const& statements) {
  auto bytes = statements.size() * kRowBytes;
  for (auto const& statement : statements) {
    for (auto const& value : statement.parameters) {
      if (auto const* const text = std::get_if<std::string>(&value)) bytes += text->size();
    }
  }
  return bytes;
}

class SqliteStore final : public Database {
 public:
  // Throws SqlError. Each part opens its own connection; `prepare` has created the tables before.
  explicit SqliteStore(SqliteOptions const& options)
      : checkpointer_{{options.path, sqlite::Access::read_write_create, options.vfs},
                      options.checkpoint_bytes},
        writer_{{.db = {options.path, sqlite::Access::read_write_create, options.vfs},
                 .max_group = options.max_group,
                 .on_commit = [this](std::size_t wal_bytes) { checkpointer_.on_commit(wal_bytes); },
                 .metrics = options.metrics}},
        metrics_{options.metrics},
        pool_{options.reader_threads} {
    sqlite::DbOptions const reading{options.path, sqlite::Access::read_only, options.vfs};
    for (std::size_t i = 0; i < options.reader_threads; ++i) {
      readers_.emplace_back(reading);
    }
    reporter_.emplace_back(reading);
  }

  Async<Admission> admit(AdmitRequest request) override {
    return intent<Admission>(std::move(request), sqlite::admit);
  }
  Async<Claim> claim(ClaimRequest request) override {
    return intent<Claim>(std::move(request), sqlite::claim);
  }
  Async<void> append(AppendRequest request) override {
    return intent<void>(std::move(request), sqlite::append);
  }
  Async<Ended> end(EndRequest request) override { return intent<Ended>(std::move(request), sqlite::end); }
  Async<Ended> force_end(ForceEndRequest request) override {
    auto ended = co_await intent<Ended>(request, sqlite::force_end);
    if (ended || ended.error().code != Errc::internal || !request.log_is_lost) co_return ended;
    co_return co_await intent<Ended>(std::move(request), sqlite::force_end_without_log);
  }
  Async<void> release(RunKey run, Epoch epoch) override {
    return writer_.submit<void>([=](Db& db) { return sqlite::release(db, run, epoch); });
  }
  Async<void> open_call(NewCall call) override { return intent<void>(std::move(call), sqlite::open_call); }
  Async<void> discard(DiscardRequest request) override {
    return intent<void>(std::move(request), sqlite::discard);
  }

  Async<CancelOutcome> request_cancel(RunKey run, std::int64_t now) override {
    return writer_.submit<CancelOutcome>([=](Db& db) { return sqlite::request_cancel(db, run, now); });
  }
  Async<std::size_t> expire_logs(std::int64_t ended_before, std::size_t limit) override {
    return writer_.submit_maintenance<std::size_t>(
        [=](Db& db) { return sqlite::expire_logs(db, ended_before, limit); });
  }
  // A piece that meets a damaged page is undone as a whole. A single step then shows whether the entry whose
  // turn it is was the cause. If so, that entry is postponed, and the others have their turn at once.
  Async<std::size_t> purge(PieceSize piece) override {
    for (int postponed = 0; postponed < kMostPostponed; ++postponed) {
      auto purged = co_await purge_piece(piece);
      if (purged || purged.error().code != Errc::internal) co_return purged;
      purged = co_await purge_piece(kPurgeStep);
      if (purged && *purged == 0)
        continue;  // The entry was another one that cannot be deleted, and was moved.
      if (purged || purged.error().code != Errc::internal) co_return purged;
      auto const moved = co_await postpone_purge(purged.error().detail);
      if (!moved) co_return moved;
    }
    co_return std::size_t{0};
  }
  Async<void> ensure_user(UserId user, std::int64_t now) override {
    return writer_.submit<void>(
        [user = std::move(user), now](Db& db) { return sqlite::ensure_user(db, user, now); });
  }
  Async<void> rename_thread(UserId owner, ThreadId thread, std::string title, std::int64_t now) override {
    if (auto const ok = check_title(title); !ok) return refused<void>(ok.error());
    return writer_.submit<void>(
        [owner = std::move(owner), thread = std::move(thread), title = std::move(title), now](Db& db) {
          return sqlite::rename_thread(db, owner, thread, title, now);
        });
  }
  Async<DeleteOutcome> delete_thread(UserId owner, ThreadId thread) override {
    return writer_.submit<DeleteOutcome>([owner = std::move(owner), thread = std::move(thread)](Db& db) {
      return sqlite::delete_thread(db, owner, thread);
    });
  }
  Async<void> probe() override {
    return writer_.submit<void>([](Db& db) { return sqlite::probe(db); });
  }

  Async<std::vector<SqlResult>> write(std::vector<SqlStatement> statements) override {
    if (auto const ok = check(statements); !ok) return refused<std::vector<SqlResult>>(ok.error());
    auto const bytes = written_bytes(statements);
    return writer_.submit<std::vector<SqlResult>>(
        [statements = std::move(statements)](Db& db) { return sqlite::run_statements(db, statements); },
        bytes);
  }
  Async<SqlResult> write_in_background(SqlStatement statement) override {
    if (auto const ok = check(statement); !ok) return refused<SqlResult>(ok.error());
    return writer_.submit_maintenance<SqlResult>(
        [statement = std::move(statement)](Db& db) -> Result<SqlResult> {
          auto results = sqlite::run_statements(db, {statement});
          if (!results) return results.error();
          return std::move(results->front());
        });
  }
  Async<SqlResult> read(SqlStatement statement) override {
    if (auto const ok = check(statement); !ok) return refused<SqlResult>(ok.error());
    return query<SqlResult>([statement = std::move(statement)](Db& db) -> Result<SqlResult> {
      return sqlite::run_statement(db, statement);
    });
  }

  Async<std::optional<RunRow>> find_run(UserId owner, ThreadId thread, RunId run) override {
    return query<std::optional<RunRow>>(
        [owner = std::move(owner), thread = std::move(thread), run = std::move(run)](Db& db) {
          return sqlite::find_run(db, owner, thread, run);
        });
  }
  Async<std::optional<RunRow>> run_by_key(RunKey run) override {
    return query<std::optional<RunRow>>([run](Db& db) { return sqlite::run_by_key(db, run); });
  }
  Async<std::optional<RunRow>> find_owned_run(UserId owner, RunId run) override {
    return query<std::optional<RunRow>>([owner = std::move(owner), run = std::move(run)](Db& db) {
      return sqlite::find_owned_run(db, owner, run);
    });
  }
  Async<LogPlace> place_of_idx(RunKey run, std::int64_t idx) override {
    return query<LogPlace>([=](Db& db) { return sqlite::place_of_idx(db, run, idx); });
  }
  Async<std::vector<RunRow>> runs_to_recover(RunKey after, std::size_t limit) override {
    return query<std::vector<RunRow>>([=](Db& db) { return sqlite::runs_to_recover(db, after, limit); });
  }
  Async<std::vector<LogRow>> read_log(RunKey run, std::uint64_t after_n, std::size_t max_bytes) override {
    return query<std::vector<LogRow>>([=](Db& db) { return sqlite::read_log(db, run, after_n, max_bytes); });
  }
  Async<LogEnd> log_end(RunKey run) override {
    return query<LogEnd>([run](Db& db) { return sqlite::log_end(db, run); });
  }
  Async<RunUsage> run_usage(RunKey run) override {
    return query<RunUsage>([run](Db& db) { return sqlite::run_usage(db, run); });
  }
  Async<std::vector<Checkpoint>> checkpoints(RunKey run, std::int64_t after, std::size_t max_bytes) override {
    return query<std::vector<Checkpoint>>(
        [=](Db& db) { return sqlite::checkpoints(db, run, after, max_bytes); });
  }
  Async<std::vector<UnbookedCall>> unbooked_calls(RunKey run) override {
    return query<std::vector<UnbookedCall>>([run](Db& db) { return sqlite::unbooked_calls(db, run); });
  }
  Async<UsageReport> usage(UsageQuery query) override {
    return read_on<UsageReport>(reporting_, reporter_,
                                [query = std::move(query)](Db& db) { return sqlite::usage(db, query); });
  }
  Async<HistoryPage> history(UserId owner, ThreadId thread, std::optional<std::int64_t> before,
                             PageSize size) override {
    return query<HistoryPage>([owner = std::move(owner), thread = std::move(thread), before, size](Db& db) {
      return sqlite::history(db, owner, thread, before, size);
    });
  }
  Async<std::vector<MessageRow>> context(ThreadKey thread, RunKey reader, PageSize size) override {
    return query<std::vector<MessageRow>>([=](Db& db) { return sqlite::context(db, thread, reader, size); });
  }
  Async<ThreadPage> threads(UserId owner, std::string cursor, std::size_t limit) override {
    return query<ThreadPage>([owner = std::move(owner), cursor = std::move(cursor), limit](Db& db) {
      return sqlite::threads(db, owner, cursor, limit);
    });
  }
  Async<std::optional<ThreadRow>> thread(UserId owner, ThreadId thread) override {
    return query<std::optional<ThreadRow>>([owner = std::move(owner), thread = std::move(thread)](Db& db) {
      return sqlite::thread(db, owner, thread);
    });
  }

 private:
  static constexpr PieceSize kPurgeStep{1, std::chrono::milliseconds{0}, 1};
  static constexpr int kMostPostponed = 16;  // In one call; the next sweep continues with the others.

  Async<std::size_t> purge_piece(PieceSize piece) {
    return writer_.submit_maintenance<std::size_t>([=](Db& db) { return sqlite::purge(db, piece); });
  }
  Async<std::size_t> postpone_purge(std::string why) {
    return writer_.submit_maintenance<std::size_t>(
        [why = std::move(why)](Db& db) { return sqlite::postpone_purge(db, why); });
  }

  template <class T, class Request>
  Async<T> intent(Request request, Result<T> (*apply)(Db&, Request const&)) {
    if (auto const ok = check(request); !ok) return refused<T>(ok.error());
    auto const bytes = written_bytes(request);
    return writer_.submit<T>([request = std::move(request), apply](Db& db) { return apply(db, request); },
                             bytes);
  }

  template <class T, class Read>
  Async<T> query(Read read) {
    return read_on<T>(pool_, readers_, std::move(read));
  }

  // `connections` has one connection for each thread of `pool`.
  template <class T, class Read>
  Async<T> read_on(base::BlockingPool& pool, std::deque<Db>& connections, Read read) {
    return pool.run<T>([this, &connections, read = std::move(read)](std::size_t thread) -> Result<T> {
      try {
        Snapshot const snapshot{connections[thread]};
        return read(connections[thread]);
      } catch (sqlite::SqlError const& error) {
        metrics_.failed_reads.add();
        return to_error(error);
      }
    });
  }

  sqlite::WalCheckpointer checkpointer_;  // Destroyed last: nothing reads or writes when it empties the WAL.
  sqlite::Writer writer_;
  StoreMetrics const metrics_;
  std::deque<Db> readers_;  // One for each thread of the pool.
  base::BlockingPool pool_;
  std::deque<Db> reporter_;  // Reports take long, so they have a thread of their own.
  base::BlockingPool reporting_{1};
};

Result<void> prepare(SqliteOptions const& options) {
  Db db{{options.path, sqlite::Access::read_write_create, options.vfs}};
  sqlite::enter_wal_mode(db);
  return sqlite::migrate(db, all_migrations(options.module_migrations));
}

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(SqliteOptions options) {
  try {
    if (auto const ok = prepare(options); !ok) {
      return Error{ok.error().code, options.path + ": " + ok.error().detail};
    }
    return std::unique_ptr<Database>{std::make_unique<SqliteStore>(options)};
  } catch (sqlite::SqlError const& error) {
    auto const mapped = to_error(error);
    return Error{mapped.code, "cannot open the database " + options.path + ": " + mapped.detail};
  }
}

}  // namespace runnel::store
