#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/money/money.h"
#include "runnel/store/store.h"

// The SQL layer for every feature outside a run's hot path (docs/decisions/040). One text serves both
// engines: parameters are $1, $2 …; use only what both engines have, such as ON CONFLICT, RETURNING, CASE and
// json_quote() (which the baseline adds to PostgreSQL).
namespace runnel::store {

using SqlValue = std::variant<std::monostate, std::int64_t, std::string>;  // monostate is NULL.

// Null if the text is empty.
SqlValue null_if_empty(std::string text);
// Null if there is no text.
SqlValue null_if_none(std::optional<std::string> text);

struct SqlStatement {
  std::string_view text;  // A literal: it lives as long as the program, and ends with a NUL.
  std::vector<SqlValue> parameters{};
  // How many rows an INSERT, UPDATE or DELETE without RETURNING must touch. If it touches another number, the
  // whole write fails with `conflict` and nothing is written.
  std::optional<std::int64_t> must_touch{};

  [[nodiscard]] SqlStatement touching(std::int64_t rows) && {
    must_touch = rows;
    return std::move(*this);
  }
};

// A statement with its parameters. A plain function, so that it is safe inside a coroutine (CONTRIBUTING.md).
template <class... Parameters>
SqlStatement statement(std::string_view text, Parameters&&... parameters) {
  SqlStatement out{text};
  out.parameters.reserve(sizeof...(parameters));
  (out.parameters.emplace_back(std::forward<Parameters>(parameters)), ...);
  return out;
}

// The rows that a statement returned.
class SqlResult {
 public:
  using Row = std::vector<SqlValue>;

  SqlResult() = default;
  explicit SqlResult(std::vector<Row> rows) : rows_{std::move(rows)} {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const;
  // NULL is read as an empty text or as 0. Reading a column as the wrong type is a bug and throws.
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::int64_t integer(std::size_t row, std::size_t column) const;
  // A cost, or a sum of costs. SQLite counts them in the unit of Money, and PostgreSQL has decimal numbers.
  [[nodiscard]] Money money(std::size_t row, std::size_t column) const;

 private:
  std::vector<Row> rows_;
};

// Any thread may call; the coroutine resumes on its own executor. Every call may fail with `unavailable`. A
// write whose outcome is unknown may have been done, so callers create their ids themselves and write
// statements that can be repeated. A value that holds a NUL is refused with `invalid`, because PostgreSQL
// cannot store it.
class Sql {
 public:
  Sql() = default;
  Sql(Sql const&) = delete;
  Sql& operator=(Sql const&) = delete;
  virtual ~Sql() = default;

  // Runs all statements in order in one transaction, which is durable when the coroutine resumes. Returns the
  // result of each statement. No statement can use the result of another.
  virtual Async<std::vector<SqlResult>> write(std::vector<SqlStatement> statements) = 0;

  // The same for one statement.
  Async<SqlResult> write_one(SqlStatement statement);

  // Runs one statement that no request waits for. On SQLite it runs when no other write is waiting, or after
  // a number of commits; on PostgreSQL it uses the connection for maintenance. It should touch few rows, so
  // that requests get their turn again soon.
  virtual Async<SqlResult> write_in_background(SqlStatement statement) = 0;

  // Runs one statement that changes nothing and sees only committed rows.
  virtual Async<SqlResult> read(SqlStatement statement) = 0;
};

// The result of a write that has exactly one statement.
Async<SqlResult> only_result(Async<std::vector<SqlResult>> results);

// Fails with `invalid` if a value holds a NUL, or if there is no statement.
Result<void> check(SqlStatement const& statement);
Result<void> check(std::vector<SqlStatement> const& statements);

}  // namespace runnel::store
