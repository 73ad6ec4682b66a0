#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sqlite_db.h"

// The steps that several intents share.
namespace runnel::store::sqlite {

// What an intent needs to know of a run before it changes it.
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

// Empty text is stored as null.
std::optional<std::string> unless_empty(std::string const& text);

// The status and its copy in the snapshot move together (RUN-6). The error is the run's that has just ended;
// empty: none.
void end_thread(Db& db, ThreadKey thread, ThreadStatus status, std::string const& error_id, std::int64_t now);

// Likewise, and the title where there is none; the error of the run before is over.
void start_thread(Db& db, ThreadKey thread, std::optional<std::string> const& title, std::int64_t now);

// Gives the message the next seq of its lane (RUN-8) and the thread's currency.
void insert_message(Db& db, RunState const& run, NewMessage const& message, std::int64_t now);

void insert_log(Db& db, RunKey run, Epoch epoch, LogBatch const& facts);

// Whether the log holds exactly this batch: then a refused write is the repeat of one that was committed.
bool log_holds(Db& db, RunKey run, Epoch epoch, LogBatch const& facts);

void insert_epoch(Db& db, RunKey run, Epoch epoch, std::uint64_t first_n);

// The input's row and the first facts of a run whose epoch and log's end are set.
void write_begin(Db& db, RunState const& run, Begin const& begin, std::int64_t now);

// SSE-1.
Epoch next_epoch(Epoch previous, std::int64_t now);

}  // namespace runnel::store::sqlite
