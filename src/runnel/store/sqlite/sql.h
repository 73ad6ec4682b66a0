#pragma once

#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/sql.h"
#include "runnel/store/sqlite/db.h"

namespace runnel::store::sqlite {

// Must be called inside a transaction. Fails with `conflict` if a statement touches another number of rows
// than its `must_touch`. Throws SqlError.
Result<std::vector<SqlResult>> run_statements(Db& db, std::vector<SqlStatement> const& statements);

SqlResult run_statement(Db& db, SqlStatement const& statement);

}  // namespace runnel::store::sqlite
