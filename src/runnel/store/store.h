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

namespace runnel::store {

template <class T>
using Async = boost::asio::awaitable<Result<T>>;

// Holds all durable state of runs. It takes intents: each is a plain record in and an outcome out, in one
// transaction, durable when the coroutine resumes. A commit that has started cannot be canceled: the caller
// always learns its outcome. Any thread may call; the coroutine resumes on its own executor.
//
// Every call may fail with `unavailable` (disk full, database locked, connection lost). Then nothing was
// written or, in rare cases, the outcome is unknown. In both cases the same call may be sent again, because
// each is idempotent by its key:
// - admit: by the run id. The repeat answers `existing`.
// - append, end, force_end, discard: if the log already holds exactly this batch (epoch, numbers and body;
//   for an end, either of its two batches), the call succeeds and changes nothing. A repeated end answers
//   with the run that waits to be claimed, if there is one.
// - claim: a repeat takes a newer epoch and writes `begin` only if the run has no fact.
//
// If the database itself is damaged, a call that meets the damage fails with `internal`. Repeating it does
// not help.
class Store {
 public:
  Store() = default;
  Store(Store const&) = delete;
  Store& operator=(Store const&) = delete;
  virtual ~Store() = default;

  // --- Intents ---

  // Creates the thread if it is new, and the run. If the thread has no active run, it also claims the run and
  // writes `begin`. `interrupt` and `rollback` put the run at the head of the queue and ask the active run to
  // end; `rollback` also sets the mask of the active run's rows to 0, at once and again when that run ends.
  // However many admits come at the same time, an owner never has more than `max_active_runs` runs that have
  // not ended. A run that is asked to end counts until it has ended; it is not asked if the new run is
  // refused. Fails with `open_calls`, see `Begin`.
  virtual Async<Admission> admit(AdmitRequest request) = 0;

  // Makes the calling node the run's writer under a new epoch, which is larger than any earlier epoch of the
  // thread (SSE-1). Fails with `conflict` unless the run is pending or running, and with `open_calls`, see
  // `Begin`.
  virtual Async<Claim> claim(ClaimRequest request) = 0;

  virtual Async<void> append(AppendRequest request) = 0;

  // Does an `append`, sets the final status of the run and of the thread, and promotes the thread's next
  // queued run. Calls that are still open end as `interrupted` at their estimates, so that no reserve is held
  // forever. The store chooses between the two endings in the same transaction: a run whose cancel was
  // accepted ends as canceled, whatever its writer knew (RUN-4).
  virtual Async<Ended> end(EndRequest request) = 0;

  // Ends a pending or running run whose log or input cannot be read (RUN-12), under a new epoch and right
  // after `log_end`. If the log is lost and its pages are damaged, SQLite ends the run without its last
  // facts, which nobody could read; a repeat of such an end fails with `conflict`. The call also fails with
  // `conflict` if the run is not as it was seen, or has ended differently.
  virtual Async<Ended> force_end(ForceEndRequest request) = 0;

  // The writer hands the run over on purpose, which does not count as a crash. Fails with `fenced` if the run
  // has another writer or is not running.
  virtual Async<void> release(RunKey run, Epoch epoch) = 0;

  // Enters an attempt into the ledger and holds its reserve against the budgets. If any budget has too little
  // room, it fails with `over_budget` and changes nothing. Fails with `fenced` if the run has another writer
  // or is not running. A repeat changes nothing. However many attempts come at the same time, on whatever
  // nodes, their reserves together never exceed a budget.
  virtual Async<void> open_call(NewCall call) = 0;

  // Marks an active run so that its writer ends it.
  virtual Async<CancelOutcome> request_cancel(RunKey run, std::int64_t now) = 0;

  // Fails with `conflict` if the run is not queued.
  virtual Async<void> discard(DiscardRequest request) = 0;

  // Marks the logs of up to `limit` runs that ended before `ended_before` as expired: the runs have
  // `log_expired` set, and nothing of their logs can be read. Returns the number of runs. `purge` deletes the
  // rows.
  virtual Async<std::size_t> expire_logs(std::int64_t ended_before, std::size_t limit) = 0;

  // Deletes one piece of what is to be deleted: the rows of expired logs and of deleted threads. Returns the
  // number of deleted rows; 0 means that no row is left that can be deleted at this time, or that the piece
  // met nothing but `piece.failures` logs and threads that cannot be deleted. Those (because of a damaged
  // page or another table's reference) are logged and moved behind the rest, so that they delay little and
  // are tried again later. Other intents get their turn between two pieces.
  virtual Async<std::size_t> purge(PieceSize piece) = 0;

  virtual Async<void> ensure_user(UserId user, std::int64_t now) = 0;

  // Fails with `not_found` if the owner has no such thread.
  virtual Async<void> rename_thread(UserId owner, ThreadId thread, std::string title, std::int64_t now) = 0;

  // The thread disappears at once for every read and admission, and its name and those of its runs can be
  // used again; `purge` deletes the rows. Its cost stays in the ledger.
  virtual Async<DeleteOutcome> delete_thread(UserId owner, ThreadId thread) = 0;

  // --- Reads of committed rows. In a call that names an owner, the rows of others do not exist ---

  // `run` is the run's own id, or an alias under which it went on after a pause (AGUI-4).
  virtual Async<std::optional<RunRow>> find_run(UserId owner, ThreadId thread, RunId run) = 0;
  virtual Async<std::optional<RunRow>> run_by_key(RunKey run) = 0;

  // The owner's run with this id or alias, on whatever thread.
  virtual Async<std::optional<RunRow>> find_owned_run(UserId owner, RunId run) = 0;

  // Runs that need a writer and have none when a server has just started: pending and running runs with a key
  // above `after`, oldest first, at most `limit`. Only the short columns are read: `input`, `profile` and
  // `epochs` are left empty, and `run_by_key` returns them. So a run whose input cannot be read does not hide
  // the others.
  virtual Async<std::vector<RunRow>> runs_to_recover(RunKey after, std::size_t limit) = 0;

  // Rows that hold facts numbered above `after_n`, in order, up to about `max_bytes` of body, but at least
  // one row unless `max_bytes` is 0.
  virtual Async<std::vector<LogRow>> read_log(RunKey run, std::uint64_t after_n, std::size_t max_bytes) = 0;

  // Where the polled events from `idx` on begin (TASK-3): a place at or before them, at the border of a row.
  // Looks at the rows from the log's end on, so it is fast for events that are not old.
  virtual Async<LogPlace> place_of_idx(RunKey run, std::int64_t idx) = 0;

  // Fails with `not_found` if there is no such run.
  virtual Async<LogEnd> log_end(RunKey run) = 0;

  virtual Async<RunUsage> run_usage(RunKey run) = 0;

  // The run's checkpoints numbered above `after`, in order, up to about `max_bytes` of body, but at least
  // one. Empty if there are no more. They are deleted with the run's log.
  virtual Async<std::vector<Checkpoint>> checkpoints(RunKey run, std::int64_t after,
                                                     std::size_t max_bytes) = 0;

  // The run's attempts that are not booked yet, oldest first. All are returned at once, because they are few
  // and short: a stage books its attempts when it ends, and until then it asks a model at most `max_iters` +
  // `max_repairs` + 1 times, each time with two retries per model. A row holds names, numbers and one entry
  // of a price list.
  virtual Async<std::vector<UnbookedCall>> unbooked_calls(RunKey run) = 0;

  // Sums over the ended calls of the ledger, one page of groups at a time. A deleted thread still counts.
  // Fails with `not_found` if the owner never had the thread that is asked for. Reports have a lane of their
  // own, so that no other read waits for them.
  virtual Async<UsageReport> usage(UsageQuery query) = 0;

  // `before`: only rows with a smaller seq; empty for the newest rows. Fails with `not_found` if the owner
  // has no such thread.
  virtual Async<HistoryPage> history(UserId owner, ThreadId thread, std::optional<std::int64_t> before,
                                     PageSize size) = 0;

  // The newest rows with seq > 0 and the context bit, oldest first. Of the rows of the run `reader`, only its
  // input is included: its user message, and the results with which it has closed calls of earlier runs.
  virtual Async<std::vector<MessageRow>> context(ThreadKey thread, RunKey reader, PageSize size) = 0;

  virtual Async<ThreadPage> threads(UserId owner, std::string cursor, std::size_t limit) = 0;
  virtual Async<std::optional<ThreadRow>> thread(UserId owner, ThreadId thread) = 0;

  // Whether the store can be written to. It commits a real write of one row, because only a commit notices a
  // full disk.
  virtual Async<void> probe() = 0;
};

}  // namespace runnel::store
