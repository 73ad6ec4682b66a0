#include "runnel/store/sqlite/db.h"

namespace runnel::store::sqlite {

namespace {

constexpr int kBusyTimeoutMs = 5000;
// SQLite's lookaside: small pieces of memory that a connection keeps for itself.
constexpr int kLookasideBytes = 512;
constexpr int kLookasideSlots = 256;
// At most 16 MiB of pages. Clients may choose random ids, so reads touch pages all over an index.
constexpr char kPageCache[] = "PRAGMA cache_size=-16384";

int primary(int extended_code) {
  return extended_code & 0xff;
}

Errc to_errc(int code) {
  switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
      return Errc::already_exists;
    case SQLITE_CONSTRAINT_TRIGGER:
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return Errc::conflict;
    default:
      break;
  }
  switch (primary(code)) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL:
      return Errc::unavailable;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
      return Errc::invalid;
    default:
      return Errc::internal;
  }
}

}  // namespace

Error to_error(SqlError const& error) {
  return Error{to_errc(error.code()), error.what()};
}

bool is_statements_own(SqlError const& error) {
  switch (primary(error.code())) {
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
      return true;
    default:
      return false;
  }
}

bool is_damage(SqlError const& error) {
  return primary(error.code()) == SQLITE_CORRUPT || primary(error.code()) == SQLITE_NOTADB;
}

// Done once, before the first connection. By default SQLite counts its memory under one lock for the whole
// process, although nobody reads that number, and keeps large undo logs of savepoints in temporary files.
void configure_library() {
  static int const done =
      sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) | sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
  static_cast<void>(done);
}

Db::Db(DbOptions const& options) {
  configure_library();
  sqlite3* handle = nullptr;
  int const flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int const code = sqlite3_open_v2(options.path.c_str(), &handle, flags,
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  handle_.reset(handle);
  if (code != SQLITE_OK) {
    throw SqlError(code,
                   "open " + options.path + ": " + (handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)));
  }

  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_LOOKASIDE, nullptr, kLookasideBytes, kLookasideSlots);
  // Readers also open the file for writing, because the WAL's index is shared memory. The pragma keeps them
  // from writing.
  execute(options.access == Access::read_only ? "PRAGMA query_only=ON" : "PRAGMA foreign_keys=ON");
  execute("PRAGMA synchronous=FULL");
  execute(kPageCache);
  execute("PRAGMA temp_store=MEMORY");
}

void Db::execute(char const* sql) {
  int const code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(sql);
}

sqlite3_stmt* Db::prepared(std::string_view sql) {
  auto const found = statements_.find(sql.data());
  if (found != statements_.end()) return found->second.get();

  sqlite3_stmt* statement = nullptr;
  int const code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(sql);
  return statements_.emplace(sql.data(), Statement{statement}).first->second.get();
}

void Db::fail(std::string_view sql) const {
  throw SqlError(sqlite3_extended_errcode(handle_.get()),
                 std::string{sqlite3_errmsg(handle_.get())} + " in: " + std::string{sql.substr(0, 120)});
}

bool Query::next() {
  int const code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  db_.fail(sql_);
}

SqlValue Query::value(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return integer(column);
    default:
      return text(column);
  }
}

void Query::bind_named(std::string const& name, SqlValue const& value) {
  int const index = sqlite3_bind_parameter_index(statement_, name.c_str());
  if (index == 0) throw SqlError(SQLITE_RANGE, "no parameter " + name + " in " + std::string{sql_});
  if (auto const* const number = std::get_if<std::int64_t>(&value)) return bind(index, *number);
  if (auto const* const words = std::get_if<std::string>(&value))
    return bind(index, std::string_view{*words});
  bind(index, std::nullopt);
}

std::string Query::text(int column) const {
  auto const* const bytes = reinterpret_cast<char const*>(sqlite3_column_text(statement_, column));
  return bytes == nullptr
             ? std::string{}
             : std::string{bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace runnel::store::sqlite
