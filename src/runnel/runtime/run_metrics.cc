#include "runnel/runtime/run_metrics.h"

namespace runnel::runtime {

using namespace std::chrono_literals;

namespace {
constexpr char kFacts[] = "runnel_facts_appended_total";
constexpr char kFactsHelp[] =
    "Facts made durable: pieces of text and arguments (delta), and all others (fact).";
constexpr char kEnded[] = "runnel_runs_ended_total";
constexpr char kEndedHelp[] = "Runs that ended, by how.";
}  // namespace

RunMetrics::RunMetrics(base::Metrics& metrics)
    : admitted{metrics.counter("runnel_runs_admitted_total", "Runs accepted, begun at once or queued.")},
      taken_over{metrics.counter("runnel_runs_taken_over_total",
                                 "Runs that went on after their writer had stopped, mostly at a start.")},
      active{metrics.level("runnel_runs_active", "Runs that have their writer in this process.")},
      queued{
          metrics.level("runnel_runs_queued", "Runs accepted since the start that wait for their thread.")},
      admission_time{metrics.times("runnel_run_admission_seconds", "Time to accept a run durably.",
                                   {500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s, 5s})},
      facts{metrics.counter(kFacts, kFactsHelp, {{"kind", "fact"}})},
      deltas{metrics.counter(kFacts, kFactsHelp, {{"kind", "delta"}})},
      fact_commit_time{
          metrics.times("runnel_fact_commit_seconds",
                        "Time from the first fact of a batch to its commit; deltas wait for company.",
                        {1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 150ms, 250ms, 500ms, 1s, 5s, 30s})},
      ignored_keys{metrics.counter("runnel_ignored_input_keys_total",
                                   "Keys of RunAgentInput that clients sent and nobody here knows.")},
      completed_{metrics.counter(kEnded, kEndedHelp, {{"status", "completed"}})},
      failed_{metrics.counter(kEnded, kEndedHelp, {{"status", "failed"}})},
      canceled_{metrics.counter(kEnded, kEndedHelp, {{"status", "canceled"}})} {}

base::Counter const& RunMetrics::ended(store::RunStatus status) const {
  if (status == store::RunStatus::completed) return completed_;
  return status == store::RunStatus::canceled ? canceled_ : failed_;
}

}  // namespace runnel::runtime
