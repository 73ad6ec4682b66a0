#pragma once

#include <libpq-fe.h>

#include <string_view>

#include "runnel/core/error.h"

namespace runnel::store::postgres {

// The only place that knows SQLSTATE; empty: the connection broke.
Errc to_errc(std::string_view sqlstate);

// Whether the server undid the transaction only because of what ran beside it: the same one may be sent
// again.
bool is_worth_repeating(std::string_view sqlstate);

Error to_error(PGresult const* result);
Error to_error(PGconn const* connection);

}  // namespace runnel::store::postgres
