#include "runnel/runtime/executor.h"

#include <algorithm>
#include <utility>

#include "runnel/base/log.h"

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

bool leaves_the_run(Error const& error, base::Cancel const& cancel) {
  return error.code == Errc::fenced || cancel.reason() == base::CancelReason::shutdown;
}
}  // namespace

Executor::Executor(store::Store& store, flow::Catalog const& flows, model::Registry const& models,
                   std::shared_ptr<RunWriter> writer, std::shared_ptr<base::Cancel> cancel, Job job)
    : store_{store},
      flows_{flows},
      models_{models},
      writer_{std::move(writer)},
      cancel_{std::move(cancel)},
      job_{std::move(job)} {}

asio::awaitable<Result<Ended>> Executor::run() {
  auto const* flow = flows_.find(job_.input.flow);
  if (flow == nullptr) {
    co_return co_await fail("FLOW_UNKNOWN", "the run's flow is no longer configured",
                            Error{Errc::invalid, job_.input.flow});
  }
  auto reply = co_await run_stages(*flow);
  if (reply && !cancel_->requested()) co_return co_await finish(flow->stages.back().name, std::move(*reply));

  Error error{Errc::canceled, "canceled"};
  if (!reply) error = reply.error();
  if (leaves_the_run(error, *cancel_)) co_return error;
  if (cancel_->requested()) co_return co_await cancel_run();
  co_return co_await fail("", "runtime execution failed", error);
}

asio::awaitable<Result<Ended>> Executor::resume(WriterChanged change, bool give_up) {
  auto closing = close_words(writer_->order(), TextOutcome::superseded, "INTERRUPTED");
  closing.facts.insert(closing.facts.begin(), Fact{change});
  auto const closed = co_await writer_->commit(std::move(closing.facts), std::move(closing.rows));
  if (!closed) co_return closed.error();
  if (cancel_->reason() == base::CancelReason::shutdown) co_return Error{Errc::canceled, "left at shutdown"};
  if (cancel_->requested()) co_return co_await cancel_run();
  if (give_up) {
    co_return co_await fail("RUN_INTERRUPTED", "the run was interrupted too often",
                            Error{Errc::internal, "recovered too often"});
  }
  co_return co_await run();
}

asio::awaitable<Result<ModelReply>> Executor::run_stages(flow::Flow flow) {
  for (auto const& stage : flow.stages) {
    auto const& finished = writer_->order().finished_steps();
    if (std::find(finished.begin(), finished.end(), stage.name) != finished.end()) continue;
    if (!writer_->order().open_step()) {
      auto const started = co_await writer_->commit(step_started(stage.name), {});
      if (!started) co_return started.error();
    }
    auto reply = co_await answer(stage);
    if (!reply || &stage == &flow.stages.back()) co_return reply;
    auto closing = close_all(writer_->order(), TextOutcome::complete, "");
    auto const checkpoint = co_await writer_->commit(std::move(closing.facts), std::move(closing.rows));
    if (!checkpoint) co_return checkpoint.error();
  }
  co_return Error{Errc::internal, "the flow has no stage left to answer"};
}

asio::awaitable<Result<ModelReply>> Executor::answer(flow::Stage stage) {
  auto* provider = models_.find(job_.input.model);
  if (provider == nullptr) co_return Error{Errc::invalid, "no provider serves " + job_.input.model};
  auto const context = co_await store_.context(job_.thread, job_.context_messages);
  if (!context) co_return context.error();

  ReplyStream stream{writer_, stage.name};
  co_return co_await stream.run(provider->call(make_request(*context)), cancel_);
}

model::CallRequest Executor::make_request(std::vector<store::MessageRow> const& context) const {
  model::CallRequest request{job_.input.model, {}};
  for (auto const& row : context) {
    if (row.role != store::Role::user && row.role != store::Role::assistant) continue;
    auto const speaker = row.role == store::Role::user ? model::Speaker::user : model::Speaker::assistant;
    request.messages.push_back({speaker, row.content});
  }
  return request;
}

Closing Executor::make_answer(std::string const& stage, ModelReply reply) const {
  AnswerCompleted answer;
  answer.message = reply.message;
  answer.stage = stage;
  answer.answer = reply.text;
  answer.usage = reply.usage;

  Closing closing;
  closing.rows.push_back(assistant_row(reply.message, stage, std::move(reply.text), "success", reply.usage));
  closing.facts.emplace_back(std::move(answer));
  closing.facts.emplace_back(StepFinished{stage});
  closing.facts.emplace_back(RunFinished{{reply.usage}, 1, 0, 0});
  return closing;
}

asio::awaitable<Result<Ended>> Executor::finish(std::string stage, ModelReply reply) {
  auto closing = make_answer(stage, std::move(reply));
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::completed});
}

asio::awaitable<Result<Ended>> Executor::cancel_run() {
  auto closing = close_all(writer_->order(), TextOutcome::canceled, "CANCELED");
  closing.facts.emplace_back(RunCanceled{});
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::canceled, "RUN_CANCELED"});
}

Closing Executor::make_failure(std::string const& code, std::string message,
                               std::string const& error_id) const {
  auto closing = close_all(writer_->order(), TextOutcome::failed, code.empty() ? "RUN_FAILED" : code);
  RunFailed failed{std::move(message), std::nullopt, error_id, {}};
  if (!code.empty()) failed.code = code;
  closing.facts.emplace_back(std::move(failed));
  return closing;
}

asio::awaitable<Result<Ended>> Executor::fail(std::string code, std::string message, Error error) {
  auto const error_id = mint_uuid();
  base::log(base::LogLevel::error, "run failed",
            {{"run_id", writer_->names().run.text},
             {"thread_id", writer_->names().thread.text},
             {"error_id", error_id},
             {"code", code},
             {"detail", error.detail}});
  auto closing = make_failure(code, std::move(message), error_id);
  co_return co_await writer_->end(std::move(closing.facts), std::move(closing.rows),
                                  RunEnd{store::RunStatus::failed, code, error_id});
}

}  // namespace runnel::runtime
