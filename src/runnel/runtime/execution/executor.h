#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/flow/flow.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/execution/progress.h"
#include "runnel/runtime/execution/run_job.h"
#include "runnel/runtime/execution/stage_runner.h"
#include "runnel/runtime/model_calls/model_caller.h"
#include "runnel/runtime/model_calls/run_ledger.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/runtime/writing/run_writer.h"
#include "runnel/store/store.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

// Runs one claimed run to its end: the flow's stages, one after another along their routes. Each finished
// stage is a checkpoint. It knows no flow and no stage by name. Used on the run's core.
class Executor {
 public:
  Executor(RunParts parts, std::shared_ptr<RunWriter> writer, std::shared_ptr<base::Cancel> cancel, Job job,
           RunMetrics metrics);

  // Writes exactly one terminal fact, or a pause if a tool call must be approved: then the run waits without
  // a writer (`waits`), and the next writer continues it. Fails if it can write neither, because the run was
  // fenced off, its writer failed or the process is stopping; then the next writer ends the run.
  boost::asio::awaitable<Result<store::Ended>> run();

  // Continues after another writer: supersedes what that writer showed but did not keep, closes its open
  // messages and runs from the last checkpoint (RUN-12). `last_known_ms` is the wall-clock time of that
  // writer's last fact. If `give_up` is set, ends the run with it instead.
  boost::asio::awaitable<Result<store::Ended>> resume(WriterChanged change, std::int64_t last_known_ms,
                                                      std::optional<CallTrouble> give_up);

  // Ends the run as failed. Like `run`, and instead of it.
  boost::asio::awaitable<Result<store::Ended>> fail(CallTrouble trouble);

 private:
  store::Async<std::vector<store::Checkpoint>> read_checkpoints();
  store::Async<std::vector<store::Checkpoint>> read_checkpoints_after(std::int64_t number);
  bool restore(std::vector<store::Checkpoint> const& checkpoints);
  [[nodiscard]] bool is_too_late() const;
  void arm_deadline(flow::Limits const& limits);
  boost::asio::awaitable<Result<StageEnd>> run_stages(flow::Flow const* flow);
  [[nodiscard]] StageRunner::StageParts stage_parts();
  boost::asio::awaitable<Result<void>> settle(Commit accounts);
  [[nodiscard]] Said said() const;
  [[nodiscard]] int mask() const;
  Commit make_checkpoint(StageResult end, flow::Stage const& next);
  Commit make_finish(StageResult end);
  void complete_text(AnswerCompleted& answer, Commit& commit) const;
  Commit stop_call(store::CallStatus status, std::string const& code);
  [[nodiscard]] Commit make_cancel(Commit accounts, RunLedger ledger) const;
  Commit make_failure(CallTrouble const& trouble, Commit accounts, std::string const& error_id);
  // Learns what became of the tool calls that were running, before the run ends with `code`.
  boost::asio::awaitable<Result<void>> settle_tools(std::string code);
  // Writes the pause with which the run begins to wait.
  boost::asio::awaitable<Result<store::Ended>> pause(AwaitedCall call);
  // The facts with which a new writer begins.
  boost::asio::awaitable<Result<Commit>> make_opening(WriterChanged change);
  boost::asio::awaitable<Result<store::Ended>> finish(StageResult end);
  // Ends the run with calls of the client's tools open (AGUI-6).
  boost::asio::awaitable<Result<store::Ended>> leave_to_client(ClientCallsLeft left);
  Commit make_leave(ClientCallsLeft left);
  boost::asio::awaitable<Result<store::Ended>> cancel_run(Commit accounts);

  RunParts const parts_;
  std::shared_ptr<RunWriter> writer_;
  std::shared_ptr<base::Cancel> cancel_;
  Job const job_;
  RunMetrics const metrics_;
  RunLedger ledger_;
  ModelCaller caller_;
  Progress progress_;
  flow::Stage const* stage_ = nullptr;  // The open stage.
  boost::asio::steady_timer deadline_;
};

}  // namespace runnel::runtime
