#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite/db.h"

// The reads of store.h as statements, one function each. Each runs inside one read transaction, so that
// everything that it reads belongs to the same moment. They throw SqlError.
namespace runnel::store::sqlite {

Result<std::optional<RunRow>> find_run(Db& db, UserId const& owner, ThreadId const& thread, RunId const& run);
Result<std::optional<RunRow>> run_by_key(Db& db, RunKey run);
Result<std::vector<RunRow>> runs_to_recover(Db& db, RunKey after, std::size_t limit);
Result<std::optional<RunRow>> find_owned_run(Db& db, UserId const& owner, RunId const& run);
Result<LogPlace> place_of_idx(Db& db, RunKey run, std::int64_t idx);
Result<std::vector<LogRow>> read_log(Db& db, RunKey run, std::uint64_t after_n, std::size_t max_bytes);
// The last number in the rows of the log; 0 if it has no rows. Throws if they cannot be read, because a
// transaction that has met damage cannot be committed.
std::uint64_t last_logged(Db& db, RunKey run);
Result<LogEnd> log_end(Db& db, RunKey run);
Result<RunUsage> run_usage(Db& db, RunKey run);
Result<std::vector<Checkpoint>> checkpoints(Db& db, RunKey run, std::int64_t after, std::size_t max_bytes);
Result<std::vector<UnbookedCall>> unbooked_calls(Db& db, RunKey run);
Result<UsageReport> usage(Db& db, UsageQuery const& query);
Result<HistoryPage> history(Db& db, UserId const& owner, ThreadId const& thread,
                            std::optional<std::int64_t> before, PageSize size);
// What history() asks, so that a test can look at its plan: ?1 is the thread, ?2 the number before which its
// messages are wanted, and ?3 how many.
std::string const& history_query();
Result<std::vector<MessageRow>> context(Db& db, ThreadKey thread, RunKey reader, PageSize size);
Result<ThreadPage> threads(Db& db, UserId const& owner, std::string const& cursor, std::size_t limit);
Result<std::optional<ThreadRow>> thread(Db& db, UserId const& owner, ThreadId const& thread);

}  // namespace runnel::store::sqlite
