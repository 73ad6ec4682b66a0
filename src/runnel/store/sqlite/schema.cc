#include "runnel/store/sqlite/schema.h"

#include <string>

namespace runnel::store::sqlite {

namespace {

constexpr char kMigrationsTable[] =
    "CREATE TABLE IF NOT EXISTS schema_migrations("
    "feature TEXT NOT NULL, number INTEGER NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (feature, "
    "number)) "
    "WITHOUT ROWID";

bool is_unreleased(Db& db) {
  Query query{db, "SELECT 1 FROM pragma_table_info('schema_migrations') WHERE name = 'version'"};
  return query.next();
}

AppliedMigrations applied(Db& db) {
  AppliedMigrations out;
  Query query{db, "SELECT feature, number FROM schema_migrations"};
  while (query.next()) {
    out.emplace(query.text(0), query.integer(1));
  }
  return out;
}

bool is_applied(Db& db, Migration const& migration) {
  Query query{db, "SELECT 1 FROM schema_migrations WHERE feature = ?1 AND number = ?2", migration.feature,
              migration.number};
  return query.next();
}

// Another process may migrate at the same moment, so the check whether the step is missing is made under the
// write lock.
void apply(Db& db, Migration const& migration) {
  db.execute("BEGIN IMMEDIATE");
  try {
    if (!is_applied(db, migration)) {
      db.execute(std::string{migration.sqlite}.c_str());
      db.run(
          "INSERT INTO schema_migrations(feature, number, applied_at) VALUES (?1, ?2, strftime('%s','now') * "
          "1000)",
          migration.feature, migration.number);
    }
    db.execute("COMMIT");
  } catch (SqlError const&) {
    if (db.in_transaction()) db.execute("ROLLBACK");
    throw;
  }
}

}  // namespace

void enter_wal_mode(Db& db) {
  Query mode{db, "PRAGMA journal_mode=WAL"};
  if (!mode.next() || mode.text(0) != "wal") {
    throw SqlError(SQLITE_CANTOPEN,
                   "SQLite cannot use a write-ahead log for this file; use a folder on a local disk");
  }
}

Result<void> migrate(Db& db, std::vector<Migration> const& known) {
  if (is_unreleased(db)) return unreleased_schema();
  db.execute(kMigrationsTable);
  auto const missing = missing_migrations(known, applied(db));
  if (!missing) return missing.error();
  for (auto const& migration : *missing) {
    apply(db, migration);
  }
  return {};
}

}  // namespace runnel::store::sqlite
