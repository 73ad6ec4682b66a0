#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "runnel/core/text/sha256.h"
#include "runnel/core/text/text.h"
#include "runnel/runtime/execution/approval.h"
#include "runnel/runtime/execution/stage_runner.h"
#include "runnel/runtime/writing/close_open.h"
#include "runnel/runtime/writing/tool_result.h"
#include "runnel/tools/call_arguments.h"

// The part of StageRunner that runs the tools which a model calls.
namespace runnel::runtime {

namespace asio = boost::asio;

// Null if the call is not recorded yet.
FactOrder::OpenCall const* StageRunner::open_call(ToolCall const& call) const {
  auto const& calls = parts_.writer->order().open_calls();
  auto const open = calls.find(ToolCallId{call.id});
  return open != calls.end() ? &open->second : nullptr;
}

// The arguments in the log. Empty if the call is not recorded yet.
std::optional<JsonText> StageRunner::recorded_args(ToolCall const& call) const {
  auto const* const open = open_call(call);
  return open != nullptr ? open->args : std::nullopt;
}

// The flow's own list of methods, which is part of the first gate (TOOL-3).
void StageRunner::refuse_unless_allowed(tools::PreparedCall& prepared) const {
  auto const& allowed = stage_.methods;
  if (prepared.refused || allowed.empty()) return;
  if (std::find(allowed.begin(), allowed.end(), prepared.name) != allowed.end()) return;
  std::string names;
  for (auto const& name : allowed)
    names.append(names.empty() ? "" : ", ").append(name);
  prepared.refused = tools::tool_failure(
      "METHOD_NOT_ALLOWED", "this stage may not call " + prepared.name +
                                " (by its flow, or by the module's own rule); it may call: " + names);
}

bool StageRunner::is_client_tool(std::string const& name) const {
  auto const& brought = parts_.job.input.client.tools;
  bool const is_servers = std::find(stage_.tools.begin(), stage_.tools.end(), name) != stage_.tools.end();
  return stage_.client_tools && !is_servers &&
         std::any_of(brought.begin(), brought.end(), [&](ToolSpec const& tool) { return tool.name == name; });
}

namespace {

// The client gets the arguments as the model wrote them, if they are an object. Many models write nothing for
// a tool without parameters.
tools::PreparedCall prepare_client_call(ToolCall const& call) {
  tools::PreparedCall prepared;
  prepared.name = call.name;
  auto const args =
      is_blank(call.arguments) ? Result<JsonText>{JsonText::empty_object()} : JsonText::parse(call.arguments);
  prepared.args = args && args->is_object() ? *args : JsonText::empty_object();
  prepared.input = prepared.args;
  if (call.arguments.size() > tools::kMostArgumentBytes) {
    prepared.refused = tools::tool_failure(
        "INPUT_TOO_LARGE", "the arguments have " + std::to_string(call.arguments.size()) +
                               " bytes; at most " + std::to_string(tools::kMostArgumentBytes) +
                               " are allowed");
  } else if (!args || !args->is_object()) {
    prepared.refused = tools::tool_failure(tools::kInvalidInput, "the arguments must be one JSON object");
  }
  return prepared;
}

}  // namespace

tools::PreparedCall StageRunner::prepare(ToolCall const& call) const {
  bool const offered = std::find(stage_.tools.begin(), stage_.tools.end(), call.name) != stage_.tools.end();
  auto const* tool = offered ? parts_.run.tools.find(call.name) : nullptr;
  auto const recorded = recorded_args(call);
  if (tool != nullptr) {
    auto prepared = tool->prepare(call.arguments);
    if (recorded && prepared.args != *recorded) {
      // Another version of the program wrote the arguments. They have been shown, so they are what the call
      // runs with.
      prepared = tool->prepare(recorded->str());
      prepared.args = *recorded;
    }
    refuse_unless_allowed(prepared);
    return prepared;
  }
  if (is_client_tool(call.name)) return prepare_client_call(call);
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
  std::vector<std::string> client_calls;
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
    bool const is_clients = is_client_tool(call.name) && !prepared.refused;
    // Those who poll learn of the call by this: nothing of it is the server's action.
    if (is_clients) commit.facts.emplace_back(ToolPreparing{preparing_id(call.name, i), call.name, {}});
    commit.facts.emplace_back(ToolArgs{message, id, tool, stage_.name, prepared.args});
    commit.facts.emplace_back(ToolCallEnded{message, id, tool, stage_.name});
    commit.rows.messages.push_back(tool_call_row(message, id, tool, stage_.name, prepared.args.str(), mask,
                                                 i == 0 ? turn.reasoning : std::string{}));
    if (is_clients) {
      commit.rows.messages.back().opens_call = id;
      client_calls.push_back(id.text);
    }
    turn.tool_calls.push_back({id.text, call.name, call.arguments});
  }
  commit.rows.checkpoints.push_back(parts_.progress.take_turn(stage_.name, turn, client_calls));
  return commit;
}

std::size_t StageRunner::number_of_next_call() const {
  return parts_.progress.place_of(parts_.progress.pending().front().id);
}

namespace {

// A plain function: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
StageEnd awaited(ToolCall const& call, std::size_t number, tools::PreparedCall const& prepared) {
  return AwaitedCall{ToolCallId{call.id}, number, prepared};
}

StageEnd left_to_client(std::vector<ToolCall> const& calls) {
  ClientCallsLeft left;
  for (auto const& call : calls)
    left.calls.emplace_back(call.id);
  return left;
}

tools::ToolOutcome refusal_of(store::ApprovalState const& state, bool same_args) {
  if (state.decision == store::Decision::expired)
    return tools::tool_failure("APPROVAL_EXPIRED", "nobody approved the call in time; it was not made");
  if (state.decision == store::Decision::approved && !same_args)
    return tools::tool_failure("APPROVAL_REJECTED", "other arguments were approved; the call was not made");
  return tools::tool_failure("APPROVAL_REJECTED",
                             state.reason.empty()
                                 ? "the user rejected the call; it was not made"
                                 : "the user rejected the call; it was not made: " + state.reason);
}

}  // namespace

// The calls run in the order in which the model made them.
asio::awaitable<Result<std::optional<StageEnd>>> StageRunner::run_calls(bool after_crash) {
  while (!parts_.progress.pending().empty()) {
    auto const call = parts_.progress.pending().front();
    auto const prepared = prepare(call);
    auto const* const open = open_call(call);
    bool const asked = open != nullptr && (open->approval || open->running);
    if (prepared.needs_approval && !prepared.refused && !asked)
      co_return awaited(call, number_of_next_call(), prepared);
    auto outcome = co_await run_call(call, prepared, after_crash);
    if (!outcome) co_return outcome.error();
    auto result = make_result(call, prepared, *outcome);
    auto const told = co_await commit(std::move(result));
    if (!told) co_return told.error();
  }
  if (parts_.progress.client_calls().empty()) co_return std::nullopt;
  co_return left_to_client(parts_.progress.client_calls());
}

// The refusal of a call that somebody was asked about and that may not run. An approval holds for exactly the
// arguments that were shown.
asio::awaitable<Result<std::optional<tools::ToolOutcome>>> StageRunner::refused_by_user(ToolCall call,
                                                                                        JsonText args) {
  auto const* const open = open_call(call);
  if (open == nullptr || !open->approval || open->running) co_return std::nullopt;
  auto const state = co_await approval_state(parts_.run, parts_.job.run, ToolCallId{call.id}, parts_.cancel);
  if (!state) co_return state.error();
  bool const same_args = state->args_hash == sha256_hex(args.str());
  if (state->decision == store::Decision::approved && same_args) co_return std::nullopt;
  co_return refusal_of(*state, same_args);
}

namespace {

Commit tool_runs(std::string const& action, std::string const& name) {
  Commit commit;
  commit.facts.emplace_back(ToolProgress{action, "正在执行 " + name + "...", {}});
  return commit;
}

// A plain function: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
Commit tool_started(ToolCall const& call, tools::PreparedCall const& prepared, std::size_t number) {
  Commit commit;
  auto const action = tool_action_id(prepared.name, number);
  commit.facts.emplace_back(ToolStarted{action, ToolCallId{call.id}, prepared.name, prepared.input,
                                        preparing_id(prepared.name, number)});
  commit.add(tool_runs(action, prepared.name));
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
  job.reader = reader_of(parts_.job);
  return job;
}

asio::awaitable<Result<tools::ToolOutcome>> StageRunner::run_call(ToolCall call, tools::PreparedCall prepared,
                                                                  bool after_crash) {
  auto const* const open = open_call(call);
  auto const action = open != nullptr ? open->action_id : std::string{};
  bool const begun = open != nullptr && open->running;
  // The call may no longer be made, but it was running.
  if (prepared.refused && begun) co_return co_await outcome_of_refused(call, std::move(prepared));
  if (prepared.refused) co_return std::move(*prepared.refused);
  auto refused = co_await refused_by_user(call, prepared.args);
  if (!refused) co_return refused.error();
  if (*refused) co_return std::move(**refused);
  auto* const tool = parts_.run.tools.find(call.name);
  // A call that was made when its stage did not take it from the client.
  if (tool == nullptr) co_return tools::tool_failure("UNKNOWN_TOOL", "there is no tool of this name");
  auto place = co_await tool->reserve(parts_.job.owner, prepared.name, parts_.cancel);
  if (!place) co_return place.error();
  if (parts_.cancel->requested()) co_return Error{Errc::canceled, "canceled before the tool was started"};
  if (!begun) {
    auto start = action.empty() ? tool_started(call, prepared, number_of_next_call())
                                : tool_runs(action, prepared.name);
    auto const started = co_await commit(std::move(start));
    if (!started) co_return started.error();
  }
  if (parts_.cancel->requested()) co_return Error{Errc::canceled, "canceled before the tool was started"};
  auto job = make_job(call, prepared.args, after_crash && begun);
  job.place = std::move(*place);
  auto const begin = std::chrono::steady_clock::now();
  auto outcome = co_await tool->run(std::move(job), parts_.cancel);
  parts_.metrics.tool_time.observe(std::chrono::steady_clock::now() - begin);
  co_return outcome;
}

asio::awaitable<Result<tools::ToolOutcome>> StageRunner::outcome_of_refused(ToolCall call,
                                                                            tools::PreparedCall prepared) {
  auto* const tool = parts_.run.tools.find(call.name);
  if (tool == nullptr) co_return tools::outcome_unknown();
  auto job = make_job(call, prepared.args, true);
  auto outcome = co_await tool->settle(std::move(job), prepared.refused->summary, parts_.cancel);
  if (!outcome) co_return outcome.error();
  if (!*outcome) co_return tools::outcome_unknown();
  co_return std::move(**outcome);
}

Commit StageRunner::make_result(ToolCall const& call, tools::PreparedCall const& prepared,
                                tools::ToolOutcome const& outcome) {
  parts_.metrics.tool_ended(outcome.status).add();
  ToolCallId const id{call.id};
  auto const& open = parts_.writer->order().open_calls().at(id);

  auto commit = tool_result(id, open, prepared.args, outcome, produced_mask(parts_.job.mode, stage_.kind));
  commit.rows.checkpoints.push_back(parts_.progress.finish_call(stage_.name, call.id, outcome.result.str()));
  if (!open.action_id.empty()) commit.rows.tool_ends.push_back(id);
  return commit;
}

}  // namespace runnel::runtime
