#pragma once

#include <cstdint>
#include <span>

#include "runnel/core/error.h"
#include "runnel/store/sqlite_db.h"

namespace runnel::store::sqlite {

struct Migration {
  std::int64_t version = 0;
  char const* sql = nullptr;
};

extern char const* const kTotals;  // sqlite_schema_totals.cc

// Ascending, from 1. A released migration never changes; a new one goes to the end.
std::span<Migration const> migrations();

// The mode is the file's and stays. Throws SqlError where the place cannot hold a write-ahead log.
void enter_wal_mode(Db& db);

// Applies what the database lacks, each in its own transaction. Fails with `conflict`, changing nothing,
// where the database was written by a newer version; throws SqlError.
Result<void> migrate(Db& db);

}  // namespace runnel::store::sqlite
