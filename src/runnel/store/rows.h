#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/core/money.h"
#include "runnel/store/call_rows.h"

// The plain records that go into and come out of a store. Times are UNIX milliseconds.
namespace runnel::store {

enum class RunStatus { queued, pending, running, awaiting_approval, completed, failed, canceled };
char const* to_string(RunStatus status);
std::optional<RunStatus> parse_run_status(std::string const& text);
bool is_ended(RunStatus status);

enum class ThreadStatus { pending, running, completed, failed };
char const* to_string(ThreadStatus status);
std::optional<ThreadStatus> parse_thread_status(std::string const& text);

// What happens when the thread already has an active run (RUN-3).
enum class OnBusy { reject, enqueue, interrupt, rollback };

enum class RuntimeMode { chat, automation };
char const* to_string(RuntimeMode mode);

enum class Role { user, assistant, system, tool };
char const* to_string(Role role);
std::optional<Role> parse_role(std::string const& text);

// `visibility_mask` (RUN-9).
inline constexpr int kUiHistory = 1;
inline constexpr int kContextAssembly = 2;

// Which numbering a message joins (RUN-8): 1, 2, 3 … or -1, -2 ….
enum class Lane { visible, audit };

// A message row to write; the store gives it its `seq`.
struct NewMessage {
  MessageId id;
  Role role = Role::assistant;
  Lane lane = Lane::visible;
  int mask = kUiHistory | kContextAssembly;
  std::string content;
  std::string metadata = "{}";  // A JSON object whose "type" says what the row is.
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  Money cost;
};

// Facts that are written together: one row of the log. `body` is fact_json.h's array of last_n - first_n + 1
// facts.
struct LogBatch {
  std::uint64_t first_n = 0;
  std::uint64_t last_n = 0;
  std::int64_t next_idx = 0;  // The idx that the first polled event after this batch will get.
  std::string body;
};

// A point that a run goes on from after a crash (RUN-12): a finished stage, a model's turn, a tool's result.
// Numbered by the writer from 1, without gaps; written once.
struct Checkpoint {
  std::int64_t number = 0;
  std::string stage;
  std::string kind;
  std::string body;  // A JSON object.

  bool operator==(Checkpoint const&) const = default;
};

// What a run needs to begin: its input as the first visible row, the thread's title if it has none, its first
// facts.
struct Begin {
  // Stock clients may send a message again under its old id, in another run. Where the thread already has a
  // message with this id the store gives the row another, which no other run's row has: `<run id>-input`, or
  // `<run id>-input-2` … should that be taken too.
  NewMessage user_message;
  std::string title;
  LogBatch facts;  // first_n is 1.
};

struct AdmitRequest {
  UserId owner;
  ThreadId thread;
  RunId run;
  OnBusy on_busy = OnBusy::reject;
  RuntimeMode mode = RuntimeMode::chat;
  std::string input_hash;       // Equal hashes: the same input (RUN-2).
  std::string input;            // The normalised input as JSON; given back by `find_run` and `run_by_key`.
  std::string agui_version;     // "1.0" or "0.0": what the starting client speaks.
  std::string default_country;  // Frozen with a new thread where the owner's profile names none (USE-7).
  NodeId node;
  std::int64_t now = 0;
  std::int64_t max_active_runs = 0;   // Of the owner's, in any state before the end; 0: no limit.
  std::int64_t max_stored_bytes = 0;  // Of the owner's ended runs (HTTP-9); 0: no limit.
  Budgets budgets;                    // Of these the thread's, the user's and the day's are looked at.
  Begin begin;                        // Used at once where the thread is free.
};

struct Admission {
  enum class Outcome {
    running,        // A new run, claimed by the asking node; `begin` is written.
    queued,         // A new run that waits for its thread.
    existing,       // The same runId with the same input: nothing changed (RUN-2).
    id_conflict,    // The same runId with another input, or on another thread.
    thread_busy,    // The thread has an active run and the policy is reject.
    too_many_runs,  // The owner has `max_active_runs` already: nothing changed.
    over_budget,    // Nothing is left of a budget: nothing changed.
    over_quota,     // The owner's rows fill `max_stored_bytes`: nothing changed.
  };
  Outcome outcome = Outcome::running;
  RunKey run;  // Where `thread_busy`: the active one.
  ThreadKey thread;
  ThreadId thread_id;  // Where `existing`: the run's own thread.
  Epoch epoch = 0;
  RunStatus status = RunStatus::running;
  std::string profile;                 // Of a new run: the owner's, frozen with it; empty: none is stored.
  std::optional<RunKey> cancel_first;  // The active run that interrupt or rollback asks to end.
  std::int64_t stored_bytes = 0;       // Where `over_quota`: what the owner's rows take up.
};

struct ClaimRequest {
  RunKey run;
  NodeId node;
  std::int64_t now = 0;
  std::optional<Begin>
      begin;  // Written where the run has no fact yet; a claim of such a run without it is `invalid`.
};

struct Claim {
  Epoch epoch = 0;
  Epoch previous_epoch = 0;  // 0: this is the first.
  std::uint64_t last_n = 0;  // After `begin`, if that was written.
  std::int64_t next_idx = 0;
  bool cancel_requested = false;
  // Writers that left the run without releasing it, since its last checkpoint: it may be the run that they
  // died of. One that wrote nothing does not count.
  std::int64_t crashes = 0;
};

// Facts and the rows they tell of, in one commit. Refused as `fenced` unless the run is at `epoch` and its
// log ends right before `facts`. The bookings on a row of this request add up to its cost: a row without any
// costs nothing.
struct AppendRequest {
  RunKey run;
  Epoch epoch = 0;
  LogBatch facts;
  std::vector<NewMessage> messages;
  std::vector<CallEnd> call_ends;       // Of open calls of this run: anything else is `invalid`.
  std::vector<CallBooking> bookings;    // Of calls that have ended, on rows of this request or earlier ones.
  std::vector<Checkpoint> checkpoints;  // A number that is there already, or leaves a gap, is `invalid`.
  std::int64_t now = 0;
};

// How a run ends as canceled.
struct CanceledEnd {
  AppendRequest append;  // Its last fact is the terminal.
  std::string error_code;
};

struct EndRequest {
  AppendRequest append;  // Its last fact is the terminal.
  RunStatus status = RunStatus::completed;
  std::string error_code;  // Empty: none.
  std::string error_id;
  // Written instead where a cancel of the run was accepted (RUN-4). Of the same run and epoch, from the same
  // number on.
  std::optional<CanceledEnd> if_canceled;
};

struct Ended {
  std::optional<RunKey> promoted;  // The thread's next queued run, now pending: claim it.
  bool canceled = false;           // `if_canceled` was written.
};

// The end of a run that no writer can go on with, because what is stored of it cannot be read.
struct ForceEndRequest {
  NodeId node;
  Epoch seen_epoch = 0;     // The run's when the request was made,
  bool log_is_lost = true;  // and whether its log can no longer be read: then it counts as expired (SSE-4).
  EndRequest end;           // `append.epoch` is the store's to say; `if_canceled` is not looked at.
};

struct CancelOutcome {
  RunKey run;
  RunStatus status = RunStatus::running;  // As it was found. `queued`: nothing was marked, `discard` it.
};

// Ends a run that never began.
struct DiscardRequest {
  RunKey run;
  std::int64_t now = 0;
  LogBatch facts;  // first_n is 1; the last one is the terminal.
};

// --- What is read ---

struct EpochStart {
  Epoch epoch = 0;
  std::uint64_t first_n = 0;
};

struct RunRow {
  RunKey key;
  ThreadKey thread;
  UserId owner;
  ThreadId thread_id;
  RunId id;
  RunStatus status = RunStatus::pending;
  RuntimeMode mode = RuntimeMode::chat;
  Epoch epoch = 0;
  std::uint64_t last_n = 0;
  std::int64_t next_idx = 0;
  bool cancel_requested = false;
  bool log_expired = false;
  std::string input;
  std::string profile;  // The owner's when the run was admitted; empty: there was none.
  std::string agui_version;
  std::string error_code;
  std::string error_id;
  std::int64_t created_at = 0;
  std::int64_t started_at = 0;     // 0: not yet.
  std::int64_t ended_at = 0;       // 0: not yet.
  std::vector<EpochStart> epochs;  // Ascending.
};

struct RunUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  Money cost;
  std::string currency;
};

// Where a run's log ends, whatever its rows hold.
struct LogEnd {
  Epoch epoch = 0;
  // The larger one of what the run's row says and what the log has. Where SQLite meets a damaged page in the
  // log, it is the row's.
  std::uint64_t last_n = 0;
  std::int64_t next_idx = 0;
  RunStatus status = RunStatus::running;
};

struct LogRow {
  std::uint64_t first_n = 0;
  std::uint64_t last_n = 0;
  Epoch epoch = 0;
  std::string body;
};

struct MessageRow {
  MessageId id;
  std::int64_t seq = 0;
  Role role = Role::user;
  std::string content;
  std::string metadata;
  RunId run;
  std::int64_t created_at = 0;
};

// A user's profile as it is stored. `country` is the one of `settings`, for new threads.
struct ProfileRow {
  std::string username;
  std::string bio;
  std::optional<std::string> settings;  // JSON; none: all defaults.
  std::string country;
  std::int64_t updated_at = 0;
};

// How much of a list is given at once: up to so many rows and so many bytes of their texts, but at least one
// row.
struct PageSize {
  std::size_t rows = 50;
  std::size_t bytes = std::size_t{1} << 20U;
};

struct HistoryPage {
  std::vector<MessageRow> messages;         // Oldest first.
  std::optional<std::int64_t> next_before;  // Ask with this for the page before; none: this was the oldest.
};

struct ThreadRow {
  ThreadKey key;
  ThreadId id;
  std::optional<std::string> title;
  ThreadStatus status = ThreadStatus::pending;
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};

struct ThreadPage {
  std::vector<ThreadRow> threads;  // Newest (last updated) first.
  std::string next;                // Opaque cursor; empty: no more.
};

enum class DeleteOutcome { deleted, not_found, busy };

// How much a piece of a long work does: it ends with the first of these.
struct PieceSize {
  std::size_t rows = 500;
  std::chrono::milliseconds time{5};
};

}  // namespace runnel::store
