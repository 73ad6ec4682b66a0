#pragma once

#include <vector>

#include "runnel/store/postgres/connection.h"
#include "runnel/store/sql.h"

namespace runnel::store::postgres {

Statement to_statement(SqlStatement const& statement);
std::vector<Statement> to_segment(std::vector<SqlStatement> const& statements);

Result<SqlResult> to_sql_result(Rows const& rows);

}  // namespace runnel::store::postgres
