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
#include "runnel/runtime/execution/progress.h"
#include "runnel/runtime/execution/run_job.h"
#include "runnel/runtime/execution/stage_verdict.h"
#include "runnel/runtime/model_calls/model_caller.h"
#include "runnel/runtime/writing/run_writer.h"
#include "runnel/store/store.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

// The result of a stage. Its reply's accounts are not written yet, and its text message may still be open.
struct StageResult {
  std::string result;  // A JSON object: {"text":…} if prose for a later stage; empty if an answer in prose.
  std::string label;   // The label that a router chose; else empty.
  bool prose = false;  // True if the output is text and not the contract's object.
  std::string words;   // The text, if `prose` is true.
  ModelReply reply;
};

// A tool call that somebody must approve before it runs. The run waits for the answer (RUN-13).
struct AwaitedCall {
  ToolCallId id;
  std::size_t number = 0;  // Its place in the model's turn.
  tools::PreparedCall prepared;
};

// Calls of tools of the client (AGUI-6). The run ends, and the thread's next run has their results.
struct ClientCallsLeft {
  std::vector<ToolCallId> calls;
};

using StageEnd = std::variant<StageResult, CallTrouble, AwaitedCall, ClientCallsLeft>;

// Runs one stage: asks the model, runs the tools that it calls, and sends back an output that breaks its
// contract or contains no answer (FLOW-2, FLOW-4, V2-6). Every turn, tool result and rejected output is a
// checkpoint; the stage continues from where `progress` is. Used on the run's core.
class StageRunner {
 public:
  struct StageParts {
    RunParts run;
    std::shared_ptr<RunWriter> writer;
    std::shared_ptr<base::Cancel> cancel;
    ModelCaller& caller;
    Progress& progress;
    Job const& job;
    RunMetrics const& metrics;
  };

  StageRunner(StageParts parts, flow::Limits limits, flow::Stage const& stage);

  // Fails if the run was canceled or its writer can write no more.
  boost::asio::awaitable<Result<StageEnd>> run();

 private:
  boost::asio::awaitable<Result<void>> open();
  store::Async<std::vector<store::MessageRow>> read_context();
  store::Async<std::vector<std::string>> read_memories();
  void make_opening(std::vector<store::MessageRow> rows, std::vector<std::string> memories);
  [[nodiscard]] std::optional<CallTrouble> over_limit() const;
  [[nodiscard]] bool has_tools() const;
  [[nodiscard]] bool may_use_tools() const;
  [[nodiscard]] bool is_closing() const;
  [[nodiscard]] model::CallRequest make_request() const;
  void add_facts(model::CallRequest& request) const;
  [[nodiscard]] Showing showing() const;
  void drop_unfinished_calls(ModelReply& reply) const;
  StageResult make_end(StageVerdict verdict, ModelReply reply) const;
  [[nodiscard]] bool is_last_rejection() const;
  [[nodiscard]] CallTrouble explain(StageVerdict const& verdict) const;
  Commit make_record(ModelReply reply) const;
  Commit keep(StageVerdict const& verdict, ModelReply reply);
  Commit make_turn(ModelReply reply);
  Commit make_rejection(StageVerdict const& verdict, ModelReply reply);
  boost::asio::awaitable<Result<void>> commit(Commit what);
  // Runs the server's calls. Returns the call that must be approved first, or else those that the client
  // makes, if there are any.
  boost::asio::awaitable<Result<std::optional<StageEnd>>> run_calls(bool after_crash);
  [[nodiscard]] std::size_t number_of_next_call() const;
  boost::asio::awaitable<Result<std::optional<tools::ToolOutcome>>> refused_by_user(ToolCall call,
                                                                                    JsonText args);
  boost::asio::awaitable<Result<tools::ToolOutcome>> run_call(ToolCall call, tools::PreparedCall prepared,
                                                              bool after_crash);
  // The outcome of a call that was running and is not allowed any more.
  boost::asio::awaitable<Result<tools::ToolOutcome>> outcome_of_refused(ToolCall call,
                                                                        tools::PreparedCall prepared);
  [[nodiscard]] FactOrder::OpenCall const* open_call(ToolCall const& call) const;
  [[nodiscard]] std::optional<JsonText> recorded_args(ToolCall const& call) const;
  void refuse_unless_allowed(tools::PreparedCall& prepared) const;
  [[nodiscard]] tools::PreparedCall prepare(ToolCall const& call) const;
  [[nodiscard]] bool is_client_tool(std::string const& name) const;
  [[nodiscard]] tools::ToolJob make_job(ToolCall const& call, JsonText args, bool repeat) const;
  Commit make_result(ToolCall const& call, tools::PreparedCall const& prepared,
                     tools::ToolOutcome const& outcome);

  StageParts parts_;
  flow::Limits limits_;
  flow::Stage const& stage_;
  std::vector<PromptMessage> opening_;
};

}  // namespace runnel::runtime
