#include "runnel/runtime/execution/executor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/core/money/token_estimate.h"
#include "runnel/runtime/execution/answer.h"
#include "runnel/runtime/execution/approval.h"
#include "runnel/runtime/execution/superseded.h"
#include "runnel/runtime/execution/tool_hint.h"
#include "runnel/runtime/writing/close_open.h"
#include "runnel/runtime/writing/store_retry.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using store::Ended;

namespace {

// Plain functions: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
Commit step_started(std::string const& stage) {
  Commit commit;
  commit.facts.emplace_back(StepStarted{stage});
  return commit;
}

CallTrouble flow_changed(std::string const& flow) {
  return {"FLOW_CHANGED", "the run's flow was changed while the run was under way", flow};
}

CallTrouble time_is_up(std::int64_t seconds) {
  return {"RUN_TIME_LIMIT",
          "the run was stopped: it may take no longer than " + std::to_string(seconds) + " seconds",
          "RUN_TIME_LIMIT"};
}

constexpr auto kCanceled = store::CallStatus::canceled;
constexpr auto kFailed = store::CallStatus::failed;

std::string code_of(CallTrouble const& trouble) {
  return trouble.code.empty() ? "RUN_FAILED" : trouble.code;
}

tools::ToolJob tool_job(RunWriter const& writer, Job const& job, ToolCallId const& id,
                        FactOrder::OpenCall const& open) {
  tools::ToolJob out;
  out.id = id;
  out.run = writer.names().run;
  out.user = job.owner;
  out.args = open.args.value_or(JsonText::empty_object());
  out.epoch = writer.epoch();
  out.repeat = true;
  out.reader = reader_of(job);
  return out;
}

bool leaves_the_run(Error const& error, base::Cancel const& cancel) {
  return error.code == Errc::fenced || cancel.reason() == base::CancelReason::shutdown;
}

}  // namespace

Executor::Executor(RunParts parts, std::shared_ptr<RunWriter> writer, std::shared_ptr<base::Cancel> cancel,
                   Job job, RunMetrics metrics)
    : parts_{parts},
      writer_{std::move(writer)},
      cancel_{std::move(cancel)},
      job_{std::move(job)},
      metrics_{metrics},
      ledger_{parts_.store, parts_.clock, cancel_, job_.terms, metrics_, job_.run, writer_->epoch()},
      caller_{parts_.models, writer_, cancel_, ledger_, metrics_},
      deadline_{writer_->context()} {}

asio::awaitable<Result<Ended>> Executor::run() {
  auto const* flow = parts_.flows.find(job_.input.flow);
  if (flow == nullptr) co_return co_await fail(flow_changed(job_.input.flow));
  arm_deadline(flow->limits);
  auto result = co_await run_stages(flow);
  deadline_.cancel();
  if (!result && (writer_->has_failed() || leaves_the_run(result.error(), *cancel_)))
    co_return result.error();
  // An answer that is complete is kept, even at a shutdown or when the time is up.
  auto const reason = cancel_->reason();
  bool const answered = result && std::holds_alternative<StageResult>(*result);
  if (reason == base::CancelReason::shutdown && !answered)
    co_return Error{Errc::canceled, "left at shutdown"};
  if (reason == base::CancelReason::user || reason == base::CancelReason::replaced) {
    Commit accounts =
        answered ? std::get<StageResult>(std::move(*result)).reply.accounts : stop_call(kCanceled, "");
    co_return co_await cancel_run(std::move(accounts));
  }
  if (reason == base::CancelReason::time_up && !answered)
    co_return co_await fail(time_is_up(flow->limits.seconds));
  if (!result) co_return co_await fail(CallTrouble{"", "runtime execution failed", result.error().detail});
  if (auto* const trouble = std::get_if<CallTrouble>(&*result)) co_return co_await fail(std::move(*trouble));
  if (auto* const call = std::get_if<AwaitedCall>(&*result)) co_return co_await pause(std::move(*call));
  if (auto* const left = std::get_if<ClientCallsLeft>(&*result))
    co_return co_await leave_to_client(std::move(*left));
  co_return co_await finish(std::get<StageResult>(std::move(*result)));
}

asio::awaitable<Result<Ended>> Executor::resume(WriterChanged change, std::int64_t last_known_ms,
                                                std::optional<CallTrouble> give_up) {
  auto const checkpoints = co_await read_checkpoints();
  if (!checkpoints) co_return checkpoints.error();
  bool const known = restore(*checkpoints);
  auto before = said();
  before.last_known_ms = last_known_ms;
  auto left = co_await ledger_.take_over(before);
  if (!left) co_return left.error();
  auto opening = co_await make_opening(change);
  if (!opening) co_return opening.error();
  auto commit = std::move(*opening);
  commit.add(close_interrupted(writer_->order()));
  commit.add(std::move(*left));  // Also settles the reasoning that was closed.
  commit = co_await with_what_is_left(parts_, job_.owner, writer_, std::move(commit));
  auto const closed = co_await writer_->commit(std::move(commit));
  if (!closed) co_return closed.error();
  if (cancel_->reason() == base::CancelReason::shutdown) co_return Error{Errc::canceled, "left at shutdown"};
  if (cancel_->requested()) {
    auto accounts = stop_call(kCanceled, "");
    co_return co_await cancel_run(std::move(accounts));
  }
  if (give_up) co_return co_await fail(std::move(*give_up));
  if (is_too_late()) {
    co_return co_await fail(
        CallTrouble{"RUN_INTERRUPTED", "the run was interrupted for longer than it may last", "time is up"});
  }
  if (!known) {
    co_return co_await fail(
        CallTrouble{"RUN_INTERRUPTED", "the run was interrupted", "its checkpoints cannot be read"});
  }
  co_return co_await run();
}

asio::awaitable<Result<Commit>> Executor::make_opening(WriterChanged change) {
  auto const& order = writer_->order();
  Commit commit;
  change.after_pause = order.paused();
  commit.facts.emplace_back(change);
  if (!order.paused()) co_return commit;
  store::ApprovalState answer;
  if (auto const call = order.awaited_call()) {
    auto state = co_await approval_state(parts_, job_.run, *call, cancel_);
    if (!state) co_return state.error();
    answer = std::move(*state);
  }
  commit.add(make_resume(order, writer_->names().run, answer));
  co_return commit;
}

asio::awaitable<Result<Ended>> Executor::pause(AwaitedCall call) {
  PauseTerms const terms{ledger_.booked(), parts_.clock.now_ms(), parts_.approval_time};
  auto commit = make_pause(writer_->order(), call, terms);
  auto const written = co_await writer_->commit(std::move(commit));
  if (!written) co_return written.error();
  Ended ended;
  ended.waits = true;
  co_return ended;
}

// Reads in pages, so that reads for other runs do not wait behind the checkpoints of a long run.
store::Async<std::vector<store::Checkpoint>> Executor::read_checkpoints() {
  std::vector<store::Checkpoint> all;
  for (;;) {
    auto page = co_await read_checkpoints_after(all.empty() ? 0 : all.back().number);
    if (!page) co_return page.error();
    if (page->empty()) co_return all;
    std::move(page->begin(), page->end(), std::back_inserter(all));
  }
}

// A plain function: g++ 12 mishandles captures in the arguments of a co_await (CONTRIBUTING.md).
store::Async<std::vector<store::Checkpoint>> Executor::read_checkpoints_after(std::int64_t number) {
  constexpr std::size_t kBytesAtOnce = 1 << 20;
  return ask_until_served<std::vector<store::Checkpoint>>(
      [this, number] { return parts_.store.checkpoints(job_.run, number, kBytesAtOnce); }, cancel_);
}

bool Executor::restore(std::vector<store::Checkpoint> const& checkpoints) {
  auto progress = Progress::from(checkpoints);
  if (!progress) return false;
  progress_ = std::move(*progress);
  ledger_.restore(progress_.booked());
  return true;
}

bool Executor::is_too_late() const {
  auto const* flow = parts_.flows.find(job_.input.flow);
  return flow != nullptr && flow->limits.seconds > 0 &&
         time_left(job_, flow->limits, parts_.clock.now_ms()).count() == 0;
}

void Executor::arm_deadline(flow::Limits const& limits) {
  if (limits.seconds == 0) return;
  deadline_.expires_after(time_left(job_, limits, parts_.clock.now_ms()));
  deadline_.async_wait([cancel = cancel_](boost::system::error_code error) {
    if (!error) cancel->request(base::CancelReason::time_up);
  });
}

StageRunner::StageParts Executor::stage_parts() {
  return {parts_, writer_, cancel_, caller_, progress_, job_, metrics_};
}

asio::awaitable<Result<StageEnd>> Executor::run_stages(flow::Flow const* flow) {
  stage_ = progress_.last_stage().empty() ? &flow->first()
                                          : flow->next(progress_.last_stage(), progress_.last_label());
  while (stage_ != nullptr) {
    auto const open = writer_->order().open_step();
    if (open && *open != stage_->name) break;
    if (!open) {
      auto const started = co_await writer_->commit(step_started(stage_->name));
      if (!started) co_return started.error();
    }
    StageRunner runner{stage_parts(), flow->limits, *stage_};
    auto end = co_await runner.run();
    if (!end || !std::holds_alternative<StageResult>(*end)) co_return end;
    auto found = std::get<StageResult>(std::move(*end));
    if (answers(*stage_, found.label)) co_return StageEnd{std::move(found)};
    auto const* next = flow->next(stage_->name, found.label);
    if (next == nullptr) {
      auto const settled = co_await settle(std::move(found.reply.accounts));
      if (!settled) co_return settled.error();
      break;
    }
    auto commit = make_checkpoint(std::move(found), *next);
    commit = co_await with_what_is_left(parts_, job_.owner, writer_, std::move(commit));
    auto const kept = co_await writer_->commit(std::move(commit));
    if (!kept) co_return kept.error();
    stage_ = next;
  }
  co_return StageEnd{flow_changed(flow->name)};
}

// Writes the accounts of an answer that is not used, before anything else is closed.
asio::awaitable<Result<void>> Executor::settle(Commit accounts) {
  accounts.add(keep_words(writer_->order(), TextOutcome::canceled, mask()));
  auto const done = co_await writer_->commit(std::move(accounts));
  co_return done;
}

// What an earlier writer's attempt has shown, as far as the log tells.
Said Executor::said() const {
  Said said;
  auto const& order = writer_->order();
  if (auto const& text = order.open_text() ? order.open_text() : order.unsettled_text())
    said.text = text->text;
  auto const& open = order.open_reasoning();
  said.reasoning = open ? std::string_view{open->text}.substr(open->settled)
                        : std::string_view{order.unsettled_reasoning()};
  for (auto const& [id, call] : order.open_calls()) {
    if (call.streaming) said.argument_tokens += estimate_tokens(call.args_text);
  }
  return said;
}

// Looks at the open step and not at `stage_`, because a run that is taken over may be ended before its stage
// continues.
int Executor::mask() const {
  auto const* flow = parts_.flows.find(job_.input.flow);
  auto const& step = writer_->order().open_step();
  auto const* stage = flow != nullptr && step ? flow->find(*step) : nullptr;
  return produced_mask(job_.mode, stage != nullptr ? stage->kind : flow::StageKind::normal);
}

// A stage that does not answer books its calls on an audit row of its own (USE-8). The next stage starts in
// the same commit.
Commit Executor::make_checkpoint(StageResult end, flow::Stage const& next) {
  auto commit = std::move(end.reply.accounts);
  commit.add(close_said(writer_->order(), TextOutcome::superseded));
  commit.facts.emplace_back(StepFinished{stage_->name});
  commit.facts.emplace_back(StepStarted{next.name});
  if (auto const method = method_named_in(end.result, next, parts_.tools); !method.empty())
    commit.facts.emplace_back(ToolHint{"early_" + method + "_" + mint_uuid().substr(24), method});
  ledger_.book_on_audit_row(stage_->name, std::move(end.reply.output), "success", commit.rows);
  commit.rows.checkpoints.push_back(
      progress_.finish_stage(stage_->name, end.result, end.label, ledger_.booked()));
  return commit;
}

// Completes the text that was shown, so that its deltas join to the whole answer.
void Executor::complete_text(AnswerCompleted& answer, Commit& commit) const {
  auto const& order = writer_->order();
  auto const& open = order.open_text();
  bool const fits = open && open->message == answer.message && answer.answer.starts_with(open->text);
  if (!fits) {
    answer.message = MessageId{mint_uuid()};
    commit.add(close_said(order, TextOutcome::superseded));
    if (!order.replied()) commit.facts.emplace_back(ReplyStarted{});
    commit.facts.emplace_back(TextStarted{answer.message, answer.stage});
  }
  auto rest = answer.answer.substr(fits ? open->text.size() : 0);
  if (!rest.empty())
    commit.facts.emplace_back(TextDelta{answer.message, std::move(rest), fits ? open->chunks + 1 : 1, 0});
}

Commit Executor::make_finish(StageResult end) {
  auto answer = make_answer(*stage_, end, progress_.results());
  answer.last_card = writer_->order().last_card();
  auto commit = std::move(end.reply.accounts);
  complete_text(answer, commit);
  auto const charge = ledger_.book(answer.message, commit.rows);
  answer.usage = usage_of(charge);

  auto row = assistant_row(answer.message, stage_->name, answer.answer, to_string(answer.status), charge);
  row.mask = mask();
  commit.rows.messages.push_back(std::move(row));
  if (stage_->contract) {
    commit.rows.messages.push_back(
        audit_row(MessageId{mint_uuid()}, stage_->name, std::move(end.reply.output), "success"));
  }
  commit.facts.emplace_back(std::move(answer));
  commit.facts.emplace_back(StepFinished{stage_->name});
  commit.facts.emplace_back(RunFinished{ledger_.booked(), progress_.all_turns() + 1, progress_.all_calls(),
                                        progress_.all_rejections(), writer_->order().alias()});
  return commit;
}

// Settles the open model call, if there is one.
Commit Executor::stop_call(store::CallStatus status, std::string const& code) {
  return ledger_.is_open() ? ledger_.stopped(status, code, caller_.said()) : Commit{};
}

// Ends the run as canceled from its current state. `accounts` are those of its last call. What the calls of
// a run without an answer have used is booked on a row that nobody sees (USE-8). Works on copies, because the
// store may choose the other ending.
Commit Executor::make_cancel(Commit accounts, RunLedger ledger) const {
  auto order = writer_->order();
  auto commit = std::move(accounts);
  commit.add(keep_words(order, TextOutcome::canceled, mask()));
  for (auto const& fact : commit.facts)
    order.accept(fact).value();
  if (ledger.has_unbooked())
    ledger.book_on_audit_row(order.open_step().value_or(""), "", to_string(kCanceled), commit.rows);
  commit.add(close_all(order, TextOutcome::canceled, "CANCELED", mask()));
  commit.facts.emplace_back(RunCanceled{ledger.booked(), order.alias()});
  return commit;
}

asio::awaitable<Result<Ended>> Executor::finish(StageResult end) {
  auto canceled = make_cancel(end.reply.accounts, ledger_);
  auto commit = make_finish(std::move(end));
  commit = co_await with_what_is_left(parts_, job_.owner, writer_, std::move(commit));
  co_return co_await writer_->end(std::move(commit), RunEnd{store::RunStatus::completed},
                                  std::move(canceled));
}

// A call whose effect has happened is a success, also if the run is canceled or given up: nobody may be told
// that it failed (RUN-12).
asio::awaitable<Result<void>> Executor::settle_tools(std::string code) {
  for (auto const& id : writer_->order().calls_in_order()) {
    auto const open = writer_->order().open_calls().at(id);
    auto* const tool = open.running ? parts_.tools.find(open.tool) : nullptr;
    if (tool == nullptr) continue;
    auto const outcome = co_await tool->settle(tool_job(*writer_, job_, id, open), code, cancel_);
    if (!outcome) co_return outcome.error();
    if (!*outcome) continue;
    auto const told = co_await writer_->commit(close_with(writer_->order(), id, **outcome, mask()));
    if (!told) co_return told.error();
  }
  co_return Result<void>{};
}

asio::awaitable<Result<Ended>> Executor::cancel_run(Commit accounts) {
  auto const settled = co_await settle_tools("CANCELED");
  if (!settled) co_return settled.error();
  auto commit = make_cancel(std::move(accounts), ledger_);
  co_return co_await writer_->end(std::move(commit), canceled_end());
}

Commit Executor::make_failure(CallTrouble const& trouble, Commit accounts, std::string const& error_id) {
  auto commit = std::move(accounts);
  if (ledger_.has_unbooked()) {
    ledger_.book_on_audit_row(writer_->order().open_step().value_or(""), "", to_string(kFailed), commit.rows);
  }
  commit.add(close_all(writer_->order(), TextOutcome::failed, code_of(trouble), mask()));
  RunFailed failed{trouble.message, std::nullopt, error_id, ledger_.booked()};
  if (!trouble.code.empty()) failed.code = trouble.code;
  commit.facts.emplace_back(std::move(failed));
  return commit;
}

asio::awaitable<Result<Ended>> Executor::fail(CallTrouble trouble) {
  auto const settled = co_await settle_tools(code_of(trouble));
  if (!settled) co_return settled.error();
  auto const error_id = mint_uuid();
  base::log(base::LogLevel::error, "run failed",
            {{"run_id", writer_->names().run.text},
             {"thread_id", writer_->names().thread.text},
             {"error_id", error_id},
             {"code", trouble.code},
             {"detail", trouble.detail}});
  auto accounts = stop_call(kFailed, code_of(trouble));
  auto canceled = make_cancel(accounts, ledger_);
  auto commit = make_failure(trouble, std::move(accounts), error_id);
  co_return co_await writer_->end(std::move(commit), RunEnd{store::RunStatus::failed, trouble.code, error_id},
                                  std::move(canceled));
}

}  // namespace runnel::runtime
