#pragma once

#include <optional>
#include <string>
#include <variant>

#include "runnel/core/fact/position.h"
#include "runnel/core/ids.h"
#include "runnel/http/routes/resume_point.h"
#include "runnel/store/thread_runs.h"

namespace runnel::http {

// Where a reader of a whole thread begins if it has no cursor (RUN-15).
enum class ThreadFrom {
  active,  // With the active run; if there is none, with the next one.
  newest,  // With the newest run, although it may have ended: what v1 shows without a run id.
  start,   // With the first run whose events are kept.
};

// The place of a reader of a whole thread: within a run, or behind the runs that it has read.
struct ThreadPlace {
  std::optional<store::RunRow> run;  // The run to read on; empty if the next one is to be looked for.
  Position position;                 // The reader's place in that run.
  Epoch after = 0;                   // Runs up to this epoch have been read.
  RunKey read;                       // The last of them.
  bool expired = false;              // Events behind the reader's cursor are not kept any more.

  // Behind this run.
  static ThreadPlace behind(store::RunRow const& run);
  static ThreadPlace within(store::RunRow run, Position position);
};

// What a reader needs to find its place.
struct ThreadReads {
  store::Store& store;
  store::ThreadRuns& runs;
};

// A cursor never gives a silent gap: what this thread cannot have sent is refused, and what is not kept any
// more is noted in the place.
store::Async<std::variant<ThreadPlace, BadEventId>> thread_place(ThreadReads reads, ThreadKey thread,
                                                                 ThreadFrom from,
                                                                 std::optional<std::string> last_event_id);

}  // namespace runnel::http
