#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite/db.h"

// The intents of store.h as statements, one function each. They run inside the writer's savepoint: if one
// returns an error, what it wrote is undone. Their requests have passed the checks of request_checks.h. They
// throw SqlError.
namespace runnel::store::sqlite {

Result<Admission> admit(Db& db, AdmitRequest const& request);
Result<Claim> claim(Db& db, ClaimRequest const& request);
Result<void> append(Db& db, AppendRequest const& request);
Result<Ended> end(Db& db, EndRequest const& request);
Result<Ended> force_end(Db& db, ForceEndRequest const& request);
// For a run whose log is on damaged pages: the log is neither read nor written.
Result<Ended> force_end_without_log(Db& db, ForceEndRequest const& request);
Result<void> release(Db& db, RunKey run, Epoch epoch);
Result<void> open_call(Db& db, NewCall const& call);
Result<CancelOutcome> request_cancel(Db& db, RunKey run, std::int64_t now);
Result<void> discard(Db& db, DiscardRequest const& request);
Result<std::size_t> expire_logs(Db& db, std::int64_t ended_before, std::size_t limit);
Result<std::size_t> purge(Db& db, PieceSize piece);
// Moves the entry whose turn it is behind all others, and logs `why`.
Result<std::size_t> postpone_purge(Db& db, std::string const& why);
Result<void> ensure_user(Db& db, UserId const& user, std::int64_t now);
Result<void> rename_thread(Db& db, UserId const& owner, ThreadId const& thread, std::string const& title,
                           std::int64_t now);
Result<DeleteOutcome> delete_thread(Db& db, UserId const& owner, ThreadId const& thread);
Result<void> probe(Db& db);

}  // namespace runnel::store::sqlite
