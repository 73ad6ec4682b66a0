#pragma once

#include <optional>

#include "runnel/core/fact/position.h"
#include "runnel/store/store.h"

namespace runnel::http {

// A run that was named by its own id, or by one under which it went on after a pause (AGUI-4).
struct NamedRun {
  store::RunRow row;
  // Where the log stands before the RunResumed of the alias, which may not be written yet: a stream under it
  // begins there. Empty if the run was named by its own id.
  std::optional<Position> before_alias{};
};

// Empty if the owner has no such run. An alias that an older version gave is looked for in the log, so that
// is slow; all others are rows.
store::Async<std::optional<NamedRun>> find_named_run(store::Store& store, UserId owner, ThreadId thread,
                                                     RunId id);

}  // namespace runnel::http
