#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/fact/position.h"
#include "runnel/core/ids.h"
#include "runnel/core/money/money.h"
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

// The bits of `visibility_mask` (RUN-9).
inline constexpr int kUiHistory = 1;
inline constexpr int kContextAssembly = 2;

// How a message is numbered (RUN-8): visible ones 1, 2, 3 …, audit ones -1, -2, -3 ….
enum class Lane { visible, audit };

// A message row to write. The store assigns its `seq`.
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
  // A call to a tool of the client (AGUI-6): the one that this row makes, or whose result it is. Empty for
  // all other rows.
  ToolCallId opens_call{};
  ToolCallId closes_call{};
};

// Facts that are written together: one row of the log. `body` is the array of last_n - first_n + 1 facts that
// fact_json.h writes.
struct LogBatch {
  std::uint64_t first_n = 0;
  std::uint64_t last_n = 0;
  std::int64_t next_idx = 0;  // The idx that the first polled event after this batch will get.
  std::string body;
};

// A point from which a run continues after a crash (RUN-12): a finished stage, a model's turn, a tool's
// result. The writer numbers checkpoints from 1 without gaps; each is written once.
struct Checkpoint {
  std::int64_t number = 0;
  std::string stage;
  std::string kind;
  std::string body;  // A JSON object.

  bool operator==(Checkpoint const&) const = default;
};

// What a run needs to begin: its input as its first visible rows, a title for the thread if it has none, and
// its first facts.
struct Begin {
  // Stock clients may send a message again under its old id in another run. If the thread already has a
  // message with this id, the store gives the row an id that no other row of the thread has: `<run id>-input`
  // or, if that is taken too, `<run id>-input-2` and so on. Its id is empty if the run has none: its input is
  // the answers among `closings`.
  NewMessage user_message;
  std::string title;
  LogBatch facts;  // first_n is 1.
  // The results of the calls to the client's tools that are open on the thread, one row for each (AGUI-6). If
  // other calls are open than those, the begin is refused with `open_calls` and changes nothing.
  std::vector<NewMessage> closings{};
};

struct AdmitRequest {
  UserId owner;
  ThreadId thread;
  RunId run;
  OnBusy on_busy = OnBusy::reject;
  RuntimeMode mode = RuntimeMode::chat;
  std::string input_hash;    // Equal hashes mean the same input (RUN-2).
  std::string input;         // The normalised input as JSON; `find_run` and `run_by_key` return it.
  std::string agui_version;  // "1.0" or "0.0": the version that the client speaks.
  // Reads the owner's profile in the admission's transaction. The owner is $1, which must occur and is the
  // only parameter. The query returns at most one row: a JSON text, which is frozen with the run (FLOW-6),
  // and a country, which is frozen with a new thread (USE-7). It is a literal, because its address is the key
  // of the prepared statement. Empty if there are no profiles.
  std::string_view profile_query;
  std::string country;  // For a new thread, if the owner's profile names no country.
  NodeId node;
  std::int64_t now = 0;
  std::int64_t max_active_runs = 0;   // How many runs of the owner may be unfinished; 0 means no limit.
  std::int64_t max_stored_bytes = 0;  // How much the owner's ended runs may take (HTTP-9); 0 means no limit.
  Budgets budgets;                    // Only the thread's, the user's and the day's are checked.
  Begin begin;                        // Written at once if the thread has no active run.
};

struct Admission {
  enum class Outcome {
    running,        // A new run, claimed by the calling node; `begin` is written.
    queued,         // A new run that waits for its thread.
    existing,       // The same runId with the same input: nothing changed (RUN-2).
    id_conflict,    // The same runId with another input, or on another thread, or it is an alias of a run.
    thread_busy,    // The thread has an active run and the policy is reject.
    too_many_runs,  // The owner already has `max_active_runs` runs: nothing changed.
    over_budget,    // A budget is used up: nothing changed.
    over_quota,     // The owner's rows fill `max_stored_bytes`: nothing changed.
  };
  Outcome outcome = Outcome::running;
  RunKey run;  // If `thread_busy`: the active run.
  ThreadKey thread;
  ThreadId thread_id;  // If `existing` or `id_conflict`: the thread of the run that has this id.
  Epoch epoch = 0;
  RunStatus status = RunStatus::running;
  std::optional<RunKey> cancel_first;  // The active run that interrupt or rollback asks to end.
  std::int64_t stored_bytes = 0;       // If `over_quota`: how much the owner's rows take.
  std::string profile;                 // If `running`: what was frozen with the run. Empty if there is none.
};

struct ClaimRequest {
  RunKey run;
  NodeId node;
  std::int64_t now = 0;
  // Written if the run has no fact yet. A claim of such a run without it is `invalid`.
  std::optional<Begin> begin;
};

struct Claim {
  Epoch epoch = 0;
  Epoch previous_epoch = 0;  // 0 if this is the run's first epoch.
  std::uint64_t last_n = 0;  // Includes `begin`, if that was written.
  std::int64_t next_idx = 0;
  bool cancel_requested = false;
  // How many writers left the run without releasing it since its last checkpoint: the run itself may be what
  // killed them. A writer that wrote nothing does not count.
  std::int64_t crashes = 0;
};

// What somebody must approve before a tool call runs (RUN-13).
struct ApprovalQuestion {
  std::string args;             // The arguments as they are shown, a JSON object.
  std::int64_t expires_at = 0;  // When the call counts as refused.
};

// A tool call that is about to be started. Its row says that it may take effect, until it ends.
struct ToolCallStart {
  ToolCallId id;
  std::string name;       // module.method
  std::string args_hash;  // The SHA-256 of the arguments, in hexadecimal.
  // If it is set, the run waits from this append on: its status is awaiting_approval, it has no writer, which
  // does not count as a crash, and nothing more can be appended. store/approvals.h says how it goes on.
  std::optional<ApprovalQuestion> question{};
};

// Facts and the rows that belong to them, in one commit. Refused with `fenced` unless the run is at `epoch`
// and its log ends right before `facts`. The bookings on a message of this request must add up to its cost; a
// message without bookings costs nothing.
struct AppendRequest {
  RunKey run;
  Epoch epoch = 0;
  LogBatch facts;
  std::vector<NewMessage> messages;
  std::vector<CallEnd> call_ends;          // Of open calls of this run; any other call is `invalid`.
  std::vector<CallBooking> bookings;       // Of ended calls, on messages of this request or of earlier ones.
  std::vector<Checkpoint> checkpoints;     // A number that exists already or leaves a gap is `invalid`.
  std::vector<ToolCallStart> tool_starts;  // An id that the run has used is `invalid`.
  std::vector<ToolCallId> tool_ends;       // Of open tool calls of this run; any other is `invalid`.
  std::int64_t now = 0;
};

// How a run ends as canceled.
struct CanceledEnd {
  AppendRequest append;  // Its last fact is the terminal one.
  std::string error_code;
};

// The run's open tool calls are closed with it, so the request itself starts and ends none.
struct EndRequest {
  AppendRequest append;  // Its last fact is the terminal one.
  RunStatus status = RunStatus::completed;
  std::string error_code;  // Empty if there is none.
  std::string error_id;
  // Written instead if a cancel of the run was accepted (RUN-4). It must have the same run and epoch, and
  // start at the same fact number.
  std::optional<CanceledEnd> if_canceled;
};

struct Ended {
  std::optional<RunKey> promoted;  // The thread's next queued run, which is pending and must be claimed.
  bool canceled = false;           // Whether `if_canceled` was written.
  bool waits = false;              // The run has not ended: it waits for an approval and has no writer.
};

// The end of a run that no writer can continue, because its stored rows cannot be read.
struct ForceEndRequest {
  NodeId node;
  Epoch seen_epoch = 0;     // The run's epoch when the request was made.
  bool log_is_lost = true;  // Whether its log cannot be read; then the log counts as expired (SSE-4).
  EndRequest end;           // The store sets `append.epoch` and ignores `if_canceled`.
};

struct CancelOutcome {
  RunKey run;
  RunStatus status = RunStatus::running;  // As it was found. If `queued`, nothing was marked: `discard` it.
};

// Ends a run that never began.
struct DiscardRequest {
  RunKey run;
  std::int64_t now = 0;
  LogBatch facts;  // first_n is 1; the last fact is the terminal one.
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
  std::string profile;  // The owner's when the run was admitted. Empty if there was none.
  std::string agui_version;
  std::string error_code;
  std::string error_id;
  std::int64_t created_at = 0;
  std::int64_t started_at = 0;     // 0 if it has not started.
  std::int64_t ended_at = 0;       // 0 if it has not ended.
  std::vector<EpochStart> epochs;  // Ascending.
  // The end of its log when it went on under the alias that it was asked for by (AGUI-4). Empty if it was
  // asked for by its own id.
  std::optional<Position> before_alias{};
};

struct RunUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  Money cost;
  std::string currency;
};

// A place between two rows of a log.
struct LogPlace {
  Position after;             // The last fact before it; {0, 0} for the start.
  std::int64_t next_idx = 0;  // The idx of the first polled event behind it.
};

// Where a run's log ends, even if its rows cannot be read.
struct LogEnd {
  Epoch epoch = 0;
  // The larger of the numbers in the run's row and in the log. If SQLite meets a damaged page in the log, it
  // is the number in the run's row.
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

// How much of a list is returned at once: at most this many rows and this many bytes of their texts, but at
// least one row.
struct PageSize {
  std::size_t rows = 50;
  std::size_t bytes = std::size_t{1} << 20U;
};

struct HistoryPage {
  std::vector<MessageRow> messages;         // Oldest first.
  std::optional<std::int64_t> next_before;  // `before` of the next older page. Empty if there is none.
};

struct ThreadRow {
  ThreadKey key;
  ThreadId id;
  std::optional<std::string> title;
  ThreadStatus status = ThreadStatus::pending;
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
  RunId active_run;                // The run that is pending, running or waiting. Empty if there is none.
  std::vector<RunId> queued_runs;  // Those that wait for it, in the order in which they will begin.
};

struct ThreadPage {
  std::vector<ThreadRow> threads;  // The most recently updated first.
  std::string next;                // An opaque cursor. Empty if there are no more.
};

enum class DeleteOutcome { deleted, not_found, busy };

// The limits of one piece of a long task: the piece ends when it reaches the first of them. The time ends
// only a piece that has done something.
struct PieceSize {
  std::size_t rows = 500;
  std::chrono::milliseconds time{5};
  std::size_t failures = 16;  // How many things that cannot be done it tries.
};

}  // namespace runnel::store
