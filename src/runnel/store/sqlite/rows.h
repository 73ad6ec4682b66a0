#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite/db.h"

// Steps that several intents share.
namespace runnel::store::sqlite {

// What an intent needs to know about a run before it changes it.
struct RunState {
  RunKey key;
  ThreadKey thread;
  std::string ref;
  RunStatus status = RunStatus::pending;
  Epoch epoch = 0;
  std::uint64_t last_n = 0;
  std::int64_t next_idx = 0;
  bool cancel_requested = false;
  bool rolled_back = false;
};

std::optional<RunState> find_state(Db& db, RunKey run);

// An empty text is stored as NULL.
std::optional<std::string> unless_empty(std::string const& text);

// Changes the status and its copy in the snapshot together (RUN-6). `error_id` is that of the run that has
// just ended; empty if it has none.
void end_thread(Db& db, ThreadKey thread, ThreadStatus status, std::string const& error_id, std::int64_t now);

// The same for a start. It also sets the title if the thread has none, and clears the error of the previous
// run.
void start_thread(Db& db, ThreadKey thread, std::optional<std::string> const& title, std::int64_t now);

// Gives the message the next seq of its lane (RUN-8) and the thread's currency. If it makes a call to a tool
// of the client, the call is open from now on.
void insert_message(Db& db, RunState const& run, NewMessage const& message, std::int64_t now);

void insert_log(Db& db, RunKey run, Epoch epoch, LogBatch const& facts);

// Whether the log holds exactly this batch. If so, a refused write is the repeat of one that was committed.
bool log_holds(Db& db, RunKey run, Epoch epoch, LogBatch const& facts);

void insert_epoch(Db& db, RunKey run, Epoch epoch, std::uint64_t first_n);

// Writes the rows of the input and the first facts. The epoch and the end of the log must be set in the run's
// row. Fails with `open_calls`, see `Begin`.
Result<void> write_begin(Db& db, RunState const& run, Begin const& begin, std::int64_t now);

// Takes the next epoch for one of the thread's runs. It is larger than any earlier epoch of the thread
// (SSE-1).
Epoch take_epoch(Db& db, ThreadKey thread, std::int64_t now);

}  // namespace runnel::store::sqlite
