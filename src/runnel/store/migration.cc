#include "runnel/store/migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kPostgresApprovals.inc"
#include "kPostgresBaseline.inc"
#include "kPostgresClientCalls.inc"
#include "kPostgresLogIdx.inc"
#include "kPostgresRunAliases.inc"
#include "kPostgresRunsByEpoch.inc"
#include "kPostgresToolCalls.inc"
#include "kSqliteApprovals.inc"
#include "kSqliteBaseline.inc"
#include "kSqliteClientCalls.inc"
#include "kSqliteLogIdx.inc"
#include "kSqliteRunAliases.inc"
#include "kSqliteRunsByEpoch.inc"
#include "kSqliteToolCalls.inc"

namespace runnel::store {

namespace {

constexpr std::array kOfRuns{Migration{"runs", 1, kSqliteBaseline, kPostgresBaseline},
                             Migration{"runs", 2, kSqliteToolCalls, kPostgresToolCalls},
                             Migration{"runs", 3, kSqliteApprovals, kPostgresApprovals},
                             Migration{"runs", 4, kSqliteLogIdx, kPostgresLogIdx},
                             Migration{"runs", 5, kSqliteRunsByEpoch, kPostgresRunsByEpoch},
                             Migration{"runs", 6, kSqliteRunAliases, kPostgresRunAliases},
                             Migration{"runs", 7, kSqliteClientCalls, kPostgresClientCalls}};

}  // namespace

std::span<Migration const> run_store_migrations() {
  return kOfRuns;
}

std::vector<Migration> all_migrations(std::vector<Migration> const& of_modules) {
  std::vector<Migration> all{kOfRuns.begin(), kOfRuns.end()};
  all.insert(all.end(), of_modules.begin(), of_modules.end());
  return all;
}

Result<std::vector<Migration>> missing_migrations(std::vector<Migration> const& known,
                                                  AppliedMigrations const& applied) {
  for (auto const& step : applied) {
    bool const is_known = std::any_of(known.begin(), known.end(), [&](Migration const& migration) {
      return migration.feature == step.first && migration.number == step.second;
    });
    if (is_known) continue;
    return Error{
        Errc::conflict,
        fmt::format("the database has step {} of the schema of '{}', which this program does not know: "
                    "a newer version of runnel wrote it; start that version, or use another database",
                    step.second, step.first)};
  }
  std::vector<Migration> missing;
  std::copy_if(known.begin(), known.end(), std::back_inserter(missing), [&](Migration const& migration) {
    return !applied.contains({std::string{migration.feature}, migration.number});
  });
  return missing;
}

Error unreleased_schema() {
  return Error{
      Errc::conflict,
      "the database was written by a version of runnel from before the first release, and this version "
      "cannot read it; start with an empty database or another data folder"};
}

}  // namespace runnel::store
