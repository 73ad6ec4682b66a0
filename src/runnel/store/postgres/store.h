#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/database.h"
#include "runnel/store/migration.h"

namespace runnel::store {

struct PostgresOptions {
  std::string url;  // postgres://… or libpq's keyword form.
  std::size_t write_connections = 4;
  std::size_t read_connections = 2;
  std::vector<Migration> module_migrations{};
};

// Connects, and creates the tables and functions or brings them up to date; blocks until this is done. Fails
// with `unavailable` if the server cannot be reached, and with `conflict` if the database was written by a
// newer version of the program or by one from before the first release.
//
// The admits of one thread keep their order, and so do the intents of one run, except for a call that is sent
// again (postgres/connection.h). Everything else is spread over the connections, so that the server can
// commit it together. The store must be destroyed before the io_contexts whose coroutines wait for it.
Result<std::unique_ptr<Database>> open_postgres(PostgresOptions options);

}  // namespace runnel::store
