#include "runnel/tools/program_slots.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
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

asio::awaitable<void> take_and_hold(ProgramSlots* slots, std::string user,
                                    std::vector<std::unique_ptr<Result<ProgramSlots::Slot>>>* held) {
  auto slot = co_await slots->take(UserId{user}, std::make_shared<base::Cancel>());
  held->push_back(std::make_unique<Result<ProgramSlots::Slot>>(std::move(slot)));
}

// Takes a slot again and again, and sometimes gives up while it waits.
asio::awaitable<void> take_often(ProgramSlots* slots, int seed, std::atomic<int>* running,
                                 std::atomic<int>* most) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  std::mt19937 random{static_cast<unsigned>(seed)};
  for (int i = 0; i < 300; ++i) {
    auto const cancel = std::make_shared<base::Cancel>();
    if (random() % 4 == 0) {
      timer.expires_after(std::chrono::microseconds{random() % 200});
      timer.async_wait([cancel](boost::system::error_code) { cancel->request(base::CancelReason::user); });
    }
    auto const slot = co_await slots->take(UserId{"user-" + std::to_string(seed % 3)}, cancel);
    if (!slot) continue;
    auto const now = ++*running;
    for (int seen = *most; seen < now && !most->compare_exchange_weak(seen, now);) {
    }
    asio::steady_timer work{co_await asio::this_coro::executor, std::chrono::microseconds{random() % 50}};
    co_await work.async_wait(asio::use_awaitable);
    --*running;
  }
}

TEST(ProgramSlotsOnTwoCores, TOOL_10_NoSlotIsLostOrGivenTwice) {
  ProgramSlots slots{{2, 3}};
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::array<asio::io_context, 2> cores;
  for (int i = 0; i < 12; ++i) {
    asio::co_spawn(cores.at(static_cast<std::size_t>(i % 2)), take_often(&slots, i, &running, &most),
                   asio::detached);
  }
  std::thread other{[&cores] { cores[1].run(); }};
  cores[0].run();
  other.join();

  EXPECT_EQ(most, 3);
  std::vector<std::unique_ptr<Result<ProgramSlots::Slot>>> held;
  for (auto const* const user : {"a", "a", "b"}) {
    asio::co_spawn(cores[0], take_and_hold(&slots, user, &held), asio::detached);
  }
  cores[0].restart();
  cores[0].poll();
  EXPECT_EQ(held.size(), 3U);
}

}  // namespace
}  // namespace runnel::tools
