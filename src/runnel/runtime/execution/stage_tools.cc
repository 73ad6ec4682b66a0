#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "runnel/core/text/sha256.h"
#include "runnel/runtime/execution/stage_runner.h"
#include "runnel/runtime/writing/close_open.h"

// The part of StageRunner that runs the tools which a model calls.
namespace runnel::runtime {

namespace asio = boost::asio;

// The arguments in the log. Empty if the call is not recorded yet.
std::optional<JsonText> StageRunner::recorded_args(ToolCall const& call) const {
  auto const& calls = parts_.writer->order().open_calls();
  auto const open = calls.find(ToolCallId{call.id});
  return open != calls.end() ? open->second.args : std::nullopt;
}

tools::PreparedCall StageRunner::prepare(ToolCall const& call) const {
  bool const offered = std::find(stage_.tools.begin(), stage_.tools.end(), call.name) != stage_.tools.end();
  auto const* tool = offered ? parts_.run.tools.find(call.name) : nullptr;
  auto const recorded = recorded_args(call);
  if (tool != nullptr) {
    auto prepared = tool->prepare(call.arguments);
    if (!recorded || prepared.args == *recorded) return prepared;
    // Another version of the program wrote the arguments. They have been shown, so they are what the call
    // runs with.
    prepared = tool->prepare(recorded->str());
    prepared.args = *recorded;
    return prepared;
  }
  tools::PreparedCall prepared;
  prepared.name = call.name;
  auto const args = recorded ? Result<JsonText>{*recorded} : JsonText::parse(call.arguments);
  prepared.args = args && args->is_object() ? *args : JsonText::empty_object();
  prepared.input = prepared.args;
  prepared.refused = tools::tool_failure("UNKNOWN_TOOL", "there is no tool of this name");
  return prepared;
}

// Records the calls as the model made them. They are durable before the first of them starts.
Commit StageRunner::make_turn(ModelReply reply) {
  auto const mask = produced_mask(parts_.job.mode, stage_.kind);
  auto commit = std::move(reply.accounts);
  commit.add(close_said(parts_.writer->order(), TextOutcome::complete, mask));
  PromptMessage turn;
  turn.speaker = Speaker::assistant;
  turn.text = std::move(reply.output);
  turn.reasoning = std::move(reply.reasoning);
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    auto& call = reply.calls[i];
    call.name = storable(std::move(call.name));
    call.arguments = storable(std::move(call.arguments));
    auto shown = reply.shown_calls.find(i);
    if (shown == reply.shown_calls.end()) {
      ShownCall const unseen{ToolCallId{"call_" + mint_uuid()}, MessageId{mint_uuid()}, call.name};
      shown = reply.shown_calls.emplace(i, unseen).first;
      commit.facts.emplace_back(ToolCallStarted{unseen.message, unseen.id, unseen.tool, stage_.name});
      commit.facts.emplace_back(ToolArgsDelta{unseen.id, call.arguments});
    }
    auto const& [id, message, tool] = shown->second;
    auto const prepared = prepare(call);
    commit.facts.emplace_back(ToolArgs{message, id, tool, stage_.name, prepared.args});
    commit.facts.emplace_back(ToolCallEnded{message, id, tool, stage_.name});
    commit.rows.messages.push_back(tool_call_row(message, id, tool, stage_.name, prepared.args.str(), mask,
                                                 i == 0 ? turn.reasoning : std::string{}));
    turn.tool_calls.push_back({id.text, call.name, call.arguments});
  }
  commit.rows.checkpoints.push_back(parts_.progress.take_turn(stage_.name, turn));
  return commit;
}

// Runs the pending calls in the order in which the model made them.
asio::awaitable<Result<void>> StageRunner::run_calls(bool after_crash) {
  while (!parts_.progress.pending().empty()) {
    auto const call = parts_.progress.pending().front();
    auto const prepared = prepare(call);
    auto outcome = co_await run_call(call, prepared, after_crash);
    if (!outcome) co_return outcome.error();
    auto result = make_result(call, prepared, std::move(*outcome));
    auto const told = co_await commit(std::move(result));
    if (!told) co_return told.error();
  }
  co_return Result<void>{};
}

namespace {

std::string action_id(std::string const& name, std::int64_t number) {
  return "tool_" + std::to_string(number) + "_" + name + "_" + mint_uuid().substr(24);
}

// A plain function: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
Commit tool_started(ToolCall const& call, tools::PreparedCall const& prepared, std::int64_t number) {
  Commit commit;
  commit.facts.emplace_back(ToolStarted{action_id(prepared.name, number), ToolCallId{call.id}, prepared.name,
                                        prepared.input, prepared.name + ":" + std::to_string(number)});
  commit.rows.tool_starts.push_back({ToolCallId{call.id}, prepared.name, sha256_hex(prepared.args.str())});
  return commit;
}

}  // namespace

tools::ToolJob StageRunner::make_job(ToolCall const& call, JsonText args, bool repeat) const {
  tools::ToolJob job;
  job.id = ToolCallId{call.id};
  job.run = parts_.writer->names().run;
  job.user = parts_.job.owner;
  job.args = std::move(args);
  job.epoch = parts_.writer->epoch();
  if (limits_.seconds > 0) {
    job.deadline =
        std::chrono::steady_clock::now() + time_left(parts_.job, limits_, parts_.run.clock.now_ms());
  }
  job.repeat = repeat;
  return job;
}

asio::awaitable<Result<tools::ToolOutcome>> StageRunner::run_call(ToolCall call, tools::PreparedCall prepared,
                                                                  bool after_crash) {
  auto const& calls = parts_.writer->order().open_calls();
  auto const open = calls.find(ToolCallId{call.id});
  bool const begun = open != calls.end() && !open->second.action_id.empty();
  // The tool was removed after the call started, so its effect cannot be looked up.
  if (prepared.refused && begun) co_return tools::outcome_unknown();
  if (prepared.refused) co_return std::move(*prepared.refused);
  if (!begun) {
    auto const number = static_cast<std::int64_t>(parts_.progress.turn_size()) -
                        static_cast<std::int64_t>(parts_.progress.pending().size());
    auto start = tool_started(call, prepared, number);
    auto const started = co_await commit(std::move(start));
    if (!started) co_return started.error();
  }
  if (parts_.cancel->requested()) co_return Error{Errc::canceled, "canceled before the tool was started"};
  auto job = make_job(call, prepared.args, after_crash && begun);
  auto outcome = co_await parts_.run.tools.find(call.name)->run(std::move(job), parts_.cancel);
  co_return outcome;
}

Commit StageRunner::make_result(ToolCall const& call, tools::PreparedCall const& prepared,
                                tools::ToolOutcome outcome) {
  parts_.metrics.tool_ended(outcome.status).add();
  ToolCallId const id{call.id};
  auto const& open = parts_.writer->order().open_calls().at(id);
  MessageId const message{mint_uuid()};

  Commit commit;
  commit.facts.emplace_back(ToolResult{message, id, open.tool, stage_.name, prepared.args, outcome.status,
                                       outcome.result, outcome.error, outcome.card, open.action_id,
                                       outcome.summary});
  if (outcome.card) commit.facts.emplace_back(CardShown{MessageId{mint_uuid()}, id, *outcome.card});
  commit.rows.messages.push_back(tool_result_row(message, id, open.tool, stage_.name, outcome.result.str(),
                                                 produced_mask(parts_.job.mode, stage_.kind),
                                                 outcome.metadata));
  commit.rows.checkpoints.push_back(parts_.progress.finish_call(stage_.name, call.id, outcome.result.str()));
  if (!open.action_id.empty()) commit.rows.tool_ends.push_back(id);
  return commit;
}

}  // namespace runnel::runtime
