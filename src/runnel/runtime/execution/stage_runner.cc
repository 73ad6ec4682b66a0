#include "runnel/runtime/execution/stage_runner.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/core/json/write.h"
#include "runnel/flow/prompt/context.h"
#include "runnel/flow/prompt/prompt.h"
#include "runnel/runtime/execution/context_rows.h"
#include "runnel/runtime/execution/superseded.h"
#include "runnel/runtime/writing/close_open.h"
#include "runnel/runtime/writing/store_retry.h"

namespace runnel::runtime {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

// An allowance for rows that may be among the thread's newest but go to no model, such as answers without
// text.
constexpr std::size_t kSilentRows = 8;
// An allowance for the answers that are a run's input: their rows have each text twice.
constexpr std::size_t kReplyBytes = std::size_t{2} << 20U;

// Shows the text as soon as it is known to be for the user (FLOW-4): at once, or when the router's label says
// so. A repair may still replace it.
flow::LiveText::Gate gate_of(flow::Stage const& stage) {
  return [on = stage.answer->on, router = stage.router](json::object const& fields) {
    if (on.empty()) return true;
    auto const* label = fields.if_contains(router);
    return label != nullptr && label->is_string() && label->get_string() == on;
  };
}

std::string as_text_result(std::string const& words) {
  std::string out;
  JsonObject{out}.text("text", words).close();
  return out;
}

CallTrouble limit_reached(char const* code, char const* what, std::int64_t limit) {
  return {code, std::string{"the run was stopped: it may use no more than "} + std::to_string(limit) + what,
          code};
}

}  // namespace

StageRunner::StageRunner(StageParts parts, flow::Limits limits, flow::Stage const& stage)
    : parts_{std::move(parts)}, limits_{limits}, stage_{stage} {}

asio::awaitable<Result<StageEnd>> StageRunner::run() {
  auto const opened = co_await open();
  if (!opened) co_return opened.error();
  auto resumed = co_await run_calls(true);
  if (!resumed) co_return resumed.error();
  if (*resumed) co_return std::move(**resumed);
  for (;;) {
    // An earlier writer may have rejected the last output that is allowed.
    if (is_last_rejection()) co_return StageEnd{explain_rejection(stage_, parts_.progress.last_fault())};
    if (auto trouble = over_limit()) co_return StageEnd{std::move(*trouble)};
    auto request = make_request();
    auto shown = showing();
    auto answer = co_await parts_.caller.call(stage_.name, std::move(request), std::move(shown));
    if (!answer) co_return answer.error();
    if (auto* trouble = std::get_if<CallTrouble>(&*answer)) co_return StageEnd{std::move(*trouble)};
    auto reply = std::get<ModelReply>(std::move(*answer));
    drop_unfinished_calls(reply);
    if (!reply.calls.empty() && may_use_tools()) {
      auto turn = make_turn(std::move(reply));
      auto const turned = co_await commit(std::move(turn));
      if (!turned) co_return turned.error();
      auto done = co_await run_calls(false);
      if (!done) co_return done.error();
      if (*done) co_return std::move(**done);
      continue;
    }
    auto verdict = judge_output(stage_, reply, is_closing());
    if (verdict.kind == StageVerdict::Kind::good || verdict.kind == StageVerdict::Kind::partial)
      co_return StageEnd{make_end(std::move(verdict), std::move(reply))};
    auto rejected = keep(verdict, std::move(reply));
    rejected = co_await with_what_is_left(parts_.run, parts_.job.owner, parts_.writer, std::move(rejected));
    auto const kept = co_await commit(std::move(rejected));
    if (!kept) co_return kept.error();
    bool const last = verdict.kind != StageVerdict::Kind::rejected || is_last_rejection();
    if (last) co_return StageEnd{explain(verdict)};
  }
}

asio::awaitable<Result<void>> StageRunner::commit(Commit what) {
  auto const done = co_await parts_.writer->commit(std::move(what));
  co_return done;
}

// --- What the model is told ---

// A plain function: g++ 12 mishandles captures in the arguments of a co_await (CONTRIBUTING.md).
store::Async<std::vector<store::MessageRow>> StageRunner::read_context() {
  store::PageSize size{stage_.settings.context_messages + kSilentRows, parts_.run.context_bytes};
  auto const& client = parts_.job.input.client;
  if (client.is_reply) {
    size.rows += 2 * client.answers.size();
    size.bytes += kReplyBytes;
  }
  return ask_until_served<std::vector<store::MessageRow>>(
      [this, size] { return parts_.run.store.context(parts_.job.thread, parts_.job.run, size); },
      parts_.cancel);
}

store::Async<std::vector<std::string>> StageRunner::read_memories() {
  return ask_until_served<std::vector<std::string>>(
      [this] { return parts_.run.memories->of(parts_.job.owner); }, parts_.cancel);
}

asio::awaitable<Result<void>> StageRunner::open() {
  std::vector<store::MessageRow> rows;
  if (stage_.context == flow::ContextScope::thread) {
    auto read = co_await read_context();
    if (!read) co_return read.error();
    rows = std::move(*read);
  }
  std::vector<std::string> memories;
  if (parts_.run.memories != nullptr) {
    auto read = co_await read_memories();
    if (!read) co_return read.error();
    memories = std::move(*read);
  }
  make_opening(std::move(rows), std::move(memories));
  co_return Result<void>{};
}

void StageRunner::make_opening(std::vector<store::MessageRow> rows, std::vector<std::string> memories) {
  auto const& job = parts_.job;
  flow::PromptInput input{job.profile, parts_.progress.results(), job.input.text, {}, {},
                          {},          parts_.run.clock.now_ms()};
  input.memories = std::move(memories);
  if (stage_.context == flow::ContextScope::thread) {
    flow::ContextLimits const limits{stage_.settings.context_messages, stage_.settings.context_tokens};
    input.context = flow::assemble_context(context_rows(std::move(rows), parts_.writer->names().run), limits);
    if (job.mode == store::RuntimeMode::automation) flow::inject_input(input.context, job.input.text);
    // The question may be older than all rows that were read.
    bool const lost = job.input.client.is_reply && !flow::has_user_message(input.context);
    if (lost && !job.input.text.empty()) flow::inject_input(input.context, job.input.text);
  } else if (stage_.context == flow::ContextScope::input) {
    flow::inject_input(input.context, job.input.text);
  }
  input.skill_cards = flow::skill_cards_of(stage_);
  opening_ = flow::open_stage(parts_.run.flows.texts(), stage_, std::move(input));
}

bool StageRunner::has_tools() const {
  return !stage_.tools.empty() || (stage_.client_tools && !parts_.job.input.client.tools.empty());
}

// Tools are for finding things out. After an output was sent back, the model may only correct it, unless that
// output was blank.
bool StageRunner::may_use_tools() const {
  return has_tools() && !is_closing() && !parts_.progress.rejected_words();
}

bool StageRunner::is_closing() const {
  return has_tools() && parts_.progress.turns() >= stage_.settings.max_iters;
}

model::CallRequest StageRunner::make_request() const {
  model::CallRequest request;
  auto const& job = parts_.job;
  for (auto const* name : {&job.input.model, &stage_.model, &stage_.settings.model}) {
    if (request.model.empty()) request.model = *name;
  }
  if (request.model.empty()) request.model = parts_.run.models.default_name();
  request.messages = opening_;
  auto const& conversation = parts_.progress.conversation();
  request.messages.insert(request.messages.end(), conversation.begin(), conversation.end());
  if (is_closing() && parts_.progress.rejections() == 0)
    request.messages.push_back(flow::closing_message(parts_.run.flows.texts()));
  if (may_use_tools()) {
    for (auto const& name : stage_.tools) {
      if (auto const* tool = parts_.run.tools.find(name)) request.tools.push_back(tool->spec());
    }
    auto const& brought = job.input.client.tools;
    if (stage_.client_tools) request.tools.insert(request.tools.end(), brought.begin(), brought.end());
  }
  if (job.terms.budgets.any()) request.max_output_tokens = kOutputUnderBudget;
  request.json_answer = stage_.contract != nullptr && request.tools.empty();
  add_facts(request);
  return request;
}

// For built-in models.
void StageRunner::add_facts(model::CallRequest& request) const {
  auto const& job = parts_.job;
  request.user_text = job.input.text;
  request.now_ms = job.started_at;
  request.timezone = job.profile.settings.preferences.timezone;
  if (stage_.contract) request.contract = stage_.contract->name();
  for (auto const& [stage, result] : parts_.progress.results())
    request.earlier_results.push_back(result);
  request.opening_messages = opening_.size();
}

Showing StageRunner::showing() const {
  Showing out;
  out.tool_calls = may_use_tools();
  // An output that may turn out to be no answer is not shown, and neither is its reasoning.
  out.reasoning = stage_.answer && stage_.answer->on.empty();
  out.text = stage_.answer && !stage_.contract;
  if (!stage_.answer || !stage_.contract) return out;
  out.live = [text = stage_.answer->text, gate = gate_of(stage_), prose = stage_.prose_allowed] {
    return flow::LiveText{text, gate, prose};
  };
  return out;
}

std::optional<CallTrouble> StageRunner::over_limit() const {
  if (limits_.model_calls > 0 && parts_.progress.all_answers() >= limits_.model_calls)
    return limit_reached("RUN_MODEL_CALL_LIMIT", " model calls", limits_.model_calls);
  if (limits_.tokens > 0 && parts_.writer->order().recorded_tokens() >= limits_.tokens)
    return limit_reached("RUN_TOKEN_LIMIT", " tokens", limits_.tokens);
  return std::nullopt;
}

// --- What the model says ---

// An answer that was cut off may have shown calls whose arguments are incomplete. These calls are not made.
void StageRunner::drop_unfinished_calls(ModelReply& reply) const {
  for (auto const& [number, call] : reply.shown_calls) {
    if (number >= reply.calls.size())
      reply.accounts.add(close_abandoned(parts_.writer->order(), call.id, "ARGUMENTS_CUT_OFF"));
  }
}

StageResult StageRunner::make_end(StageVerdict verdict, ModelReply reply) const {
  parts_.metrics.stages.add();
  StageResult end;
  end.prose = !verdict.reading.is_json;
  if (verdict.kind == StageVerdict::Kind::partial) {
    end.words = reply.shown;
    end.label = stage_.answer->on;  // Text is shown only under this label.
  } else if (end.prose) {
    end.words = reply.output;
    if (!stage_.answer) end.result = as_text_result(reply.output);
  } else {
    end.result = json::serialize(verdict.reading.value);
    end.label = label_of(stage_, verdict.reading.value);
  }
  end.reply = std::move(reply);
  return end;
}

// A model that was cut off for length twice is not asked a third time: that would cost the most and help the
// least.
bool StageRunner::is_last_rejection() const {
  auto const& progress = parts_.progress;
  return progress.rejections() > stage_.max_repairs || progress.cuts() > 1;
}

CallTrouble StageRunner::explain(StageVerdict const& verdict) const {
  if (verdict.kind == StageVerdict::Kind::out_of_rounds)
    return limit_reached("RUN_ITERATION_LIMIT", " rounds of tool calls in a stage",
                         stage_.settings.max_iters);
  // The problems may quote what the model wrote, so they are logged at the debug level only.
  for (auto const& problem : verdict.problems) {
    base::log(base::LogLevel::debug, "what is wrong with the output",
              {{"run_id", parts_.writer->names().run.text},
               {"thread_id", parts_.writer->names().thread.text},
               {"problem", problem}});
  }
  return explain_rejection(stage_, verdict.fault);
}

// Keeps the raw output for later inspection, on a row that no client and no model sees (RUN-8).
Commit StageRunner::make_record(ModelReply reply) const {
  auto commit = std::move(reply.accounts);
  commit.rows.messages.push_back(
      audit_row(MessageId{mint_uuid()}, stage_.name, std::move(reply.output), "rejected"));
  return commit;
}

Commit StageRunner::keep(StageVerdict const& verdict, ModelReply reply) {
  if (verdict.kind == StageVerdict::Kind::rejected) return make_rejection(verdict, std::move(reply));
  auto commit = make_record(std::move(reply));
  commit.add(
      keep_words(parts_.writer->order(), TextOutcome::failed, produced_mask(parts_.job.mode, stage_.kind)));
  return commit;
}

Commit StageRunner::make_rejection(StageVerdict const& verdict, ModelReply reply) {
  auto const& texts = parts_.run.flows.texts();
  auto const repair = stage_.contract ? flow::repair_message(texts, verdict.problems)
                                      : flow::again_message(texts, verdict.problems);
  auto const checkpoint =
      parts_.progress.reject_output(stage_.name, reply.output, repair.text, verdict.fault);
  bool const last = is_last_rejection();
  if (!last) parts_.metrics.repairs.add();
  auto commit = make_record(std::move(reply));
  commit.add(close_said(parts_.writer->order(), last ? TextOutcome::failed : TextOutcome::superseded,
                        store::kUiHistory));
  commit.rows.checkpoints.push_back(checkpoint);
  return commit;
}

}  // namespace runnel::runtime
