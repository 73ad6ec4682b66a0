#pragma once

#include <string>

#include "runnel/core/error.h"
#include "runnel/store/testing/store_contract.h"
#include "tests/support/postgres_server.h"

namespace runnel::store {

// Creates an empty schema on the server and returns its URL.
std::string fresh_postgres_schema(PostgresServer const& server);

Result<TextRows> postgres_rows(std::string const& url, std::string const& statement);

}  // namespace runnel::store
