#include "runnel/store/postgres/sql.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

namespace runnel::store::postgres {

namespace {

// A segment commits before its client sees how many rows a statement touched. So the server counts the rows,
// and raises an error if the number is wrong. The texts live as long as the program.
char const* counting_text(SqlStatement const& statement) {
  static std::mutex mutex;
  static std::map<char const*, std::string> texts;
  std::lock_guard const lock{mutex};
  auto const [found, is_new] = texts.try_emplace(statement.text.data());
  if (is_new) {
    found->second = fmt::format(
        "WITH touched AS ({} RETURNING 1) SELECT runnel_expect((SELECT count(*) FROM touched), ${})",
        statement.text, statement.parameters.size() + 1);
  }
  return found->second.c_str();
}

SqlValue value_at(Rows const& rows, int row, int column) {
  if (rows.is_null(row, column)) return {};
  if (rows.is_integer(column)) return rows.integer(row, column);
  return rows.text(row, column);
}

}  // namespace

Statement to_statement(SqlStatement const& statement) {
  if (!statement.must_touch) return Statement{statement.text.data(), statement.parameters};
  auto parameters = statement.parameters;
  parameters.emplace_back(*statement.must_touch);
  return Statement{counting_text(statement), parameters, Statement::Answers::nothing};
}

std::vector<Statement> to_segment(std::vector<SqlStatement> const& statements) {
  std::vector<Statement> out;
  out.reserve(statements.size());
  for (auto const& statement : statements) {
    out.push_back(to_statement(statement));
  }
  return out;
}

Result<SqlResult> to_sql_result(Rows const& rows) {
  std::vector<SqlResult::Row> out;
  out.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    SqlResult::Row values;
    for (int column = 0; column < rows.columns(); ++column) {
      values.push_back(value_at(rows, row, column));
    }
    out.push_back(std::move(values));
  }
  return SqlResult{std::move(out)};
}

}  // namespace runnel::store::postgres
