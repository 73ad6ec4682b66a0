#include "runnel/runtime/executor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/core/token_estimate.h"
#include "runnel/runtime/answer.h"
#include "runnel/runtime/patience.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using store::Ended;

namespace {

// Plain functions: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
std::vector<Fact> step_started(std::string const& stage) {
  std::vector<Fact> facts;
  facts.emplace_back(StepStarted{stage});
  return facts;
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
      metrics_{std::move(metrics)},
      book_{parts_.store, parts_.clock, cancel_, job_.terms, metrics_, job_.run, writer_->epoch()},
      caller_{parts_.models, writer_, cancel_, book_, metrics_},
      deadline_{writer_->context()} {}

asio::awaitable<Result<Ended>> Executor::run() {
  auto const* flow = parts_.flows.find(job_.input.flow);
  if (flow == nullptr) co_return co_await fail(flow_changed(job_.input.flow));
  arm_deadline(flow->limits);
  auto result = co_await run_stages(flow);
  deadline_.cancel();
  if (!result && (writer_->has_failed() || leaves_the_run(result.error(), *cancel_)))
    co_return result.error();
  // An answer that is there is kept, also at a shutdown or when the time is up.
  auto const reason = cancel_->reason();
  bool const answered = result && std::holds_alternative<StageResult>(*result);
  if (reason == base::CancelReason::shutdown && !answered)
    co_return Error{Errc::canceled, "left at shutdown"};
  if (reason == base::CancelReason::user || reason == base::CancelReason::replaced) {
    Closing accounts =
        answered ? std::get<StageResult>(std::move(*result)).reply.accounts : stop_call(kCanceled, "");
    co_return co_await cancel_run(std::move(accounts));
  }
  if (reason == base::CancelReason::time_up && !answered)
    co_return co_await fail(time_is_up(flow->limits.seconds));
  if (!result) co_return co_await fail(CallTrouble{"", "runtime execution failed", result.error().detail});
  if (auto* const trouble = std::get_if<CallTrouble>(&*result)) co_return co_await fail(std::move(*trouble));
  co_return co_await finish(std::get<StageResult>(std::move(*result)));
}

asio::awaitable<Result<Ended>> Executor::resume(WriterChanged change, std::int64_t last_known_ms,
                                                std::optional<CallTrouble> give_up) {
  auto const checkpoints = co_await read_checkpoints();
  if (!checkpoints) co_return checkpoints.error();
  bool const known = restore(*checkpoints);
  auto before = said();
  before.last_known_ms = last_known_ms;
  auto left = co_await book_.take_over(before);
  if (!left) co_return left.error();
  Closing closing;
  closing.facts.emplace_back(change);
  closing.add(close_interrupted(writer_->order()));
  closing.add(std::move(*left));  // Settles the thoughts that were closed, too.
  auto const closed = co_await writer_->commit(std::move(closing.facts), std::move(closing.rows));
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

// In pages: no reader of another run waits for the checkpoints of a long one.
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
  book_.restore(progress_.booked());
  return true;
}

// From the run's beginning: a run that is taken over has no more time than another.
std::chrono::milliseconds Executor::time_left(flow::Limits const& limits) const {
  auto const ends = job_.started_at + limits.seconds * 1000;
  return std::chrono::milliseconds{std::max<std::int64_t>(ends - parts_.clock.now_ms(), 0)};
}

bool Executor::is_too_late() const {
  auto const* flow = parts_.flows.find(job_.input.flow);
  return flow != nullptr && flow->limits.seconds > 0 && time_left(flow->limits).count() == 0;
}

void Executor::arm_deadline(flow::Limits const& limits) {
  if (limits.seconds == 0) return;
  deadline_.expires_after(time_left(limits));
  deadline_.async_wait([cancel = cancel_](boost::system::error_code error) {
    if (!error) cancel->request(base::CancelReason::time_up);
  });
}

StageRunner::Parts Executor::stage_parts() {
  return {parts_, writer_, cancel_, caller_, progress_, job_, metrics_};
}

asio::awaitable<Result<StageEnd>> Executor::run_stages(flow::Flow const* flow) {
  stage_ = progress_.last_stage().empty() ? &flow->first()
                                          : flow->next(progress_.last_stage(), progress_.last_label());
  while (stage_ != nullptr) {
    auto const open = writer_->order().open_step();
    if (open && *open != stage_->name) break;
    if (!open) {
      auto const started = co_await writer_->commit(step_started(stage_->name), {});
      if (!started) co_return started.error();
    }
    StageRunner runner{stage_parts(), flow->limits, *stage_};
    auto end = co_await runner.run();
    if (!end || std::holds_alternative<CallTrouble>(*end)) co_return end;
    auto found = std::get<StageResult>(std::move(*end));
    if (answers(*stage_, found.label)) co_return StageEnd{std::move(found)};
    auto const* next = flow->next(stage_->name, found.label);
    if (next == nullptr) {
      auto const settled = co_await settle(std::move(found.reply.accounts));
      if (!settled) co_return settled.error();
      break;
    }
    auto closing = make_checkpoint(std::move(found), *next);
    auto const kept = co_await writer_->commit(std::move(closing.facts), std::move(closing.rows));
    if (!kept) co_return kept.error();
    stage_ = next;
  }
  co_return StageEnd{flow_changed(flow->name)};
}

// The accounts of an answer that nothing comes of: written before anything is closed on top of them.
asio::awaitable<Result<void>> Executor::settle(Closing accounts) {
  accounts.add(keep_words(writer_->order(), TextOutcome::canceled, mask()));
  auto const done = co_await writer_->commit(std::move(accounts.facts), std::move(accounts.rows));
  co_return done;
}

// What an attempt of an earlier writer has shown, as far as it is known.
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

// By the step that is open: a run that is taken over may be ended before its stage goes on.
int Executor::mask() const {
  auto const* flow = parts_.flows.find(job_.input.flow);
  auto const& step = writer_->order().open_step();
  auto const* stage = flow != nullptr && step ? flow->find(*step) : nullptr;
  return produced_mask(job_.mode, stage != nullptr ? stage->kind : flow::StageKind::normal);
}

// A stage that does not answer books its calls on a row of its own (USE-8). The next one begins with it.
Closing Executor::make_checkpoint(StageResult end, flow::Stage const& next) {
  auto closing = std::move(end.reply.accounts);
  closing.add(close_said(writer_->order(), TextOutcome::superseded));
  closing.facts.emplace_back(StepFinished{stage_->name});
  closing.facts.emplace_back(StepStarted{next.name});
  book_on(book_, audit_row(stage_->name, std::move(end.reply.output), "success"), closing);
  closing.rows.checkpoints.push_back(
      progress_.finish_stage(stage_->name, end.result, end.label, book_.booked()));
  return closing;
}

void Executor::book_on(CallBook& book, store::NewMessage row, Closing& closing) {
  auto const summary = book.book(row.id, closing.rows);
  charge(row, summary, book.last_provider(), book.last_model());
  closing.rows.messages.push_back(std::move(row));
}

// What was shown of the answer becomes all of it, so that the pieces join to it.
void Executor::complete_text(AnswerCompleted& answer, Closing& closing) const {
  auto const& order = writer_->order();
  auto const& open = order.open_text();
  bool const fits = open && open->message == answer.message && answer.answer.starts_with(open->text);
  if (!fits) {
    answer.message = MessageId{mint_uuid()};
    closing.add(close_said(order, TextOutcome::superseded));
    if (!order.replied()) closing.facts.emplace_back(ReplyStarted{});
    closing.facts.emplace_back(TextStarted{answer.message, answer.stage});
  }
  auto rest = answer.answer.substr(fits ? open->text.size() : 0);
  if (!rest.empty())
    closing.facts.emplace_back(TextDelta{answer.message, std::move(rest), fits ? open->chunks + 1 : 1, 0});
}

Closing Executor::make_finish(StageResult end) {
  auto answer = make_answer(*stage_, end, progress_.results());
  auto closing = std::move(end.reply.accounts);
  complete_text(answer, closing);
  auto const summary = book_.book(answer.message, closing.rows);
  answer.usage = usage_of(summary, book_.last_provider(), book_.last_model());

  auto row = assistant_row(answer.message, stage_->name, answer.answer, to_string(answer.status));
  row.mask = mask();
  charge(row, summary, book_.last_provider(), book_.last_model());
  closing.rows.messages.push_back(std::move(row));
  if (stage_->contract)
    closing.rows.messages.push_back(audit_row(stage_->name, std::move(end.reply.output), "success"));
  closing.facts.emplace_back(std::move(answer));
  closing.facts.emplace_back(StepFinished{stage_->name});
  closing.facts.emplace_back(RunFinished{book_.booked(), progress_.all_turns() + 1, progress_.all_calls(),
                                         progress_.all_rejections()});
  return closing;
}

// What the open call, if there is one, comes to.
Closing Executor::stop_call(store::CallStatus status, std::string const& code) {
  return book_.is_open() ? book_.stopped(status, code, caller_.said()) : Closing{};
}

// How the run ends by its cancel, from where it is. `accounts` are those of its last call. What the calls of
// a run without an answer have used is booked on a row that nobody sees (USE-8). Works on copies, because it
// may be the ending that the store does not choose.
Closing Executor::make_cancel(Closing accounts, CallBook book) const {
  auto order = writer_->order();
  auto closing = std::move(accounts);
  closing.add(keep_words(order, TextOutcome::canceled, mask()));
  for (auto const& fact : closing.facts)
    order.accept(fact).value();
  if (book.has_unbooked())
    book_on(book, audit_row(order.open_step().value_or(""), "", to_string(kCanceled)), closing);
  closing.add(close_all(order, TextOutcome::canceled, "CANCELED", mask()));
  closing.facts.emplace_back(RunCanceled{book.booked()});
  return closing;
}

asio::awaitable<Result<Ended>> Executor::finish(StageResult end) {
  auto canceled = make_cancel(end.reply.accounts, book_);
  auto closing = make_finish(std::move(end));
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::completed}, std::move(canceled));
}

asio::awaitable<Result<Ended>> Executor::cancel_run(Closing accounts) {
  auto closing = make_cancel(std::move(accounts), book_);
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows), canceled_end());
}

Closing Executor::make_failure(CallTrouble const& trouble, Closing accounts, std::string const& error_id) {
  auto closing = std::move(accounts);
  if (book_.has_unbooked()) {
    book_on(book_, audit_row(writer_->order().open_step().value_or(""), "", to_string(kFailed)), closing);
  }
  closing.add(close_all(writer_->order(), TextOutcome::failed, code_of(trouble), mask()));
  RunFailed failed{trouble.message, std::nullopt, error_id, book_.booked()};
  if (!trouble.code.empty()) failed.code = trouble.code;
  closing.facts.emplace_back(std::move(failed));
  return closing;
}

asio::awaitable<Result<Ended>> Executor::fail(CallTrouble trouble) {
  auto const error_id = mint_uuid();
  base::log(base::LogLevel::error, "run failed",
            {{"run_id", writer_->names().run.text},
             {"thread_id", writer_->names().thread.text},
             {"error_id", error_id},
             {"code", trouble.code},
             {"detail", trouble.detail}});
  auto accounts = stop_call(kFailed, code_of(trouble));
  auto canceled = make_cancel(accounts, book_);
  auto closing = make_failure(trouble, std::move(accounts), error_id);
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::failed, trouble.code, error_id},
                                  std::move(canceled));
}

}  // namespace runnel::runtime
