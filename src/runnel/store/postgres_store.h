#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runnel/core/error.h"
#include "runnel/store/store.h"

namespace runnel::store {

struct PostgresOptions {
  std::string url;  // postgres://… or libpq's keyword form.
  std::size_t write_connections = 4;
  std::size_t read_connections = 2;
};

// Connects, makes the tables and functions or brings them up to date; blocks meanwhile. Fails with
// `unavailable` where the server cannot be reached, with `conflict` where a newer version of the program
// wrote the database.
//
// The intents of one thread's admits and those of one run keep their order; what belongs to different ones is
// spread over the connections, so that the server can commit it together. The store must go before the
// io_contexts whose coroutines wait for it.
Result<std::unique_ptr<Store>> open_postgres(PostgresOptions options);

}  // namespace runnel::store
