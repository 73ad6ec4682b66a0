#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runnel/store/sql.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::store {

// Passes everything on to a database and remembers the statements that were read.
class RecordingSql final : public Sql {
 public:
  explicit RecordingSql(Sql& sql) : sql_{&sql} {}

  Async<std::vector<SqlResult>> write(std::vector<SqlStatement> statements) override {
    return sql_->write(std::move(statements));
  }
  Async<SqlResult> write_in_background(SqlStatement statement) override {
    return sql_->write_in_background(std::move(statement));
  }
  Async<SqlResult> read(SqlStatement statement) override {
    was_read.push_back(statement);
    return sql_->read(std::move(statement));
  }

  std::vector<SqlStatement> was_read;

 private:
  Sql* sql_;
};

// How the engine would run the statement: one step a line, as the engine writes it. The tables must be as
// large as they are in earnest and analyzed, or the engine rightly reads them whole.
std::string query_plan(Engine const& engine, Sql& sql, SqlStatement const& statement);

// The tables, or their aliases, that the plan reads whole.
std::vector<std::string> whole_tables(std::string const& plan);

}  // namespace runnel::store
