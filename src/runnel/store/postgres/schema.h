#pragma once

#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/migration.h"

namespace runnel::store::postgres {

// Connects, applies the steps that the database lacks, each in its own transaction and by one node at a time,
// and disconnects. It blocks. Fails with `unavailable` if it cannot connect, and with `conflict` if the
// database was written by a newer version of the program or by one from before the first release.
Result<void> migrate(std::string const& url, std::vector<Migration> const& known);

}  // namespace runnel::store::postgres
