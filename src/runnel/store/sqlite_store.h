#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runnel/core/error.h"
#include "runnel/store/store.h"
#include "runnel/store/store_metrics.h"

namespace runnel::store {

struct SqliteOptions {
  std::string path;  // Made if missing; its folder must exist.
  std::size_t reader_threads = 2;
  std::size_t max_group = 128;                // Intents in one commit.
  std::size_t checkpoint_bytes = 4UL << 20U;  // The WAL is copied back when it is longer.
  std::string vfs;                            // A registered SQLite VFS; empty: the default.
  StoreMetrics metrics{};
};

// Opens the database, makes its tables or brings them up to date. Fails with `unavailable` where the file
// cannot be opened or written, with `conflict` where a newer version of the program wrote it.
//
// The store must go before the io_contexts whose coroutines wait for it. Its destructor commits what was
// asked, resumes those who asked, and leaves the database in one file.
Result<std::unique_ptr<Store>> open_sqlite(SqliteOptions options);

}  // namespace runnel::store
