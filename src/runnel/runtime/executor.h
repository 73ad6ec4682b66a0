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
#include "runnel/runtime/call_book.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/model_caller.h"
#include "runnel/runtime/progress.h"
#include "runnel/runtime/run_job.h"
#include "runnel/runtime/run_writer.h"
#include "runnel/runtime/stage_runner.h"
#include "runnel/runtime/tool.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// Runs one claimed run to its end: the flow's stages, one after the other as their routes lead, each finished
// one a checkpoint. It knows no flow and no stage by name. On the run's core.
class Executor {
 public:
  Executor(RunParts parts, std::shared_ptr<RunWriter> writer, std::shared_ptr<base::Cancel> cancel, Job job,
           RunMetrics metrics);

  // Exactly one terminal is written. Fails where none could be: the run was fenced off, or the process stops;
  // then the next writer ends it.
  boost::asio::awaitable<Result<store::Ended>> run();

  // Goes on after another writer: voids what it showed and did not keep, closes its open words and runs from
  // the last checkpoint (RUN-12). `last_known_ms`: when its last fact was written, by the wall clock.
  // `give_up`: ends the run with this instead.
  boost::asio::awaitable<Result<store::Ended>> resume(WriterChanged change, std::int64_t last_known_ms,
                                                      std::optional<CallTrouble> give_up);

 private:
  store::Async<std::vector<store::Checkpoint>> read_checkpoints();
  store::Async<std::vector<store::Checkpoint>> read_checkpoints_after(std::int64_t number);
  bool restore(std::vector<store::Checkpoint> const& checkpoints);
  [[nodiscard]] std::chrono::milliseconds time_left(flow::Limits const& limits) const;
  [[nodiscard]] bool is_too_late() const;
  void arm_deadline(flow::Limits const& limits);
  boost::asio::awaitable<Result<StageEnd>> run_stages(flow::Flow const* flow);
  [[nodiscard]] StageRunner::Parts stage_parts();
  boost::asio::awaitable<Result<void>> settle(Closing accounts);
  [[nodiscard]] Said said() const;
  [[nodiscard]] int mask() const;
  Closing make_checkpoint(StageResult end, flow::Stage const& next);
  static void book_on(CallBook& book, store::NewMessage row, Closing& closing);
  Closing make_finish(StageResult end);
  void complete_text(AnswerCompleted& answer, Closing& closing) const;
  Closing stop_call(store::CallStatus status, std::string const& code);
  [[nodiscard]] Closing make_cancel(Closing accounts, CallBook book) const;
  Closing make_failure(CallTrouble const& trouble, Closing accounts, std::string const& error_id);
  boost::asio::awaitable<Result<store::Ended>> finish(StageResult end);
  boost::asio::awaitable<Result<store::Ended>> cancel_run(Closing accounts);
  boost::asio::awaitable<Result<store::Ended>> fail(CallTrouble trouble);

  RunParts const parts_;
  std::shared_ptr<RunWriter> writer_;
  std::shared_ptr<base::Cancel> cancel_;
  Job const job_;
  RunMetrics const metrics_;
  CallBook book_;
  ModelCaller caller_;
  Progress progress_;
  flow::Stage const* stage_ = nullptr;  // The one that is open.
  boost::asio::steady_timer deadline_;
};

}  // namespace runnel::runtime
