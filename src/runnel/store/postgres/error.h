#pragma once

#include <libpq-fe.h>

#include <string_view>

#include "runnel/core/error.h"

namespace runnel::store::postgres {

// The only mapping from SQLSTATE to `Errc`. An empty text means that the connection broke.
Errc to_errc(std::string_view sqlstate);

// Whether the server undid the transaction only because of a concurrent one, so that it may be sent again.
bool is_worth_repeating(std::string_view sqlstate);

Error to_error(PGresult const* result);
Error to_error(PGconn const* connection);

}  // namespace runnel::store::postgres
