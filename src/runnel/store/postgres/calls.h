#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/call_rows.h"
#include "runnel/store/postgres/connection.h"

// Conversions between the records of call_rows.h and what travels to and from PostgreSQL: the arguments of
// the functions of the ledger (migrations/postgres), and the rows that are read from the ledger.
namespace runnel::store::postgres {

// Each is empty if there is nothing in it.
std::optional<std::string> budgets_json(Budgets const& budgets);
std::optional<std::string> ends_json(std::vector<CallEnd> const& ends);
std::optional<std::string> bookings_json(std::vector<CallBooking> const& bookings);

Statement open_call_statement(NewCall const& call);

Statement unbooked_statement(RunKey run);
Result<std::vector<UnbookedCall>> to_unbooked(Rows const& rows);

}  // namespace runnel::store::postgres
