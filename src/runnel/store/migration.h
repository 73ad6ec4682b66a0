#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/core/error.h"

namespace runnel::store {

// One step of a schema, written once for each engine. A released step never changes; a new step gets the next
// number. A later step of the store runs before the modules' steps in a new database, but after their earlier
// steps in an upgraded one. So no step may depend on the order of two features, except that a module's step
// may refer to the tables of step 1 of "runs".
struct Migration {
  std::string_view feature;  // The owner of the tables: "runs" or a module's name.
  std::int64_t number = 0;   // Starts at 1 in each feature and has no gaps.
  std::string_view sqlite;
  std::string_view postgres;
};

// The steps of the store's own tables. They come first, because a module's tables may refer to them.
std::span<Migration const> run_store_migrations();

// The steps of the store, then those of the modules.
std::vector<Migration> all_migrations(std::vector<Migration> const& of_modules);

using AppliedMigrations = std::set<std::pair<std::string, std::int64_t>>;

// The steps that a database lacks, in order. Fails with `conflict` if the database has a step that is not in
// `known`: then a newer version of the program wrote it.
Result<std::vector<Migration>> missing_migrations(std::vector<Migration> const& known,
                                                  AppliedMigrations const& applied);

// The error for a database from before the first release. The steps of such a database are numbered
// differently.
Error unreleased_schema();

}  // namespace runnel::store
