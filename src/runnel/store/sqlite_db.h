#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runnel/core/error.h"

// SQLite's C interface, as far as this store uses it. Inside the store a failing statement throws `SqlError`;
// the writer and the readers turn it into an `Error` at their edge, so that an intent reads as its
// statements.
namespace runnel::store::sqlite {

class SqlError : public std::runtime_error {
 public:
  SqlError(int code, std::string const& what) : std::runtime_error(what), code_{code} {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;  // Extended.
};

// The only place that knows SQLite's codes.
Error to_error(SqlError const& error);

// Whether the failure is the statement's own (a constraint, a bad statement) rather than the disk's, the
// memory's or a lock's. Only then may the transaction around it go on.
bool is_statements_own(SqlError const& error);

// Whether the file does not hold what it should. No repeat helps, but what lies elsewhere in it is not
// concerned. SQLite commits no transaction that has met it.
bool is_damage(SqlError const& error);

enum class Access { read_write_create, read_only };

struct DbOptions {
  std::string path;
  Access access = Access::read_write_create;
  std::string vfs;  // Empty: SQLite's default.
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// One connection and its prepared statements. For one thread at a time.
class Db {
 public:
  // Throws SqlError.
  explicit Db(DbOptions const& options);

  // Statements that return nothing and take nothing; several may be joined by semicolons.
  void execute(char const* sql);

  // Runs one statement; returns how many rows it changed. Parameters are ?1, ?2 … ($1 would be a name to
  // SQLite, numbered by where it first stands).
  template <class... Args>
  std::int64_t run(std::string_view sql, Args const&... args);

  [[nodiscard]] std::int64_t last_insert_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
  [[nodiscard]] bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  friend class Query;

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };

  // `sql` must live as long as the connection, at one place: a literal. Its address is the statement's name
  // in the cache.
  sqlite3_stmt* prepared(std::string_view sql);
  [[noreturn]] void fail(std::string_view sql) const;

  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<char const*, Statement> statements_;  // Finalized before the handle closes.
};

// One execution of a cached statement. Its parameters must outlive it; it gives the statement back when it
// goes.
class Query {
 public:
  template <class... Args>
  Query(Db& db, std::string_view sql, Args const&... args)
      : db_{db}, sql_{sql}, statement_{db.prepared(sql)} {
    int index = 0;
    (bind(++index, args), ...);
  }
  Query(Query const&) = delete;
  Query& operator=(Query const&) = delete;
  ~Query() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

  // Moves to the next row; false: there is none.
  bool next();

  [[nodiscard]] int columns() const { return sqlite3_column_count(statement_); }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::string text(int column) const;  // Null: empty.
  // How long the text is. Null: 0.
  [[nodiscard]] std::size_t bytes(int column) const {
    return static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  }

 private:
  template <std::integral T>
  void bind(int index, T value) {
    check(sqlite3_bind_int64(statement_, index, static_cast<sqlite3_int64>(value)));
  }
  void bind(int index, std::string_view value) {
    check(sqlite3_bind_text64(statement_, index, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void bind(int index, std::nullopt_t) { check(sqlite3_bind_null(statement_, index)); }
  template <class T>
  void bind(int index, std::optional<T> const& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, std::nullopt);
    }
  }
  void check(int code) {
    if (code != SQLITE_OK) db_.fail(sql_);
  }

  Db& db_;
  std::string_view sql_;
  sqlite3_stmt* statement_;
};

template <class... Args>
std::int64_t Db::run(std::string_view sql, Args const&... args) {
  Query query{*this, sql, args...};
  while (query.next()) {
  }
  return sqlite3_changes64(handle_.get());
}

// Does `work` inside a transaction. Where it fails by itself, what it wrote is undone, the transaction goes
// on and the failure is returned; any other failure is thrown.
template <class Work>
std::optional<SqlError> attempt(Db& db, Work work) {
  db.run("SAVEPOINT attempt");
  try {
    work();
  } catch (SqlError const& error) {
    if (!is_statements_own(error) || !db.in_transaction()) throw;
    db.run("ROLLBACK TO attempt");
    db.run("RELEASE attempt");
    return error;
  }
  db.run("RELEASE attempt");
  return std::nullopt;
}

}  // namespace runnel::store::sqlite
