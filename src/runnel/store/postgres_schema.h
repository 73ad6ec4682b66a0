#pragma once

#include <cstdint>
#include <string>

#include "runnel/core/error.h"

namespace runnel::store::postgres {

struct Migration {
  std::int64_t version = 0;
  char const* sql = nullptr;
};

extern char const* const kTables;
extern char const* const kFunctions;
extern char const* const kEdges;
extern char const* const kLedger;
extern char const* const kFlows;
extern char const* const kTotals;
extern char const* const kBounds;
extern char const* const kCare;
extern char const* const kEndings;

// Connects, applies what the database lacks, each migration in its own transaction, one node at a time, and
// disconnects; blocks. Fails with `unavailable` where it cannot connect, with `conflict` where a newer
// version of the program wrote the database.
Result<void> migrate(std::string const& url);

}  // namespace runnel::store::postgres
