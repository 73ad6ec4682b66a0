#include "runnel/store/testing/query_plan.h"

#include <deque>
#include <regex>
#include <sstream>

namespace runnel::store {

namespace {

// The text of a statement must live as long as the program.
std::string_view kept(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

// SQLite answers with id, parent, an unused column and the step; PostgreSQL with the step alone.
constexpr std::size_t kSqliteStep = 3;

}  // namespace

std::string query_plan(Engine const& engine, Sql& sql, SqlStatement const& statement) {
  bool const is_sqlite = engine.name == sqlite_engine().name;
  SqlStatement explain{kept((is_sqlite ? "EXPLAIN QUERY PLAN " : "EXPLAIN ") + std::string{statement.text}),
                       statement.parameters};
  auto const steps = run_async(sql.read(std::move(explain))).value();
  std::string plan;
  for (std::size_t row = 0; row < steps.size(); ++row)
    plan += steps.text(row, is_sqlite ? kSqliteStep : 0) + "\n";
  return plan;
}

std::vector<std::string> whole_tables(std::string const& plan) {
  // An index without a condition is read whole, too. PostgreSQL writes the condition in the next line.
  static std::regex const kWhole{
      "Seq Scan on (\\w+)|SCAN (\\w+)(?: USING [^\\n]*)?\\n|"
      "Index (?:Only )?Scan (?:Backward )?(?:using \\w+ )?on (\\w+)[^\\n]*\\n(?! *Index Cond:)"};
  std::vector<std::string> out;
  for (std::sregex_iterator found{plan.begin(), plan.end(), kWhole}, end; found != end; ++found) {
    auto const name = found->str(1) + found->str(2) + found->str(3);
    // SQLite also says so of the rows of an inner query.
    bool const is_inner = plan.find("CO-ROUTINE " + name + "\n") != std::string::npos ||
                          plan.find("MATERIALIZE " + name + "\n") != std::string::npos;
    if (!is_inner) out.push_back(name);
  }
  return out;
}

}  // namespace runnel::store
