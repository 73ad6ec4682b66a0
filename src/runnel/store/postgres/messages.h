#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/postgres/connection.h"
#include "runnel/store/rows.h"

// The messages of a thread, as they are read from PostgreSQL.
namespace runnel::store::postgres {

Statement history_statement(UserId const& owner, ThreadId const& thread, std::optional<std::int64_t> before,
                            PageSize size);
Result<HistoryPage> to_history(Rows const& rows);

Statement context_statement(ThreadKey thread, RunKey reader, PageSize size);
Result<std::vector<MessageRow>> to_context(Rows const& rows);

}  // namespace runnel::store::postgres
