#include "runnel/store/sqlite/sql.h"

#include <fmt/format.h>

#include <utility>

namespace runnel::store::sqlite {

SqlResult run_statement(Db& db, SqlStatement const& statement) {
  Query query{db, statement.text};
  for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
    query.bind_named(fmt::format("${}", i + 1), statement.parameters[i]);
  }
  std::vector<SqlResult::Row> rows;
  while (query.next()) {
    SqlResult::Row row;
    for (int column = 0; column < query.columns(); ++column) {
      row.push_back(query.value(column));
    }
    rows.push_back(std::move(row));
  }
  return SqlResult{std::move(rows)};
}

Result<std::vector<SqlResult>> run_statements(Db& db, std::vector<SqlStatement> const& statements) {
  std::vector<SqlResult> results;
  results.reserve(statements.size());
  for (auto const& statement : statements) {
    results.push_back(run_statement(db, statement));
    auto const touched = sqlite3_changes64(db.handle());
    if (statement.must_touch && touched != *statement.must_touch) {
      return Error{Errc::conflict,
                   fmt::format("a statement touched {} rows instead of {}", touched, *statement.must_touch)};
    }
  }
  return results;
}

}  // namespace runnel::store::sqlite
