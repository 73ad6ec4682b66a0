#include "runnel/store/postgres_schema.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "runnel/store/postgres_error.h"

namespace runnel::store::postgres {

namespace {

// Ascending, from 1. A released migration never changes; a new one goes to the end.
std::array const kMigrations{Migration{1, kTables}, Migration{2, kFunctions}, Migration{3, kEdges},
                             Migration{4, kLedger}, Migration{5, kFlows},     Migration{6, kTotals},
                             Migration{7, kBounds}, Migration{8, kCare},      Migration{9, kEndings}};

// Of all nodes that start at once, one migrates; the number is ours alone.
constexpr char kLock[] = "BEGIN; SELECT pg_advisory_xact_lock(7246586532)";

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PlainConnection = std::unique_ptr<PGconn, Finish>;

struct ClearPlain {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PlainAnswer = std::unique_ptr<PGresult, ClearPlain>;

Result<PlainAnswer> execute(PGconn* connection, std::string const& sql) {
  PlainAnswer answer{PQexec(connection, sql.c_str())};
  if (!answer) return to_error(connection);
  auto const status = PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return to_error(answer.get());
  return answer;
}

Result<std::int64_t> current_version(PGconn* connection) {
  auto const answer = execute(connection, "SELECT coalesce(max(version), 0) FROM schema_migrations");
  if (!answer) return answer.error();
  return std::strtoll(PQgetvalue(answer->get(), 0, 0), nullptr, 10);
}

Result<void> apply(PGconn* connection, Migration const& migration) {
  if (auto const locked = execute(connection, kLock); !locked) return locked.error();
  auto const found = current_version(connection);
  if (!found) return found.error();
  if (*found < migration.version) {
    if (auto const done = execute(connection, migration.sql); !done) return done.error();
    auto const noted = execute(connection, "INSERT INTO schema_migrations(version) VALUES (" +
                                               std::to_string(migration.version) + ")");
    if (!noted) return noted.error();
  }
  if (auto const committed = execute(connection, "COMMIT"); !committed) return committed.error();
  return {};
}

Result<void> make_migrations_table(PGconn* connection) {
  auto const sql = fmt::format(
      "{}; CREATE TABLE IF NOT EXISTS schema_migrations(version bigint PRIMARY KEY, "
      "applied_at timestamptz NOT NULL DEFAULT now()); COMMIT",
      kLock);
  auto const made = execute(connection, sql);
  return made ? Result<void>{} : made.error();
}

void drop_notice(void* /*arg*/, char const* /*message*/) {}

}  // namespace

Result<void> migrate(std::string const& url) {
  PlainConnection const connection{PQconnectdb(url.c_str())};
  if (PQstatus(connection.get()) != CONNECTION_OK) return to_error(connection.get());
  PQsetNoticeProcessor(connection.get(), drop_notice, nullptr);

  if (auto ok = make_migrations_table(connection.get()); !ok) return ok;
  auto const found = current_version(connection.get());
  if (!found) return found.error();
  auto const known = kMigrations.back().version;
  if (*found > known) {
    return Error{Errc::conflict, "the database has schema version " + std::to_string(*found) +
                                     ", this program knows up to " + std::to_string(known) +
                                     ": it was written by a newer runnel"};
  }
  for (auto const& migration : kMigrations) {
    if (migration.version <= *found) continue;
    if (auto ok = apply(connection.get(), migration); !ok) return ok;
  }
  return {};
}

}  // namespace runnel::store::postgres
