#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/flow/flow.h"
#include "runnel/runtime/model_caller.h"
#include "runnel/runtime/progress.h"
#include "runnel/runtime/run_job.h"
#include "runnel/runtime/run_writer.h"
#include "runnel/runtime/stage_verdict.h"
#include "runnel/runtime/tool.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// What a stage came to. Its reply's accounts are not written yet, and its text may be open.
struct StageResult {
  std::string result;  // A JSON object; of prose for a later stage: {"text":…}, of an answer in prose none.
  std::string label;   // Of a router.
  bool prose = false;  // The output is words, not the contract's object;
  std::string words;   // these are the answer.
  ModelReply reply;
};

using StageEnd = std::variant<StageResult, CallTrouble>;

// Runs one stage: asks the model, lets it use its tools, sends an output back that breaks its contract or
// holds no answer (FLOW-2, FLOW-4, V2-6). Every turn and every tool's result is a checkpoint; it goes on from
// where `progress` is. On the run's core.
class StageRunner {
 public:
  struct Parts {
    RunParts run;
    std::shared_ptr<RunWriter> writer;
    std::shared_ptr<base::Cancel> cancel;
    ModelCaller& caller;
    Progress& progress;
    Job const& job;
    RunMetrics const& metrics;
  };

  StageRunner(Parts parts, flow::Limits limits, flow::Stage const& stage);

  // Fails where the run was cancelled or is no longer ours to write.
  boost::asio::awaitable<Result<StageEnd>> run();

 private:
  boost::asio::awaitable<Result<void>> open();
  store::Async<std::vector<store::MessageRow>> read_context();
  void make_opening(std::vector<store::MessageRow> rows);
  [[nodiscard]] std::optional<CallTrouble> over_limit() const;
  [[nodiscard]] bool may_use_tools() const;
  [[nodiscard]] bool is_closing() const;
  [[nodiscard]] model::CallRequest make_request() const;
  [[nodiscard]] Showing showing() const;
  void drop_unfinished_calls(ModelReply& reply) const;
  StageResult make_end(StageVerdict verdict, ModelReply reply) const;
  [[nodiscard]] bool is_last_rejection() const;
  [[nodiscard]] CallTrouble explain(StageVerdict const& verdict) const;
  Closing make_record(ModelReply reply) const;
  Closing keep(StageVerdict const& verdict, ModelReply reply);
  Closing make_turn(ModelReply reply);
  Closing make_rejection(StageVerdict const& verdict, ModelReply reply);
  boost::asio::awaitable<Result<void>> commit(Closing closing);
  boost::asio::awaitable<Result<void>> run_calls(bool after_crash);
  boost::asio::awaitable<Result<ToolOutcome>> run_call(ToolCall call, PreparedCall prepared,
                                                       bool after_crash);
  [[nodiscard]] PreparedCall prepare(ToolCall const& call) const;
  Closing make_result(ToolCall const& call, PreparedCall const& prepared, ToolOutcome outcome);

  Parts parts_;
  flow::Limits limits_;
  flow::Stage const& stage_;
  std::vector<PromptMessage> opening_;
};

}  // namespace runnel::runtime
