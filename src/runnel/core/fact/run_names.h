#pragma once

#include <utility>

#include "runnel/core/ids.h"

namespace runnel {

// The ids by which clients name a run.
struct RunNames {
  ThreadId thread;
  RunId run;

  RunNames() = default;
  RunNames(ThreadId t, RunId r) : thread{std::move(t)}, run{std::move(r)} {}
};

}  // namespace runnel
