#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite_db.h"
#include "runnel/store/ticket_rows.h"

// The intents of store.h as statements, one function each. They run inside the writer's savepoint: a returned
// error undoes what was written. Requests have passed requests.h. They throw SqlError.
namespace runnel::store::sqlite {

Result<Admission> admit(Db& db, AdmitRequest const& request);
Result<Claim> claim(Db& db, ClaimRequest const& request);
Result<void> append(Db& db, AppendRequest const& request);
Result<Ended> end(Db& db, EndRequest const& request);
Result<Ended> force_end(Db& db, ForceEndRequest const& request);
// Of a run whose log lies on damaged pages: it is neither read nor written.
Result<Ended> force_end_without_log(Db& db, ForceEndRequest const& request);
Result<void> release(Db& db, RunKey run, Epoch epoch);
Result<void> open_call(Db& db, NewCall const& call);
Result<CancelOutcome> request_cancel(Db& db, RunKey run, std::int64_t now);
Result<void> discard(Db& db, DiscardRequest const& request);
Result<std::size_t> expire_logs(Db& db, std::int64_t ended_before, std::size_t limit);
Result<std::size_t> purge(Db& db, PieceSize piece);
// Puts the entry whose turn it is behind all others, for what `why` says.
Result<std::size_t> postpone_purge(Db& db, std::string const& why);
Result<void> ensure_user(Db& db, UserId const& user, std::int64_t now);
Result<void> put_profile(Db& db, UserId const& user, ProfileRow const& profile);
Result<void> rename_thread(Db& db, UserId const& owner, ThreadId const& thread, std::string const& title,
                           std::int64_t now);
Result<DeleteOutcome> delete_thread(Db& db, UserId const& owner, ThreadId const& thread);
Result<void> put_ticket(Db& db, NewTicket const& ticket);
Result<UsedTicket> use_ticket(Db& db, TicketUse const& use);
Result<void> touch_tickets(Db& db, std::vector<TicketTouch> const& touches);
Result<std::size_t> expire_tickets(Db& db, std::int64_t now, std::size_t limit);
Result<void> probe(Db& db);

}  // namespace runnel::store::sqlite
