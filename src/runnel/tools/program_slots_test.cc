#include "runnel/tools/program_slots.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace runnel::tools {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

// Calls of users that take a slot and keep it until the test ends them.
class SlotTest : public testing::Test {
 protected:
  struct Call {
    std::shared_ptr<base::Cancel> cancel = std::make_shared<base::Cancel>();
    std::optional<Result<ProgramSlots::Slot>> slot;
  };

  static asio::awaitable<void> take(ProgramSlots* slots, UserId user, std::shared_ptr<Call> call,
                                    std::vector<std::string>* order) {
    call->slot.emplace(co_await slots->take(user, call->cancel));
    if (*call->slot) order->push_back(user.text);
  }
  std::shared_ptr<Call> start(std::string const& user) {
    auto call = std::make_shared<Call>();
    asio::co_spawn(context, take(&slots, UserId{user}, call, &order), asio::detached);
    settle();
    return call;
  }
  void end(std::shared_ptr<Call> const& call) {
    call->slot.reset();
    settle();
  }
  void settle() {
    context.restart();
    context.poll();
  }
  static bool runs(std::shared_ptr<Call> const& call) { return call->slot && call->slot->has_value(); }

  asio::io_context context;
  std::vector<std::string> order;
  ProgramSlots slots{{2, 3}};
};

TEST_F(SlotTest, TOOL_10_UserWithManyCallsWaitsForTheirEnd) {
  auto const first = start("ann");
  auto const second = start("ann");
  auto const third = start("ann");
  auto const other = start("bob");

  EXPECT_TRUE(runs(first) && runs(second) && runs(other));
  EXPECT_FALSE(runs(third));
  end(first);
  EXPECT_TRUE(runs(third));
}

TEST_F(SlotTest, TOOL_10_UsersTakeTurns) {
  auto const first = start("ann");
  auto const second = start("ann");
  auto const third = start("bob");
  std::vector<std::shared_ptr<Call>> waiting;
  for (auto const* const user : {"ann", "ann", "ann", "bob", "cid"})
    waiting.push_back(start(user));
  order.clear();

  end(third);
  end(first);
  end(second);

  EXPECT_THAT(order, ElementsAre("bob", "cid", "ann"));
}

TEST_F(SlotTest, RUN_4_CanceledWaitLeavesNothingBehind) {
  auto const first = start("ann");
  auto const second = start("ann");
  auto const canceled = start("ann");
  auto const last = start("ann");

  canceled->cancel->request(base::CancelReason::user);
  settle();
  ASSERT_TRUE(canceled->slot);
  EXPECT_EQ(canceled->slot->error().code, Errc::canceled);
  EXPECT_FALSE(runs(last));
  end(first);
  EXPECT_TRUE(runs(last));
}

TEST_F(SlotTest, RUN_4_SlotThatArrivesWithTheCancelIsPassedOn) {
  auto const first = start("ann");
  auto const second = start("ann");
  auto const canceled = start("ann");
  auto const last = start("ann");

  first->slot.reset();  // The slot is given to `canceled`, which has not been resumed yet.
  canceled->cancel->request(base::CancelReason::user);
  settle();

  EXPECT_FALSE(runs(canceled));
  EXPECT_TRUE(runs(last));
}

}  // namespace
}  // namespace runnel::tools
