#pragma once

#include <utility>

#include "runnel/core/ids.h"

namespace runnel {

// What clients call a run.
struct RunNames {
  ThreadId thread;
  RunId run;

  RunNames() = default;
  RunNames(ThreadId t, RunId r) : thread{std::move(t)}, run{std::move(r)} {}
};

}  // namespace runnel
