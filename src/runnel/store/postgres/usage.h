#pragma once

#include "runnel/core/error.h"
#include "runnel/store/call_rows.h"
#include "runnel/store/postgres/connection.h"

// The sums of the ledger (USE-8), as they are read from PostgreSQL.
namespace runnel::store::postgres {

Statement usage_statement(UsageQuery const& query);
Result<UsageReport> to_usage(Rows const& rows, UsageGroup group, std::size_t limit);

}  // namespace runnel::store::postgres
