#include "runnel/http/routes/tasks/live_task.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "runnel/base/cores.h"
#include "tests/support/run_async.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using stream::CloseReason;

stream::SharedFrames one_element(std::string text) {
  stream::Frames frames;
  frames.bytes = std::move(text) + ",\n";
  frames.ends.push_back(static_cast<std::uint32_t>(frames.bytes.size()));
  return stream::share(std::move(frames));
}

// What happened to a feed.
struct Fate {
  bool destroyed = false;
  bool destroyed_in_use = false;
  std::shared_ptr<stream::Subscriber> reader;
};

// Gives one event that is stored, and then goes live. `closes` is what the channel does before that is known.
class FeedOfOne final : public EventFeed {
 public:
  FeedOfOne(Fate& fate, std::optional<CloseReason> closes) : fate_{fate}, closes_{closes} {}
  FeedOfOne(FeedOfOne const&) = delete;
  FeedOfOne& operator=(FeedOfOne const&) = delete;
  ~FeedOfOne() override {
    fate_.destroyed = true;
    fate_.destroyed_in_use = in_use_;
  }

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    if (!std::exchange(said_, true)) co_return FeedStep{FeedStep::Kind::frames, one_element("stored")};
    in_use_ = true;
    fate_.reader = reader;
    reader->on_frames(one_element("live"));
    if (closes_) reader->on_close(*closes_);
    // Whatever the close has posted runs now.
    auto const executor = co_await asio::this_coro::executor;
    for (int i = 0; i < 3; ++i)
      co_await asio::post(executor, asio::use_awaitable);
    if (!fate_.destroyed) in_use_ = false;
    co_return FeedStep{FeedStep::Kind::live, nullptr};
  }
  [[nodiscard]] RunNames const& run() const override { return names_; }
  [[nodiscard]] Wire wire() const override { return Wire{}; }

 private:
  Fate& fate_;
  std::optional<CloseReason> const closes_;
  RunNames const names_{ThreadId{"t1"}, RunId{"r1"}};
  bool said_ = false;
  bool in_use_ = false;
};

class LiveTaskTest : public testing::Test {
 protected:
  LiveTaskTest() { cores_.start(); }
  ~LiveTaskTest() override {
    table->stop();
    settle();
    cores_.stop();
  }

  std::shared_ptr<LiveTask> make(std::optional<CloseReason> closes = std::nullopt) {
    return std::make_shared<LiveTask>(table, "key", std::make_unique<FeedOfOne>(fate, closes), channel, 0,
                                      cores_.at(0).get_executor());
  }
  bool start(std::shared_ptr<LiveTask> const& task) { return run_async_on(cores_.at(0), task->start()); }
  // Returns when the core has done what was posted to it.
  void settle() {
    for (int i = 0; i < 3; ++i)
      run_async_on(cores_.at(0), nothing());
  }
  static asio::awaitable<bool> nothing() { co_return true; }

  base::Cores cores_{1};
  Fate fate;
  std::shared_ptr<stream::Channel> const channel =
      std::make_shared<stream::Channel>(cores_, 0, RunNames{}, stream::Encoding{}, 4);
  std::shared_ptr<LiveTasks> table = std::make_shared<LiveTasks>();
};

TEST_F(LiveTaskTest, TASK_2_PollsGetWhatIsStoredAndThenWhatComes) {
  auto const task = make();
  ASSERT_TRUE(start(task));

  EXPECT_EQ(task->read(0, 100)->elements, "stored,\nlive");
  EXPECT_EQ(task->read(1, 100)->elements, "live");
  EXPECT_EQ(task->read(2, 100)->elements, "");
  EXPECT_EQ(task->read(0, 100)->next_idx, 2);
  EXPECT_EQ(task->read(0, 100)->thread.text, "t1");

  fate.reader->on_frames(one_element("more"));
  EXPECT_EQ(task->read(2, 100)->elements, "more");
}

void encode_element(Wire /*wire*/, RunNames const& /*names*/, Record const& record, std::string& out) {
  out += std::to_string(record.idx) + ",\n";
}

asio::awaitable<bool> one_hop() {
  co_return true;
}

// The channel's core has shown the event, and the task's core is too busy to take it.
TEST(LiveTaskOnAnotherCore, TASK_2_PollHasWhatWasSeenOnAWebSocketBefore) {
  base::Cores cores{2};
  cores.start();
  auto const channel = std::make_shared<stream::Channel>(
      cores, 0, RunNames{}, stream::Encoding{&encode_element, 1, [](Wire) { return true; }}, 4);
  Fate fate;
  auto const task = std::make_shared<LiveTask>(std::weak_ptr<LiveTasks>{}, "key",
                                               std::make_unique<FeedOfOne>(fate, std::nullopt), channel, 0,
                                               cores.at(1).get_executor());
  ASSERT_TRUE(run_async_on(cores.at(1), task->start()));
  stream::Channel::Attach attach{Position{1, 2}, Wire{}, 1, task, true};
  auto const reader = run_async_on(cores.at(0), channel->attach(std::move(attach)));
  ASSERT_NE(reader, 0U);
  std::promise<void> busy;
  asio::post(cores.at(1), [&busy] { busy.get_future().wait(); });
  asio::post(cores.at(0), [&] {
    channel->begin_epoch(1, 2);
    channel->publish({Record{{1, 3}, 2, 0, SystemNote{"x"}}});
    channel->set_durable(3);
  });
  auto const release = std::async(std::launch::async, [&busy] {
    std::this_thread::sleep_for(50ms);
    busy.set_value();
  });

  run_async_on(cores.at(0), task->catch_up());

  EXPECT_EQ(task->read(2, 100)->elements, "2");
  release.wait();
  task->close();
  channel->detach(reader);
  for (auto const core : {0U, 1U, 0U, 1U})
    run_async_on(cores.at(core), one_hop());
  cores.stop();
}

TEST_F(LiveTaskTest, TASK_4_WhatIsOlderThanItsEventsIsInTheStore) {
  auto const task = std::make_shared<LiveTask>(table, "key", std::make_unique<FeedOfOne>(fate, std::nullopt),
                                               channel, 5, cores_.at(0).get_executor());
  ASSERT_TRUE(start(task));

  EXPECT_FALSE(task->read(4, 100).has_value());
  EXPECT_EQ(task->read(5, 100)->elements, "stored,\nlive");
}

TEST_F(LiveTaskTest, HTTP_9_ElementsForWhichThereIsNoRoomAreNotCopied) {
  auto const task = make();
  ASSERT_TRUE(start(task));

  auto const answer = task->read(0, 10);

  EXPECT_EQ(answer->elements, "");
  EXPECT_EQ(answer->bytes, std::string{"stored,\nlive,\n"}.size());
}

TEST_F(LiveTaskTest, TASK_2_TaskThatEndsWhileItIsStartedIsLeftAfterwards) {
  for (auto const reason : {CloseReason::ended, CloseReason::reconnect}) {
    fate = {};
    auto const task = make(reason);

    EXPECT_FALSE(start(task));
    settle();

    EXPECT_TRUE(fate.destroyed);
    EXPECT_FALSE(fate.destroyed_in_use);
    EXPECT_FALSE(task->read(0, 100).has_value());
  }
}

TEST_F(LiveTaskTest, TASK_2_TaskThatEndsIsLeftAndForgotten) {
  auto const task = make();
  ASSERT_TRUE(start(task));
  EXPECT_EQ(table->add("key", task), task);

  asio::post(cores_.at(0), [this] { fate.reader->on_close(CloseReason::ended); });
  settle();

  EXPECT_TRUE(fate.destroyed);
  EXPECT_EQ(table->find("key"), nullptr);
}

TEST_F(LiveTaskTest, TASK_2_WhoWaitsIsToldOfAnEventAndOfTheEnd) {
  auto const task = make();
  ASSERT_TRUE(start(task));
  auto const wait = [&](std::int64_t from) {
    return asio::co_spawn(cores_.at(0), task->wait_for(from, LiveTask::Clock::now() + 20s), asio::use_future);
  };
  wait(1).get();  // That event is there.

  auto event = wait(2);
  settle();
  EXPECT_EQ(event.wait_for(0s), std::future_status::timeout);
  asio::post(cores_.at(0), [this] { fate.reader->on_frames(one_element("more")); });
  EXPECT_EQ(event.wait_for(10s), std::future_status::ready);

  auto end = wait(100);
  table->add("key", task);
  table->stop();
  EXPECT_EQ(end.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(task->read(0, 100).has_value());
}

TEST_F(LiveTaskTest, TASK_2_WhoIsSecondUsesTheTaskOfTheFirst) {
  Fate other;
  auto const first = make();
  ASSERT_TRUE(start(first));
  auto const second =
      std::make_shared<LiveTask>(table, "key", std::make_unique<FeedOfOne>(other, std::nullopt), channel, 0,
                                 cores_.at(0).get_executor());
  ASSERT_TRUE(start(second));

  EXPECT_EQ(table->add("key", first), first);
  EXPECT_EQ(table->add("key", second), first);
  settle();

  EXPECT_TRUE(other.destroyed);
  EXPECT_FALSE(fate.destroyed);
  EXPECT_EQ(table->find("key"), first);
}

TEST_F(LiveTaskTest, TASK_2_ServerThatStopsTakesNoTask) {
  table->stop();
  auto const task = make();
  ASSERT_TRUE(start(task));

  EXPECT_EQ(table->add("key", task), nullptr);
  settle();

  EXPECT_TRUE(fate.destroyed);
}

}  // namespace
}  // namespace runnel::http
