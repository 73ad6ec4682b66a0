#include "runnel/runtime/lifecycle/run_metrics.h"

namespace runnel::runtime {

using namespace std::chrono_literals;

namespace {
constexpr char kFacts[] = "runnel_facts_appended_total";
constexpr char kFactsHelp[] =
    "Facts made durable: pieces of text and arguments (delta), and all others (fact).";
constexpr char kEnded[] = "runnel_runs_ended_total";
constexpr char kEndedHelp[] = "Runs that ended, by status.";
constexpr char kCalls[] = "runnel_model_calls_total";
constexpr char kCallsHelp[] =
    "Attempts at a model call that ended, by status; each is one row of the ledger.";
constexpr char kTokens[] = "runnel_model_tokens_total";
constexpr char kTokensHelp[] = "Tokens of model calls, including estimates, by direction.";
constexpr char kTools[] = "runnel_tool_calls_total";
constexpr char kToolsHelp[] = "Tool calls by models that ended, by status.";
}  // namespace

RunMetrics::RunMetrics(base::Metrics& metrics)
    : admitted{metrics.counter("runnel_runs_admitted_total",
                               "Runs accepted, whether started at once or queued.")},
      taken_over{metrics.counter(
          "runnel_runs_taken_over_total",
          "Runs that continued after their writer had stopped, mostly at a start of the server.")},
      active{metrics.gauge("runnel_runs_active", "Runs that have their writer in this process.")},
      queued{metrics.gauge("runnel_runs_queued",
                           "Runs that were accepted since the server started and wait for their thread.")},
      admission_time{metrics.times("runnel_run_admission_seconds", "Time to accept a run durably.",
                                   {500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s, 5s})},
      facts{metrics.counter(kFacts, kFactsHelp, {{"kind", "fact"}})},
      deltas{metrics.counter(kFacts, kFactsHelp, {{"kind", "delta"}})},
      fact_commit_time{metrics.times(
          "runnel_fact_commit_seconds",
          "Time from the first fact of a batch to its commit; deltas wait so that they can share a commit.",
          {1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 150ms, 250ms, 500ms, 1s, 5s, 30s})},
      ignored_keys{metrics.counter("runnel_ignored_input_keys_total",
                                   "Unknown keys of RunAgentInput that clients sent.")},
      call_time{metrics.times("runnel_model_call_seconds", "Duration of an attempt at a model call.",
                              {100ms, 250ms, 500ms, 1s, 2500ms, 5s, 10s, 30s, 60s, 120s, 300s, 600s})},
      first_token_time{metrics.times("runnel_model_first_token_seconds",
                                     "Time from the start of an attempt at a model call to its first piece.",
                                     {25ms, 50ms, 100ms, 250ms, 500ms, 1s, 2500ms, 5s, 10s, 30s, 60s, 120s})},
      call_retries{metrics.counter("runnel_model_retries_total",
                                   "Repeated attempts with the same model, after a failure.")},
      call_fallbacks{metrics.counter("runnel_model_fallbacks_total",
                                     "Model calls that continued with a fallback model.")},
      input_tokens{metrics.counter(kTokens, kTokensHelp, {{"direction", "input"}})},
      output_tokens{metrics.counter(kTokens, kTokensHelp, {{"direction", "output"}})},
      tool_time{metrics.times(
          "runnel_tool_call_seconds",
          "Duration of a tool call, from when its start is recorded to its outcome.",
          {1ms, 2ms, 3ms, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 500ms, 1s, 2500ms, 5s, 10s, 30s, 60s, 300s})},
      stages{metrics.counter("runnel_stages_finished_total", "Stages of flows that produced their result.")},
      repairs{
          metrics.counter("runnel_contract_repairs_total", "Model outputs that were sent back for repair.")},
      completed_{metrics.counter(kEnded, kEndedHelp, {{"status", "completed"}})},
      failed_{metrics.counter(kEnded, kEndedHelp, {{"status", "failed"}})},
      canceled_{metrics.counter(kEnded, kEndedHelp, {{"status", "canceled"}})},
      calls_completed_{metrics.counter(kCalls, kCallsHelp, {{"status", "completed"}})},
      calls_failed_{metrics.counter(kCalls, kCallsHelp, {{"status", "failed"}})},
      calls_canceled_{metrics.counter(kCalls, kCallsHelp, {{"status", "canceled"}})},
      calls_interrupted_{metrics.counter(kCalls, kCallsHelp, {{"status", "interrupted"}})},
      tools_succeeded_{metrics.counter(kTools, kToolsHelp, {{"status", "success"}})},
      tools_succeeded_in_part_{metrics.counter(kTools, kToolsHelp, {{"status", "partial"}})},
      tools_failed_{metrics.counter(kTools, kToolsHelp, {{"status", "failure"}})} {}

base::Counter const& RunMetrics::ended(store::RunStatus status) const {
  if (status == store::RunStatus::completed) return completed_;
  return status == store::RunStatus::canceled ? canceled_ : failed_;
}

base::Counter const& RunMetrics::tool_ended(ToolStatus status) const {
  if (status == ToolStatus::success) return tools_succeeded_;
  return status == ToolStatus::partial ? tools_succeeded_in_part_ : tools_failed_;
}

base::Counter const& RunMetrics::call_ended(store::CallStatus status) const {
  if (status == store::CallStatus::completed) return calls_completed_;
  if (status == store::CallStatus::canceled) return calls_canceled_;
  return status == store::CallStatus::interrupted ? calls_interrupted_ : calls_failed_;
}

}  // namespace runnel::runtime
