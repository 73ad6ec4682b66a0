#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "runnel/base/clock.h"
#include "runnel/core/card/card.h"
#include "runnel/core/ids.h"
#include "runnel/core/profile.h"
#include "runnel/flow/flow.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/execution/memories.h"
#include "runnel/runtime/lifecycle/run_input.h"
#include "runnel/runtime/model_calls/run_ledger.h"
#include "runnel/store/approvals.h"
#include "runnel/store/rows.h"
#include "runnel/store/store.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

// A run to execute: what it was admitted with. Nothing in it changes while the run executes (FLOW-6).
struct Job {
  RunKey run;
  ThreadKey thread;
  UserId owner;
  store::RuntimeMode mode = store::RuntimeMode::chat;
  std::int64_t started_at = 0;  // UNIX milliseconds.
  std::int64_t waited_ms = 0;   // For how long it has waited for answers, which does not count as its time.
  RunInput input;
  Profile profile;
  Terms terms;
};

// How long the run may still last. Counted from its start: a run that is taken over gets no extra time. Only
// for a flow that limits it.
inline std::chrono::milliseconds time_left(Job const& job, flow::Limits const& limits, std::int64_t now_ms) {
  return std::chrono::milliseconds{
      std::max<std::int64_t>(job.started_at + job.waited_ms + limits.seconds * 1000 - now_ms, 0)};
}

// Who is shown the cards of the run's tool calls.
inline CardReader reader_of(Job const& job) {
  auto const& preferences = job.profile.settings.preferences;
  return {preferences.interface_language, preferences.timezone};
}

// The parts that all runs share. They outlive every run.
struct RunParts {
  store::Store& store;
  base::Clock const& clock;
  flow::Catalog const& flows;
  model::Registry const& models;
  tools::Toolbox const& tools;
  std::size_t context_bytes = std::size_t{1} << 20U;  // The most that a stage reads of its thread (HTTP-9).
  store::Approvals* approvals = nullptr;              // Null only if no tool call needs one.
  std::chrono::milliseconds approval_time{std::chrono::hours{24}};  // How long an answer is waited for.
  Memories* memories = nullptr;                                     // Null if nothing is ever noted.
};

// Who sees the rows that a run, or a stage of it, produces (RUN-9).
inline int produced_mask(store::RuntimeMode mode, flow::StageKind kind) {
  bool const shown_only = mode == store::RuntimeMode::automation || kind == flow::StageKind::memory;
  return shown_only ? store::kUiHistory : store::kUiHistory | store::kContextAssembly;
}

// Who sees the run's input (RUN-9).
inline int input_mask(store::RuntimeMode mode) {
  return mode == store::RuntimeMode::automation ? 0 : store::kUiHistory | store::kContextAssembly;
}

}  // namespace runnel::runtime
