#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/postgres_connection.h"
#include "runnel/store/rows.h"
#include "runnel/store/ticket_rows.h"

// Between the records of rows.h and what travels to and from PostgreSQL: the arguments and answers of
// postgres_functions.cc, and the columns that postgres_store.cc asks for.
namespace runnel::store::postgres {

std::optional<std::string> messages_json(
    std::vector<NewMessage> const& messages);  // None where there is none.
std::string begin_json(Begin const& begin);
std::string touches_json(std::vector<TicketTouch> const& touches);
char const* to_string(OnBusy policy);
std::optional<std::string> unless_empty(std::string const& text);  // Empty text is stored as null.

Result<Admission> to_admission(Rows const& rows);
Result<Claim> to_claim(Rows const& rows);
Result<Ended> to_ended(Rows const& rows);
Result<DeleteOutcome> to_delete_outcome(Rows const& rows);
// How many rows a purge has deleted: one row says it, each other is of an entry that was passed over, which
// goes to the log.
Result<std::size_t> to_purged(Rows const& rows);
Result<UsedTicket> to_used_ticket(Rows const& rows);

std::vector<RunRow> to_runs(Rows const& rows);
Result<std::optional<RunRow>> to_run(Rows const& rows);
std::vector<ThreadRow> to_threads(Rows const& rows);

}  // namespace runnel::store::postgres
