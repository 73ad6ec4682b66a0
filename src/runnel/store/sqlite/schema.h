#pragma once

#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/migration.h"
#include "runnel/store/sqlite/db.h"

namespace runnel::store::sqlite {

// The mode belongs to the file and stays. Throws SqlError if the file cannot have a write-ahead log.
void enter_wal_mode(Db& db);

// Applies the steps that the database lacks, each in its own transaction. Fails with `conflict` and changes
// nothing if the database was written by a newer version of the program or by one from before the first
// release. Throws SqlError.
Result<void> migrate(Db& db, std::vector<Migration> const& known);

}  // namespace runnel::store::sqlite
