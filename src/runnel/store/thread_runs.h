#pragma once

#include <optional>

#include "runnel/core/fact/position.h"
#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::store {

// A run of a thread, as a reader of the whole thread finds it.
struct BegunRun {
  RunKey key;
  Epoch epoch = 0;              // Its newest one.
  bool expired_before = false;  // Runs between it and the place that was asked about have expired.
};

// The runs of one thread in the order in which they began (RUN-15). A thread has one active run at a time,
// and epochs increase within it, so the order of the epochs is that order. A run that was canceled in the
// queue has never begun.
class ThreadRuns {
 public:
  explicit ThreadRuns(Sql& sql) : sql_{&sql} {}

  // The first run behind `after` whose events are kept. `after` is the newest epoch that the reader knows of
  // the run it has read, and `read` is that run, which a later writer may have given a newer epoch; {} and 0
  // ask for the first run of all.
  Async<std::optional<BegunRun>> next(ThreadKey thread, Epoch after, RunKey read);

  // The run that began last, expired or not.
  Async<std::optional<BegunRun>> newest(ThreadKey thread);

  // The run that had this epoch.
  Async<std::optional<RunKey>> with_epoch(ThreadKey thread, Epoch epoch);

 private:
  Sql* sql_;
};

}  // namespace runnel::store
