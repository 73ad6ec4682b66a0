#include "runnel/runtime/executor.h"

#include <algorithm>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/runtime/patience.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using store::Ended;

namespace {
// A plain function: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
std::vector<Fact> step_started(std::string const& stage) {
  std::vector<Fact> facts;
  facts.emplace_back(StepStarted{stage});
  return facts;
}

// Generous for an answer; without a budget the provider's own limit holds.
constexpr std::int64_t kOutputUnderBudget = 8192;

bool leaves_the_run(Error const& error, base::Cancel const& cancel) {
  return error.code == Errc::fenced || cancel.reason() == base::CancelReason::shutdown;
}
}  // namespace

Executor::Executor(store::Store& store, base::Clock const& clock, flow::Catalog const& flows,
                   model::Registry const& models, std::shared_ptr<RunWriter> writer,
                   std::shared_ptr<base::Cancel> cancel, Job job, RunMetrics metrics)
    : store_{store},
      flows_{flows},
      models_{models},
      writer_{std::move(writer)},
      cancel_{std::move(cancel)},
      job_{std::move(job)},
      book_{store, clock, cancel_, job_.terms, metrics, job_.run, writer_->epoch()},
      caller_{models_, writer_, cancel_, book_, metrics} {}

asio::awaitable<Result<Ended>> Executor::run() {
  auto const* flow = flows_.find(job_.input.flow);
  if (flow == nullptr) {
    co_return co_await fail(
        CallTrouble{"FLOW_UNKNOWN", "the run's flow is no longer configured", job_.input.flow});
  }
  auto result = co_await run_stages(*flow);
  if (!result && leaves_the_run(result.error(), *cancel_)) co_return result.error();
  // An answer that is there is kept, also at a shutdown.
  bool const stopping = cancel_->reason() == base::CancelReason::shutdown;
  bool const answered = result && std::holds_alternative<ModelReply>(*result);
  if (stopping && !answered) co_return Error{Errc::canceled, "left at shutdown"};
  if (cancel_->requested() && !stopping) {
    if (answered) unwritten_ = std::get<ModelReply>(std::move(*result)).accounts;
    co_return co_await cancel_run();
  }
  if (!result) co_return co_await fail(CallTrouble{"", "runtime execution failed", result.error().detail});
  if (auto* const trouble = std::get_if<CallTrouble>(&*result)) co_return co_await fail(std::move(*trouble));
  co_return co_await finish(flow->stages.back().name, std::get<ModelReply>(std::move(*result)));
}

asio::awaitable<Result<Ended>> Executor::resume(WriterChanged change, bool give_up) {
  auto left = co_await book_.take_over(said());
  if (!left) co_return left.error();
  Closing closing;
  closing.facts.emplace_back(change);
  closing.add(close_words(writer_->order(), TextOutcome::superseded, "INTERRUPTED"));
  closing.add(std::move(*left));  // Settles the thoughts that were closed, too.
  auto const closed = co_await writer_->commit(std::move(closing.facts), std::move(closing.rows));
  if (!closed) co_return closed.error();
  if (cancel_->reason() == base::CancelReason::shutdown) co_return Error{Errc::canceled, "left at shutdown"};
  if (cancel_->requested()) co_return co_await cancel_run();
  if (give_up) {
    co_return co_await fail(
        CallTrouble{"RUN_INTERRUPTED", "the run was interrupted too often", "recovered too often"});
  }
  co_return co_await run();
}

asio::awaitable<Result<CallResult>> Executor::run_stages(flow::Flow flow) {
  for (auto const& stage : flow.stages) {
    auto const& finished = writer_->order().finished_steps();
    if (std::find(finished.begin(), finished.end(), stage.name) != finished.end()) continue;
    if (!writer_->order().open_step()) {
      auto const started = co_await writer_->commit(step_started(stage.name), {});
      if (!started) co_return started.error();
    }
    auto reply = co_await answer(stage);
    if (!reply || std::holds_alternative<CallTrouble>(*reply) || &stage == &flow.stages.back())
      co_return reply;
    auto closing = make_checkpoint(stage.name, std::get<ModelReply>(std::move(*reply)));
    auto const checkpoint = co_await writer_->commit(std::move(closing.facts), std::move(closing.rows));
    if (!checkpoint) co_return checkpoint.error();
  }
  co_return Error{Errc::internal, "the flow has no stage left to answer"};
}

// A plain function: g++ 12 mishandles captures in the arguments of a co_await (CONTRIBUTING.md).
store::Async<std::vector<store::MessageRow>> Executor::read_context() {
  return ask_until_served<std::vector<store::MessageRow>>(
      [this] { return store_.context(job_.thread, job_.context_messages); }, cancel_);
}

asio::awaitable<Result<CallResult>> Executor::answer(flow::Stage stage) {
  auto const context = co_await read_context();
  if (!context) co_return context.error();
  co_return co_await caller_.call(stage.name, make_request(*context));
}

model::CallRequest Executor::make_request(std::vector<store::MessageRow> const& context) const {
  model::CallRequest request;
  request.model = job_.input.model;
  // What a call may cost must be known before it is made.
  if (job_.terms.budgets.any()) request.max_output_tokens = kOutputUnderBudget;
  for (auto const& row : context) {
    if (row.role != store::Role::user && row.role != store::Role::assistant) continue;
    auto const speaker = row.role == store::Role::user ? model::Speaker::user : model::Speaker::assistant;
    request.messages.push_back({speaker, row.content, {}, {}, {}});
  }
  return request;
}

// What an attempt of an earlier writer has shown, as far as it is known.
Said Executor::said() const {
  Said said;
  if (auto const& text = writer_->order().open_text()) said.text = text->text;
  auto const& open = writer_->order().open_reasoning();
  said.reasoning = open ? std::string_view{open->text}.substr(open->settled)
                        : std::string_view{writer_->order().unsettled_reasoning()};
  return said;
}

// A stage that does not answer books its calls on a row of its own (USE-8).
Closing Executor::make_checkpoint(std::string const& stage, ModelReply reply) {
  auto closing = std::move(reply.accounts);
  closing.add(close_all(writer_->order(), TextOutcome::complete, ""));
  book_on(audit_row(stage, std::move(reply.text), "success"), closing);
  return closing;
}

void Executor::book_on(store::NewMessage row, Closing& closing) {
  auto const summary = book_.book(row.id, closing.rows);
  charge(row, summary, book_.last_provider(), book_.last_model());
  closing.rows.messages.push_back(std::move(row));
}

Closing Executor::make_answer(std::string const& stage, ModelReply reply) {
  auto closing = std::move(reply.accounts);
  auto const summary = book_.book(reply.message, closing.rows);
  // Text that the model could not finish is an answer in part.
  bool const whole = reply.finish == model::Finish::stop || reply.finish == model::Finish::tool_calls;
  AnswerCompleted answer;
  answer.message = reply.message;
  answer.stage = stage;
  answer.status = whole ? AnswerStatus::success : AnswerStatus::partial_success;
  answer.answer = reply.text;
  answer.usage = usage_of(summary, book_.last_provider(), book_.last_model());

  auto row = assistant_row(reply.message, stage, std::move(reply.text), to_string(answer.status));
  charge(row, summary, book_.last_provider(), book_.last_model());
  closing.rows.messages.push_back(std::move(row));
  closing.facts.emplace_back(std::move(answer));
  closing.facts.emplace_back(StepFinished{stage});
  closing.facts.emplace_back(RunFinished{book_.booked(), book_.calls(), 0, 0});
  return closing;
}

// What the calls of a run without an answer have used is booked on a row that nobody sees (USE-8).
Closing Executor::settle_rest(store::CallStatus status, std::string const& code) {
  auto closing = std::exchange(unwritten_, {});
  if (book_.is_open()) closing.add(book_.stopped(status, code, caller_.said()));
  if (!book_.has_unbooked()) return closing;
  book_on(audit_row(writer_->order().open_step().value_or(""), "", to_string(status)), closing);
  return closing;
}

asio::awaitable<Result<Ended>> Executor::finish(std::string stage, ModelReply reply) {
  auto closing = make_answer(stage, std::move(reply));
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::completed});
}

asio::awaitable<Result<Ended>> Executor::cancel_run() {
  auto closing = settle_rest(store::CallStatus::canceled, "");
  closing.add(close_all(writer_->order(), TextOutcome::canceled, "CANCELED"));
  closing.facts.emplace_back(RunCanceled{book_.booked()});
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::canceled, "RUN_CANCELED"});
}

Closing Executor::make_failure(std::string const& code, std::string message, std::string const& error_id) {
  auto const known = code.empty() ? "RUN_FAILED" : code;
  auto closing = settle_rest(store::CallStatus::failed, known);
  closing.add(close_all(writer_->order(), TextOutcome::failed, known));
  RunFailed failed{std::move(message), std::nullopt, error_id, book_.booked()};
  if (!code.empty()) failed.code = code;
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
  auto closing = make_failure(trouble.code, std::move(trouble.message), error_id);
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::failed, trouble.code, error_id});
}

}  // namespace runnel::runtime
