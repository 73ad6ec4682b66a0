// The part of the service that lets a run go on because a client's next run answers its interrupt (AGUI-4).
// For AG-UI that is a new run; here it is the same one, and the client's run id becomes an alias of it.
#include <utility>

#include "runnel/runtime/execution/approval.h"
#include "runnel/runtime/lifecycle/service.h"
#include "runnel/runtime/lifecycle/start_refusals.h"

namespace runnel::runtime {

using store::Async;

namespace {

// An interrupt that asks about no call has no question either, and is then not found.
store::ApprovalAnswer answer_in(RunInput const& input, UserId owner, std::int64_t now) {
  store::ApprovalAnswer answer;
  answer.owner = std::move(owner);
  answer.thread = *input.thread;
  answer.call = call_of_interrupt(input.resume->interrupt).value_or(ToolCallId{});
  answer.decision = input.resume->approved ? store::Decision::approved : store::Decision::rejected;
  answer.reason = input.resume->reason;
  answer.alias = input.run.value_or(RunId{});
  answer.now = now;
  return answer;
}

}  // namespace

Async<std::variant<Started, Refusal>> Service::resume(UserId owner, RunInput input) {
  auto const asked = answer_in(input, owner, parts_.clock.now_ms());
  auto outcome = co_await answer(asked);
  if (!outcome) co_return outcome.error();
  using Kind = store::AnswerOutcome::Kind;
  if (outcome->kind == Kind::alias_taken) co_return run_id_conflict();
  bool const stands = outcome->kind == Kind::accepted || outcome->kind == Kind::already_decided;
  if (!stands) co_return co_await refuse_interrupt(std::move(owner), std::move(input));
  if (outcome->decision != asked.decision) co_return already_decided(asked.call, outcome->decision);
  co_return co_await resumed(asked.thread, std::move(*outcome));
}

// The decision was taken now, or the same one before: then the client joins the run.
Async<std::variant<Started, Refusal>> Service::resumed(ThreadId thread, store::AnswerOutcome outcome) {
  Started started;
  started.key = outcome.run;
  started.thread = std::move(thread);
  started.run = std::move(outcome.alias);
  started.created = outcome.kind == store::AnswerOutcome::Kind::accepted;
  if (started.created) co_return started;
  auto const row = co_await parts_.store.run_by_key(started.key);
  if (!row) co_return row.error();
  if (*row) started.status = (*row)->status;
  co_return started;
}

Async<std::variant<Started, Refusal>> Service::refuse_interrupt(UserId owner, RunInput input) {
  auto const found = co_await approvals_->waiting_on(std::move(owner), *input.thread);
  if (!found) co_return found.error();
  std::optional<std::string> waiting;
  if (*found) waiting = interrupt_id((*found)->call);
  co_return unknown_interrupt(input.resume->interrupt, waiting);
}

}  // namespace runnel::runtime
