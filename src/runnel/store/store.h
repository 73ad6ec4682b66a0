#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/ticket_rows.h"

namespace runnel::store {

template <class T>
using Async = boost::asio::awaitable<Result<T>>;

// The truth. It takes intents: plain records in, an outcome out, one transaction each, durable when the
// coroutine resumes. A started commit cannot be cancelled: whoever waits learns the outcome. Any thread may
// call; the coroutine resumes on its own executor.
//
// Every call may fail with `unavailable` (disk full, locked, connection lost). Then either nothing was
// written or, in the rare case that the outcome could not be learnt, the same call may be sent again: each is
// idempotent by its key. Where the database itself is damaged, a call that meets the damage fails with
// `internal`: no repeat helps. Admit: by run id (the repeat answers `existing`). Append, end, force_end and
// discard: where the log already holds exactly this batch (epoch, numbers and body; of an end, either of its
// two), the call succeeds and changes nothing; a repeated end answers the run that waits to be claimed, if
// any. A repeated claim takes a newer epoch and writes `begin` only where no fact is there.
class Store {
 public:
  Store() = default;
  Store(Store const&) = delete;
  Store& operator=(Store const&) = delete;
  virtual ~Store() = default;

  // --- Intents ---

  // Makes the thread if it is new, and the run; where the thread is free also claims the run and writes
  // `begin`. `interrupt` and `rollback` put the run at the head of the queue and ask the active one to end;
  // `rollback` also sets the mask of the active run's rows to 0, now and when it ends. However many come at
  // once, an owner never has more than `max_active_runs` that have not ended; a run that is asked to end
  // counts until it has, and is not asked where the new one is refused.
  virtual Async<Admission> admit(AdmitRequest request) = 0;

  // Makes the asking node the run's writer under a new epoch, max(previous + 1, now). Only a run that is
  // pending or running can be claimed: otherwise `conflict`.
  virtual Async<Claim> claim(ClaimRequest request) = 0;

  virtual Async<void> append(AppendRequest request) = 0;

  // `append`, the run's and the thread's final status, and the promotion of the thread's next queued run.
  // Calls that are still open end as `interrupted` at their estimates, so that nothing holds a reserve for
  // ever. Which of two endings is written, the store decides in the same transaction: a run whose cancel was
  // accepted ends as canceled, whatever its writer knew (RUN-4).
  virtual Async<Ended> end(EndRequest request) = 0;

  // Ends a pending or running run whose log or input cannot be read (RUN-12): under a new epoch, right after
  // `log_end`. Where the log is lost and its pages are damaged, SQLite ends the run without its last facts,
  // which nobody would read. `conflict` where the run is not as it was seen, or has ended otherwise.
  virtual Async<Ended> force_end(ForceEndRequest request) = 0;

  // The writer leaves the run to the next one by intention: that is no crash. `fenced` where it is no longer
  // its writer.
  virtual Async<void> release(RunKey run, Epoch epoch) = 0;

  // Enters an attempt into the ledger and holds its reserve against the budgets, all of them or nothing:
  // `over_budget`, and nothing changed. `fenced` where the run has another writer. A repeat changes nothing.
  // However many come at once, on whatever nodes, their reserves never exceed a budget together.
  virtual Async<void> open_call(NewCall call) = 0;

  // Marks an active run so that its writer ends it.
  virtual Async<CancelOutcome> request_cancel(RunKey run, std::int64_t now) = 0;

  // `conflict` where the run is no longer queued.
  virtual Async<void> discard(DiscardRequest request) = 0;

  // Takes the logs of up to `limit` runs that ended before `ended_before` away: the runs say `log_expired`,
  // and nothing of their logs is read any more. Returns how many. `purge` deletes the rows.
  virtual Async<std::size_t> expire_logs(std::int64_t ended_before, std::size_t limit) = 0;

  // A piece of what is to be deleted: the rows of expired logs and of deleted threads. Returns how many rows
  // went; 0: none is left that can be deleted now. What cannot be (a damaged page, another table's reference)
  // is logged and put behind the rest, so that it holds nothing up and is tried again later. Other intents
  // get their turn between two pieces.
  virtual Async<std::size_t> purge(PieceSize piece) = 0;

  // A ticket for the owner's run, or for a WebSocket; a repeat changes nothing. `not_found` where the owner
  // has no such run. It goes with its run.
  virtual Async<void> put_ticket(NewTicket ticket) = 0;

  // Whose the ticket is, if it may be used now for just this; else `not_found`, and nothing changed. A
  // WebSocket's is spent by it. An SSE ticket is good for another while. Where the outcome could not be
  // learnt, a repeat may be refused.
  virtual Async<UsedTicket> use_ticket(TicketUse use) = 0;

  // Streams were open on these SSE tickets: their while begins anew. Those that are gone are passed over.
  virtual Async<void> touch_tickets(std::vector<TicketTouch> touches) = 0;

  // Deletes up to `limit` tickets that can no longer be used. Returns how many.
  virtual Async<std::size_t> expire_tickets(std::int64_t now, std::size_t limit) = 0;

  virtual Async<void> ensure_user(UserId user, std::int64_t now) = 0;

  // Replaces the user's profile as a whole. `not_found` where there is no such user.
  virtual Async<void> put_profile(UserId user, ProfileRow profile) = 0;

  // `not_found` where the owner has no such thread.
  virtual Async<void> rename_thread(UserId owner, ThreadId thread, std::string title, std::int64_t now) = 0;

  // The thread is gone at once for all that reads and admits, and its name and those of its runs can be used
  // anew; `purge` deletes the rows. What it cost stays in the ledger.
  virtual Async<DeleteOutcome> delete_thread(UserId owner, ThreadId thread) = 0;

  // --- Reads: of what is committed; an owner in the call means that others' rows do not exist ---

  // Whose ticket has this hash, be it good or not; none: there is no such ticket.
  virtual Async<std::optional<UserId>> ticket_owner(std::string hash) = 0;

  virtual Async<std::optional<RunRow>> find_run(UserId owner, ThreadId thread, RunId run) = 0;
  virtual Async<std::optional<RunRow>> run_by_key(RunKey run) = 0;

  // Runs that some writer should hold and, when a server has just started, none does: pending and running
  // ones behind `after`, oldest first, up to `limit`. Of each only what is short: `input`, `profile` and
  // `epochs` are left empty, `run_by_key` has them. So a run whose input cannot be read hides no other.
  virtual Async<std::vector<RunRow>> runs_to_recover(RunKey after, std::size_t limit) = 0;

  // Rows that hold facts numbered above `after_n`, in order, up to about `max_bytes` of body but at least
  // one.
  virtual Async<std::vector<LogRow>> read_log(RunKey run, std::uint64_t after_n, std::size_t max_bytes) = 0;

  // `not_found` where there is no such run.
  virtual Async<LogEnd> log_end(RunKey run) = 0;

  virtual Async<RunUsage> run_usage(RunKey run) = 0;

  // The run's checkpoints numbered above `after`, in their order, up to about `max_bytes` of body but at
  // least one; none: those were all. They go with the run's log.
  virtual Async<std::vector<Checkpoint>> checkpoints(RunKey run, std::int64_t after,
                                                     std::size_t max_bytes) = 0;

  // None: the user has not stored one.
  virtual Async<std::optional<ProfileRow>> profile(UserId user) = 0;

  // The run's attempts that are not booked yet, oldest first: all at once, because they are few and short. A
  // stage books its attempts when it ends; until then it asks a model at most `max_iters` + `max_repairs` + 1
  // times, each time with two retries a model, and a row holds names, numbers and one entry of a price list.
  virtual Async<std::vector<UnbookedCall>> unbooked_calls(RunKey run) = 0;

  // Sums over the ledger, of calls that have ended, a page of groups at a time. A thread that was deleted
  // still counts; `not_found` where the owner never had the one that is asked for. Reports have a lane of
  // their own: no other read waits for them.
  virtual Async<UsageReport> usage(UsageQuery query) = 0;

  // `before`: only rows with a smaller seq; nullopt: from the newest. `not_found` where the owner has no such
  // thread.
  virtual Async<HistoryPage> history(UserId owner, ThreadId thread, std::optional<std::int64_t> before,
                                     PageSize size) = 0;

  // The newest rows with seq > 0 and the context bit, oldest first. What `reader` itself has produced is left
  // out: only its input is there.
  virtual Async<std::vector<MessageRow>> context(ThreadKey thread, RunKey reader, PageSize size) = 0;

  virtual Async<ThreadPage> threads(UserId owner, std::string cursor, std::size_t limit) = 0;
  virtual Async<std::optional<ThreadRow>> thread(UserId owner, ThreadId thread) = 0;

  // Whether it can be written to now: a real, committed write of one row, because only a commit finds a full
  // disk.
  virtual Async<void> probe() = 0;
};

}  // namespace runnel::store
