// The part of Executor that ends a run with calls of the client's tools open (AGUI-6).
#include <utility>

#include "runnel/runtime/execution/executor.h"

namespace runnel::runtime {

// The calls of a run without an answer are booked on a row that nobody sees (USE-8).
Commit Executor::make_leave(ClientCallsLeft left) {
  Commit commit;
  if (ledger_.has_unbooked()) ledger_.book_on_audit_row(stage_->name, "", "client_tools", commit.rows);
  commit.facts.emplace_back(StepFinished{stage_->name});
  RunFinished finished{ledger_.booked(), progress_.all_turns(), progress_.all_calls(),
                       progress_.all_rejections(), writer_->order().alias()};
  finished.pending_calls = std::move(left.calls);
  commit.facts.emplace_back(std::move(finished));
  return commit;
}

boost::asio::awaitable<Result<store::Ended>> Executor::leave_to_client(ClientCallsLeft left) {
  auto canceled = make_cancel({}, ledger_);
  auto commit = make_leave(std::move(left));
  co_return co_await writer_->end(std::move(commit), RunEnd{store::RunStatus::completed},
                                  std::move(canceled));
}

}  // namespace runnel::runtime
