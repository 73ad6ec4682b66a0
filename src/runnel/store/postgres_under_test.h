#pragma once

#include <string>

#include "runnel/core/error.h"
#include "runnel/store/store_contract.h"
#include "tests/support/postgres_server.h"

namespace runnel::store {

// The URL of an empty schema of its own in the program's server.
std::string fresh_postgres_schema(PostgresServer const& server);

Result<SqlRows> postgres_rows(std::string const& url, std::string const& statement);

}  // namespace runnel::store
