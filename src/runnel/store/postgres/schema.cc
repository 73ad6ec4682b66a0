#include "runnel/store/postgres/schema.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <cstdlib>
#include <memory>

#include "runnel/store/postgres/error.h"

namespace runnel::store::postgres {

namespace {

// If several nodes start at the same time, only one migrates at a time. No other lock uses this number.
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

Result<bool> is_unreleased(PGconn* connection) {
  auto const answer =
      execute(connection,
              "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND "
              "table_name = 'schema_migrations' AND column_name = 'version'");
  if (!answer) return answer.error();
  return PQntuples(answer->get()) > 0;
}

Result<AppliedMigrations> applied(PGconn* connection) {
  auto const answer = execute(connection, "SELECT feature, number FROM schema_migrations");
  if (!answer) return answer.error();
  AppliedMigrations out;
  for (int row = 0; row < PQntuples(answer->get()); ++row) {
    out.emplace(PQgetvalue(answer->get(), row, 0),
                std::strtoll(PQgetvalue(answer->get(), row, 1), nullptr, 10));
  }
  return out;
}

// The check whether the step is missing is made under the lock.
Result<void> apply(PGconn* connection, Migration const& migration) {
  if (auto const locked = execute(connection, kLock); !locked) return locked.error();
  auto const found = applied(connection);
  if (!found) return found.error();
  if (!found->contains({std::string{migration.feature}, migration.number})) {
    auto const done = execute(connection, std::string{migration.postgres});
    if (!done) return done.error();
    auto const noted =
        execute(connection, fmt::format("INSERT INTO schema_migrations(feature, number) VALUES ('{}', {})",
                                        migration.feature, migration.number));
    if (!noted) return noted.error();
  }
  if (auto const committed = execute(connection, "COMMIT"); !committed) return committed.error();
  return {};
}

Result<void> make_migrations_table(PGconn* connection) {
  auto const sql = fmt::format(
      "{}; CREATE TABLE IF NOT EXISTS schema_migrations(feature text NOT NULL, number bigint NOT NULL, "
      "applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (feature, number)); COMMIT",
      kLock);
  auto const made = execute(connection, sql);
  return made ? Result<void>{} : made.error();
}

void drop_notice(void* /*arg*/, char const* /*message*/) {}

}  // namespace

Result<void> migrate(std::string const& url, std::vector<Migration> const& known) {
  PlainConnection const connection{PQconnectdb(url.c_str())};
  if (PQstatus(connection.get()) != CONNECTION_OK) return to_error(connection.get());
  PQsetNoticeProcessor(connection.get(), drop_notice, nullptr);

  auto const unreleased = is_unreleased(connection.get());
  if (!unreleased) return unreleased.error();
  if (*unreleased) return unreleased_schema();
  if (auto ok = make_migrations_table(connection.get()); !ok) return ok;
  auto const found = applied(connection.get());
  if (!found) return found.error();
  auto const missing = missing_migrations(known, *found);
  if (!missing) return missing.error();
  for (auto const& migration : *missing) {
    if (auto ok = apply(connection.get(), migration); !ok) return ok;
  }
  return {};
}

}  // namespace runnel::store::postgres
