#include "runnel/runtime/model_calls/run_ledger.h"

#include <algorithm>
#include <utility>

#include "runnel/core/money/token_estimate.h"
#include "runnel/model/pricing/call_cost.h"
#include "runnel/runtime/model_calls/exceeded_budget.h"
#include "runnel/runtime/writing/store_retry.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using model::CallOutcome;
using store::CallStatus;

namespace {

// Whether the provider may have used tokens although its answer is not complete.
CallOutcome outcome_of(model::CallFailed const& failed) {
  return failed.accepted ? CallOutcome::answered : CallOutcome::refused;
}

// The tokens that a model is assumed to write per second while it thinks unseen, and the most that are
// assumed.
constexpr std::int64_t kHiddenTokensPerSecond = 100;
constexpr std::int64_t kMostHiddenTokens = kOutputUnderBudget;

std::int64_t to_ms(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// The output of a call that ended without reporting its usage: what was seen of it and, if the model may have
// thought without showing it, what it may have written until its first piece came. Never more than the call
// was allowed, which is what it reserves of the budgets (docs/decisions/032).
std::int64_t estimate_output(Said const& said, bool may_think, std::int64_t took_ms,
                             std::int64_t most_output) {
  auto tokens = said.tokens();
  if (may_think && said.reasoning.empty()) {
    auto const hidden_ms = said.first_piece ? said.first_piece->count() : took_ms;
    tokens += std::min(hidden_ms * kHiddenTokensPerSecond / 1000, kMostHiddenTokens);
  }
  return most_output > 0 ? std::min(tokens, most_output) : tokens;
}

}  // namespace

std::int64_t day_of(std::int64_t now) {
  return now - now % kDayMs;
}

Usage usage_of(Charge const& charge) {
  auto const& summary = charge.summary;
  return {charge.provider, charge.model, summary.tokens, summary.cost_source, summary.cost};
}

std::int64_t Said::tokens() const {
  return estimate_tokens(text) + estimate_tokens(reasoning) + argument_tokens;
}

RunLedger::RunLedger(store::Store& store, base::Clock const& clock, std::shared_ptr<base::Cancel> cancel,
                     Terms terms, RunMetrics metrics, RunKey run, Epoch epoch)
    : store_{store},
      clock_{clock},
      cancel_{std::move(cancel)},
      terms_{std::move(terms)},
      metrics_{metrics},
      run_{run},
      epoch_{epoch} {}

Result<store::NewCall> RunLedger::make_call(Open const& open) const {
  auto const& attempt = open.attempt;
  store::NewCall call;
  call.id = open.id;
  call.run = run_;
  call.epoch = epoch_;
  call.stage = attempt.stage;
  call.attempt = attempt.number;
  call.provider = attempt.provider;
  call.model = attempt.model;
  call.started_at = open.started_at;
  call.input_estimate = attempt.input_estimate;
  auto const estimate =
      model::worst_case_cost(*terms_.prices, attempt.price_name, open.started_at, attempt.input_estimate, 0);
  auto const most = model::worst_case_cost(*terms_.prices, attempt.price_name, open.started_at,
                                           attempt.most_input, attempt.most_output);
  if (!estimate || !most) return Error{Errc::not_found, "model " + attempt.model + " has no price now"};
  call.cost_estimate = *estimate;
  call.reserve = *most;
  call.budgets = terms_.budgets;
  call.budgets.day_began = day_of(open.started_at);
  return call;
}

// Plain functions: g++ 12 mishandles captures in the arguments of a co_await (CONTRIBUTING.md).
store::Async<void> RunLedger::enter(store::NewCall call) {
  return ask_until_served<void>([this, call = std::move(call)] { return store_.open_call(call); }, cancel_);
}

store::Async<std::vector<store::UnbookedCall>> RunLedger::find_unbooked() {
  return ask_until_served<std::vector<store::UnbookedCall>>([this] { return store_.unbooked_calls(run_); },
                                                            cancel_);
}

asio::awaitable<Result<void>> RunLedger::open(Attempt attempt) {
  Open open;
  open.attempt = std::move(attempt);
  open.id = mint_uuid();
  open.started_at = clock_.now_ms();
  auto call = make_call(open);
  if (!call) co_return call.error();
  reserve_ = call->reserve;
  auto const entered = co_await enter(std::move(*call));
  if (!entered) co_return entered.error();
  open.began = std::chrono::steady_clock::now();
  open_ = std::move(open);
  co_return Result<void>{};
}

asio::awaitable<std::string> RunLedger::why_refused() {
  auto text = "The next model call may cost up to " + to_decimal(reserve_) + " CNY, more than is left. ";
  auto budgets = terms_.budgets;
  budgets.day_began = day_of(clock_.now_ms());
  Payer const payer{terms_.owner, terms_.thread, spent()};
  auto const full = co_await find_exceeded_budget(&store_, budgets, payer, reserve_);
  if (full && *full) {
    auto const& budget = **full;
    text += std::string{budget.words} + ": " + budget.amounts() + " spent" + std::string{budget.until()};
  } else if (full) {
    text += "The rest of a budget is reserved by calls that are under way; try again when they have ended.";
  }
  co_return text;
}

Money RunLedger::spent() const {
  Money sum;
  for (auto const& usage : booked_)
    sum.pico += usage.cost.pico;
  for (auto const& call : unbooked_)
    sum.pico += call.record.cost.direct.value_or(call.record.cost.catalog).pico;
  return sum;
}

Commit RunLedger::finished(model::CallFinished const& finished, Said const& said) {
  return close(CallStatus::completed, {}, CallOutcome::answered, finished.usage, said);
}

Commit RunLedger::failed(model::CallFailed const& failed, Said const& said) {
  return close(CallStatus::failed, model::to_code(failed.failure), outcome_of(failed), failed.usage, said);
}

Commit RunLedger::stopped(CallStatus status, std::string const& code, Said const& said) {
  auto const outcome = open_->asked ? CallOutcome::answered : CallOutcome::refused;
  return close(status, code, outcome, ReportedUsage{}, said);
}

Commit RunLedger::close(CallStatus status, std::string code, CallOutcome outcome,
                        ReportedUsage const& reported, Said const& said) {
  auto const open = std::exchange(open_, std::nullopt).value();
  auto const& attempt = open.attempt;
  auto const took = std::chrono::steady_clock::now() - open.began;

  model::CallRecord record;
  record.provider = attempt.provider;
  record.model = attempt.model;
  record.status = outcome;
  record.latency_ms = reported.latency_ms.value_or(to_ms(took));
  if (outcome == CallOutcome::answered) {
    auto const output = estimate_output(said, attempt.may_think, to_ms(took), attempt.most_output);
    record.tokens = model::settle_tokens(reported, {attempt.input_estimate, output});
    bool const thought = attempt.thinks || !said.reasoning.empty() || record.tokens.reasoning > 0;
    record.cost = model::price_call(*terms_.prices, attempt.price_name, open.started_at, record.tokens,
                                    thought, reported);
  }

  store::CallEnd end;
  end.status = status;
  end.error_code = std::move(code);
  end.ended_at = std::max(clock_.now_ms(), open.started_at);
  if (said.first_piece) end.first_token_ms = said.first_piece->count();
  metrics_.call_ended(status).add();
  metrics_.call_time.observe(took);
  return settle(open.id, attempt.stage, std::move(end), std::move(record));
}

Commit RunLedger::settle(std::string id, std::string const& stage, store::CallEnd end,
                         model::CallRecord record) {
  end.id = id;
  end.latency_ms = record.latency_ms;
  end.tokens = record.tokens;
  end.cost = record.cost;
  auto const summary = model::summarize({&record, 1});
  end.provisional = summary.cost;
  metrics_.input_tokens.add(record.tokens.input);
  metrics_.output_tokens.add(record.tokens.output);

  Commit commit;
  commit.facts.emplace_back(UsageRecorded{stage, usage_of({summary, record.provider, record.model})});
  commit.rows.call_ends.push_back(std::move(end));
  last_provider_ = record.provider;
  last_model_ = record.model;
  unbooked_.push_back({std::move(id), std::move(record)});
  return commit;
}

// The output limit of a call that an earlier writer made; 0 means no limit.
std::int64_t RunLedger::most_output(model::Provider const* provider) const {
  if (!terms_.budgets.any() || provider == nullptr) return 0;
  return provider->most_output(provider->max_output_tokens().value_or(kOutputUnderBudget));
}

asio::awaitable<Result<Commit>> RunLedger::take_over(Said said) {
  auto left = co_await find_unbooked();
  if (!left) co_return left.error();
  Commit commit;
  for (auto& call : *left) {
    model::CallRecord record;
    record.provider = call.provider;
    record.model = call.model;
    if (call.status != CallStatus::open) {
      // A call that cost and used nothing was refused.
      bool const used = call.tokens.total > 0 || !call.tokens.complete || call.cost.direct_observed;
      record.status = used ? CallOutcome::answered : CallOutcome::refused;
      record.tokens = call.tokens;
      record.cost = std::move(call.cost);
      last_provider_ = record.provider;
      last_model_ = record.model;
      unbooked_.push_back({std::move(call.id), std::move(record)});
      continue;
    }
    auto const* const provider = terms_.models != nullptr ? terms_.models->find(call.model) : nullptr;
    // Time in which no server ran does not count as thinking. Nor does any time if something was shown,
    // because that came after the thoughts.
    bool const may_think = provider != nullptr && provider->may_think() && said.tokens() == 0;
    auto const known_ms = said.last_known_ms.value_or(call.started_at) - call.started_at;
    auto const output =
        estimate_output(said, may_think, std::max<std::int64_t>(known_ms, 0), most_output(provider));
    record.tokens = model::settle_tokens(ReportedUsage{}, {call.input_estimate, output});
    bool const thought = !said.reasoning.empty() || (provider != nullptr && provider->thinks());
    auto const price_name = provider != nullptr ? provider->price_name(call.model) : call.model;
    record.cost = model::price_call(*terms_.prices, price_name, call.started_at, record.tokens, thought,
                                    ReportedUsage{});
    store::CallEnd end;
    end.status = CallStatus::interrupted;
    end.ended_at = std::max(clock_.now_ms(), call.started_at);
    record.latency_ms = end.ended_at - call.started_at;
    metrics_.call_ended(end.status).add();
    commit.add(settle(std::move(call.id), call.stage, std::move(end), std::move(record)));
  }
  co_return commit;
}

Charge RunLedger::book(MessageId const& message, CommitRows& rows) {
  std::vector<model::CallRecord> records;
  records.reserve(unbooked_.size());
  for (auto& call : unbooked_)
    records.push_back(std::move(call.record));
  auto summary = model::summarize(records);
  for (std::size_t i = 0; i < records.size(); ++i)
    rows.bookings.push_back({std::move(unbooked_[i].id), message, summary.booked[i], summary.cost_source});
  unbooked_.clear();
  add_booked(model::merge_by_model(records, summary));
  return {std::move(summary), last_provider_, last_model_};
}

void RunLedger::book_on_audit_row(std::string const& stage, std::string text, std::string const& status,
                                  CommitRows& rows) {
  MessageId const id{mint_uuid()};
  auto const charge = book(id, rows);
  rows.messages.push_back(audit_row(id, stage, std::move(text), status, charge));
}

void RunLedger::add_booked(std::vector<Usage> const& usage) {
  for (auto const& of_model : usage)
    add_by_model(booked_, of_model);
}

}  // namespace runnel::runtime
