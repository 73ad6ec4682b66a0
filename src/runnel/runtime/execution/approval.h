#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/fact/fact_order.h"
#include "runnel/runtime/execution/run_job.h"
#include "runnel/runtime/execution/stage_runner.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/store/approvals.h"

// How a run waits for the approval of a tool call, and how it goes on (RUN-13).
namespace runnel::runtime {

// The id of a tool call's action, which polling clients see (TASK-6).
std::string tool_action_id(std::string const& name, std::size_t number);

// What a pause shows besides the call.
struct PauseTerms {
  PauseTerms(std::vector<Usage> used, std::int64_t now, std::chrono::milliseconds wait)
      : usage{std::move(used)}, now_ms{now}, time{wait} {}

  std::vector<Usage> usage;
  std::int64_t now_ms;
  std::chrono::milliseconds time;  // How long an answer is waited for.
};

// The id of the interrupt that asks about this call (AGUI-4), and the call that an interrupt asks about:
// empty if no interrupt has this id.
std::string interrupt_id(ToolCallId const& call);
std::optional<ToolCallId> call_of_interrupt(std::string_view id);

// Asks for the approval of the call and pauses the run. With this commit the run has no writer any more.
Commit make_pause(FactOrder const& order, AwaitedCall const& call, PauseTerms const& terms);

// What comes right after WriterChanged in a run that was paused: the run goes on under another run id, its
// step continues, and if there is a decision, the log tells it. `own` is the run's own id; the other one is
// that of the answer, or `<own>~2` and so on if the answer has none.
Commit make_resume(FactOrder const& order, RunId const& own, store::ApprovalState const& answer);

// Waits until the store answers.
store::Async<store::ApprovalState> approval_state(RunParts const& parts, RunKey run, ToolCallId call,
                                                  std::shared_ptr<base::Cancel> cancel);

}  // namespace runnel::runtime
