#pragma once

#include <cstdint>
#include <utility>

#include "runnel/base/clock.h"
#include "runnel/core/ids.h"
#include "runnel/core/profile.h"
#include "runnel/flow/flow.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/call_book.h"
#include "runnel/runtime/run_input.h"
#include "runnel/runtime/tool.h"
#include "runnel/store/rows.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// A run to be run: what it was admitted with. Nothing of it changes while it runs (FLOW-6).
struct Job {
  RunKey run;
  ThreadKey thread;
  UserId owner;
  store::RuntimeMode mode = store::RuntimeMode::chat;
  std::int64_t started_at = 0;  // UNIX milliseconds.
  RunInput input;
  Profile profile;
  Terms terms;
};

// What all runs are made of. All outlive them.
struct RunParts {
  store::Store& store;
  base::Clock const& clock;
  flow::Catalog const& flows;
  model::Registry const& models;
  Toolbox const& tools;
  std::size_t context_bytes = std::size_t{1} << 20U;  // Of a thread's messages that a stage is told (HTTP-9).
};

// Who sees the rows that a run, or a stage of it, produces (RUN-9).
inline int produced_mask(store::RuntimeMode mode, flow::StageKind kind) {
  bool const shown_only = mode == store::RuntimeMode::automation || kind == flow::StageKind::memory;
  return shown_only ? store::kUiHistory : store::kUiHistory | store::kContextAssembly;
}

// And who sees its input.
inline int input_mask(store::RuntimeMode mode) {
  return mode == store::RuntimeMode::automation ? 0 : store::kUiHistory | store::kContextAssembly;
}

}  // namespace runnel::runtime
