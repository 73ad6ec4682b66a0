#include "runnel/store/sql.h"

#include <algorithm>
#include <utility>

namespace runnel::store {

SqlValue null_if_empty(std::string text) {
  if (text.empty()) return {};
  return text;
}

SqlValue null_if_none(std::optional<std::string> text) {
  if (!text) return {};
  return std::move(*text);
}

bool SqlResult::is_null(std::size_t row, std::size_t column) const {
  return std::holds_alternative<std::monostate>(rows_.at(row).at(column));
}

std::string SqlResult::text(std::size_t row, std::size_t column) const {
  return is_null(row, column) ? std::string{} : std::get<std::string>(rows_.at(row).at(column));
}

std::int64_t SqlResult::integer(std::size_t row, std::size_t column) const {
  return is_null(row, column) ? 0 : std::get<std::int64_t>(rows_.at(row).at(column));
}

Money SqlResult::money(std::size_t row, std::size_t column) const {
  auto const* const text = std::get_if<std::string>(&rows_.at(row).at(column));
  return text != nullptr ? parse_money(*text).value() : Money{integer(row, column)};
}

Async<SqlResult> Sql::write_one(SqlStatement statement) {
  std::vector<SqlStatement> statements;
  statements.push_back(std::move(statement));
  return only_result(write(std::move(statements)));
}

Async<SqlResult> only_result(Async<std::vector<SqlResult>> results) {
  auto all = co_await std::move(results);
  if (!all) co_return all.error();
  co_return std::move(all->front());
}

Result<void> check(SqlStatement const& statement) {
  bool const has_nul =
      std::any_of(statement.parameters.begin(), statement.parameters.end(), [](SqlValue const& value) {
        auto const* const text = std::get_if<std::string>(&value);
        return text != nullptr && text->find('\0') != std::string::npos;
      });
  if (has_nul) return Error{Errc::invalid, "a value holds a NUL character, which cannot be stored"};
  return {};
}

Result<void> check(std::vector<SqlStatement> const& statements) {
  if (statements.empty()) return Error{Errc::invalid, "a write needs at least one statement"};
  for (auto const& statement : statements) {
    if (auto ok = check(statement); !ok) return ok;
  }
  return {};
}

}  // namespace runnel::store
