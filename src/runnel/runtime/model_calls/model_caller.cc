#include "runnel/runtime/model_calls/model_caller.h"

#include <optional>
#include <random>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/base/sleep.h"
#include "runnel/core/money/money.h"
#include "runnel/core/money/token_estimate.h"
#include "runnel/runtime/writing/close_open.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using model::Failure;

namespace {

// The tokens of a message besides its text: its role and the marks around it.
constexpr std::int64_t kTokensAround = 4;

double random_share() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>{0, 1}(generator);
}

// The sum of `count` over everything in a request that costs tokens.
template <class Count>
std::int64_t sum_over(model::CallRequest const& request, Count count) {
  std::int64_t sum = 0;
  for (auto const& message : request.messages) {
    sum += count(message.text) + count(message.reasoning) + kTokensAround;
    for (auto const& call : message.tool_calls)
      sum += count(call.name) + count(call.arguments) + kTokensAround;
  }
  for (auto const& tool : request.tools)
    sum += count(tool.name) + count(tool.description) + count(tool.parameters) + kTokensAround;
  return sum;
}

// No token is shorter than a byte.
std::int64_t most_input(model::CallRequest const& request) {
  return sum_over(request, [](std::string const& text) { return static_cast<std::int64_t>(text.size()); });
}

std::int64_t estimate_input(model::CallRequest const& request) {
  return sum_over(request, [](std::string const& text) { return estimate_tokens(text); });
}

// Tells the user what happened and whether to try again. The provider's own words go to the log only.
char const* explain(Failure failure) {
  switch (failure) {
    case Failure::unreachable:
      return "the model's provider cannot be reached";
    case Failure::timed_out:
      return "the model took too long";
    case Failure::rate_limited:
      return "the model's provider accepts no more requests at the moment; try again later";
    case Failure::overloaded:
      return "the model's provider is overloaded; try again later";
    case Failure::unauthorized:
      return "the model's provider refuses the server's key";
    case Failure::out_of_funds:
      return "the server's account at the model's provider is empty";
    case Failure::rejected:
      return "the model's provider does not accept the request";
    case Failure::filtered:
      return "the model's provider refuses to answer this";
    case Failure::cut:
      return "the model's answer was cut off";
    case Failure::bad_answer:
      return "the model's provider sent something that is not an answer";
    case Failure::reported:
      return "the model's provider reported an error in the middle of its answer";
  }
  return "the model failed";
}

// What went wrong, in our own words. The provider's words follow the colon; they may repeat what the user
// said, so they are logged at the debug level only (CFG-4).
std::string cause_of(model::CallFailed const& failed) {
  auto const& message = failed.message;
  bool const quotes = message.starts_with("HTTP ") || message.starts_with("error in the stream");
  return quotes ? message.substr(0, message.find(": ")) : message;
}

CallTrouble overrun(std::string const& model, std::int64_t most_output) {
  return {"BUDGET_EXCEEDED",
          "the model wrote more than the " + std::to_string(most_output) +
              " tokens that the budget held for its answer, and was stopped",
          "model " + model + " does not keep to its limit"};
}

CallTrouble trouble(model::CallFailed const& failed) {
  return {model::to_code(failed.failure), explain(failed.failure), cause_of(failed)};
}

// Whether another model may do better.
bool may_fall_back(Failure failure) {
  return failure != Failure::filtered;
}

}  // namespace

ModelCaller::ModelCaller(model::Registry const& models, std::shared_ptr<RunWriter> writer,
                         std::shared_ptr<base::Cancel> cancel, RunLedger& ledger, RunMetrics metrics)
    : models_{models},
      writer_{std::move(writer)},
      cancel_{std::move(cancel)},
      ledger_{ledger},
      metrics_{metrics} {}

asio::awaitable<Result<CallResult>> ModelCaller::call(std::string stage, model::CallRequest request,
                                                      Showing showing) {
  stream_ = std::make_unique<ReplyStream>(writer_, stage, std::move(showing));
  attempts_ = 0;
  std::optional<CallResult> last;
  for (auto const& candidate : models_.candidates(request.model)) {
    if (last) tell_fallback(request.model, candidate.model);
    request.model = candidate.model;
    auto result = co_await ask(candidate.provider, stage, request);
    if (!result) co_return result.error();
    bool const answered = std::holds_alternative<ModelReply>(*result);
    last = std::move(*result);
    if (answered || !may_try_next_) break;
  }
  if (!last) co_return CallTrouble{"MODEL_UNKNOWN", "the run's model is no longer configured", request.model};
  co_return std::move(*last);
}

asio::awaitable<Result<CallResult>> ModelCaller::ask(model::Provider* provider, std::string stage,
                                                     model::CallRequest request) {
  // The request limits the answer only to limit its cost, so a configured limit serves as well.
  if (request.max_output_tokens && provider->max_output_tokens())
    request.max_output_tokens = provider->max_output_tokens();
  for (int retries = 0;; ++retries) {
    may_try_next_ = false;
    if (cancel_->requested()) co_return Error{Errc::canceled, "canceled before the model was asked"};
    auto attempt = describe(*provider, stage, request);
    auto const most_output = attempt.most_output;
    auto const opened = co_await ledger_.open(std::move(attempt));
    if (!opened && opened.error().code == Errc::over_budget) {
      auto why = co_await ledger_.why_refused();
      co_return CallTrouble{"BUDGET_EXCEEDED", std::move(why), opened.error().detail};
    }
    if (!opened && opened.error().code == Errc::not_found) {
      co_return CallTrouble{"MODEL_UNPRICED", "the model has no price at the moment", opened.error().detail};
    }
    if (!opened) co_return opened.error();
    if (cancel_->requested()) co_return Error{Errc::canceled, "canceled before the model was asked"};
    ledger_.asked();
    auto end = co_await stream_->run(provider->call(request), most_output, cancel_);
    if (!end) co_return end.error();
    auto const said = stream_->said();
    if (said.first_piece) metrics_.first_token_time.observe(*said.first_piece);
    if (auto* finished = std::get_if<model::CallFinished>(&*end)) co_return reply(std::move(*finished));

    auto const* const failure = std::get_if<model::CallFailed>(&*end);
    auto accounts = failure != nullptr ? ledger_.failed(*failure, said)
                                       : ledger_.stopped(store::CallStatus::failed, "BUDGET_EXCEEDED", said);
    accounts.add(keep_words(writer_->order(), TextOutcome::failed, store::kUiHistory));
    auto const settled = co_await writer_->commit(std::move(accounts));
    if (!settled) co_return settled.error();
    if (failure == nullptr) co_return overrun(request.model, most_output);
    auto const failed = *failure;
    tell(*provider, request.model, failed);
    if (stream_->has_shown()) co_return trouble(failed);
    may_try_next_ = may_fall_back(failed.failure);
    auto const wait = model::wait_before_retry({}, retries, failed, random_share());
    if (!wait) co_return trouble(failed);
    metrics_.call_retries.add();
    bool const go_on = co_await base::sleep_for(*wait, cancel_);
    if (!go_on) co_return Error{Errc::canceled, "canceled while waiting to ask again"};
  }
}

void ModelCaller::tell_fallback(std::string const& from, std::string const& to) const {
  metrics_.call_fallbacks.add();
  base::log(base::LogLevel::warn, "run goes on with a fallback model",
            {{"run_id", writer_->names().run.text},
             {"thread_id", writer_->names().thread.text},
             {"from", from},
             {"to", to}});
}

void ModelCaller::tell(model::Provider const& provider, std::string const& model,
                       model::CallFailed const& failed) const {
  base::log(base::LogLevel::warn, "model call failed",
            {{"run_id", writer_->names().run.text},
             {"thread_id", writer_->names().thread.text},
             {"provider", provider.name()},
             {"model", model},
             {"code", model::to_code(failed.failure)},
             {"cause", cause_of(failed)}});
  base::log(base::LogLevel::debug, "what the provider said",
            {{"run_id", writer_->names().run.text},
             {"thread_id", writer_->names().thread.text},
             {"detail", failed.message}});
}

Attempt ModelCaller::describe(model::Provider const& provider, std::string stage,
                              model::CallRequest const& request) {
  Attempt attempt;
  attempt.stage = std::move(stage);
  attempt.number = ++attempts_;
  attempt.provider = provider.name();
  attempt.model = request.model;
  attempt.price_name = provider.price_name(request.model);
  attempt.thinks = provider.thinks();
  attempt.may_think = provider.may_think();
  attempt.input_estimate = estimate_input(request);
  attempt.most_input = most_input(request);
  if (request.max_output_tokens) attempt.most_output = provider.most_output(*request.max_output_tokens);
  return attempt;
}

ModelReply ModelCaller::reply(model::CallFinished finished) {
  ModelReply reply;
  reply.message = stream_->message();
  reply.output = stream_->output();
  reply.shown = stream_->shown();
  reply.prose = stream_->is_prose();
  reply.reasoning = stream_->reasoning();
  reply.shown_calls = stream_->calls();
  reply.finish = finished.finish;
  reply.accounts = ledger_.finished(finished, stream_->said());
  reply.calls = std::move(finished.tool_calls);
  return reply;
}

}  // namespace runnel::runtime
