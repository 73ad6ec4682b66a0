#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/database.h"
#include "runnel/store/migration.h"
#include "runnel/store/store_metrics.h"

namespace runnel::store {

struct SqliteOptions {
  std::string path;  // Created if it is missing; its folder must exist.
  std::size_t reader_threads = 2;
  std::size_t max_group = 128;                // The most intents in one commit.
  std::size_t checkpoint_bytes = 4UL << 20U;  // The WAL is copied back when it is larger.
  std::string vfs;                            // A registered SQLite VFS. Empty for the default.
  StoreMetrics metrics{};
  std::vector<Migration> module_migrations{};
};

// Opens the database, and creates its tables or brings them up to date. Fails with `unavailable` if the file
// cannot be opened or written, and with `conflict` if the database was written by a newer version of the
// program or by one from before the first release.
//
// The store must be destroyed before the io_contexts whose coroutines wait for it. Its destructor commits all
// submitted intents, resumes their callers, and leaves the database in one file.
Result<std::unique_ptr<Database>> open_sqlite(SqliteOptions options);

}  // namespace runnel::store
