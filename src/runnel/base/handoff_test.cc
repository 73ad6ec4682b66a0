#include "runnel/base/handoff.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "runnel/base/blocking_pool.h"
#include "tests/support/run_async.h"

namespace runnel::base {
namespace {

namespace asio = boost::asio;

TEST(Handoff, WaitersOfOneContextAreResumedTogetherInOrderEachOnItsOwnStrand) {
  asio::io_context context{1};
  std::vector<std::unique_ptr<Waiter>> waiters;
  std::vector<int> resumed;
  for (int i = 0; i < 5; ++i) {
    auto strand = asio::make_strand(context);
    auto wait = wait_for_reply<int>([&waiters, i](std::unique_ptr<Reply<int>> reply) {
      reply->set(i);
      waiters.push_back(std::move(reply));
    });
    asio::co_spawn(strand, std::move(wait), [&resumed, strand](std::exception_ptr, Result<int> value) {
      EXPECT_TRUE(strand.running_in_this_thread());
      resumed.push_back(*value);
    });
  }
  context.poll();
  ASSERT_EQ(waiters.size(), 5u);
  EXPECT_FALSE(context.stopped()) << "waiters are work";

  resume_all(std::move(waiters));
  EXPECT_EQ(context.poll_one(), 1u);

  EXPECT_EQ(resumed, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Handoff, HTTP_9_LongBatchLetsTheCoreDoOtherThings) {
  asio::io_context context{1};
  std::vector<std::unique_ptr<Waiter>> waiters;
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) {
    auto wait = wait_for_reply<int>([&waiters, i](std::unique_ptr<Reply<int>> reply) {
      reply->set(i);
      waiters.push_back(std::move(reply));
    });
    asio::co_spawn(context, std::move(wait), [&order](std::exception_ptr, Result<int> value) {
      order.push_back(std::to_string(*value));
      std::this_thread::sleep_for(std::chrono::milliseconds{3});
    });
  }
  context.poll();

  resume_all(std::move(waiters));
  asio::post(context, [&order] { order.emplace_back("other"); });
  context.run();

  EXPECT_EQ(order, (std::vector<std::string>{"0", "other", "1", "2"}));
}

TEST(Handoff, EachContextResumesItsOwnWaiters) {
  asio::io_context one{1};
  asio::io_context other{1};
  std::vector<std::unique_ptr<Waiter>> waiters;
  std::vector<asio::io_context*> resumed_on;
  for (auto* const context : {&one, &other, &one}) {
    auto wait = wait_for_reply<void>([&waiters](std::unique_ptr<Reply<void>> reply) {
      reply->set({});
      waiters.push_back(std::move(reply));
    });
    asio::co_spawn(*context, std::move(wait), [&resumed_on, context](std::exception_ptr, Result<void>) {
      EXPECT_TRUE(context->get_executor().running_in_this_thread());
      resumed_on.push_back(context);
    });
    context->poll();
  }

  resume_all(std::move(waiters));
  one.run();
  other.run();

  EXPECT_EQ(resumed_on, (std::vector<asio::io_context*>{&one, &one, &other}));
}

TEST(BlockingPool, WorkRunsElsewhereAndItsCallerGetsTheOutcome) {
  BlockingPool pool{2};
  auto const here = std::this_thread::get_id();

  auto const elsewhere = run_async(pool.run<bool>([here](std::size_t thread) -> Result<bool> {
    return thread < 2 && std::this_thread::get_id() != here;
  }));

  EXPECT_TRUE(elsewhere.value());
}

TEST(BlockingPool, WhatWorkThrowsIsAnInternalError) {
  BlockingPool pool{1};

  auto const outcome =
      run_async(pool.run<int>([](std::size_t) -> Result<int> { throw std::runtime_error("no"); }));

  ASSERT_TRUE(outcome.has_error());
  EXPECT_EQ(outcome.error().code, Errc::internal);
}

}  // namespace
}  // namespace runnel::base
