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
#include "runnel/store/sql.h"

// The part of SQLite's C interface that this store uses. Inside the store, a failing statement throws
// `SqlError`. The writer and the readers turn it into an `Error` before they answer, so that the code of an
// intent is just its statements.
namespace runnel::store::sqlite {

class SqlError : public std::runtime_error {
 public:
  SqlError(int code, std::string const& what) : std::runtime_error(what), code_{code} {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;  // SQLite's extended code.
};

// The only mapping from SQLite's codes to `Errc`.
Error to_error(SqlError const& error);

// Whether the statement itself caused the failure (a constraint, a bad statement), and not the disk, the
// memory or a lock. Only then may the surrounding transaction continue.
bool is_statements_own(SqlError const& error);

// Whether the file is damaged. Repeating does not help, but the rest of the file still works. SQLite does not
// commit a transaction that has met damage.
bool is_damage(SqlError const& error);

enum class Access { read_write_create, read_only };

struct DbOptions {
  std::string path;
  Access access = Access::read_write_create;
  std::string vfs;  // Empty for SQLite's default.
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// One connection and its prepared statements. Only one thread may use it at a time.
class Db {
 public:
  // Throws SqlError.
  explicit Db(DbOptions const& options);

  // Runs statements that have no parameters and return no rows; several may be separated by semicolons.
  void execute(char const* sql);

  // Runs one statement and returns how many rows it changed. Parameters are ?1, ?2 …. (SQLite takes $1 for a
  // name, and numbers names in the order in which they first occur.)
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

  // `sql` must stay at the same address as long as the connection lives, as a literal does: the address is
  // the statement's key in the cache.
  sqlite3_stmt* prepared(std::string_view sql);
  [[noreturn]] void fail(std::string_view sql) const;

  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<char const*, Statement> statements_;  // Finalized before the handle closes.
};

// One execution of a cached statement. Its parameters must outlive it. The destructor resets the statement
// for its next use.
class Query {
 public:
  template <class... Args>
  explicit Query(Db& db, std::string_view sql, Args const&... args)
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

  // Moves to the next row. Returns false if there is none.
  bool next();

  [[nodiscard]] int columns() const { return sqlite3_column_count(statement_); }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::string text(int column) const;  // Empty if it is NULL.
  // The value with the type that it is stored as.
  [[nodiscard]] SqlValue value(int column) const;
  // The length of the text in bytes; 0 if it is NULL.
  [[nodiscard]] std::size_t bytes(int column) const {
    return static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  }

  // Binds a parameter by its name, such as `$1`. Throws if the statement has no parameter of that name.
  void bind_named(std::string const& name, SqlValue const& value);

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

// Does `work` inside a transaction. If a statement of `work` itself causes a failure (`is_statements_own`),
// what `work` wrote is undone, the transaction continues and the failure is returned. Any other failure is
// thrown.
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
