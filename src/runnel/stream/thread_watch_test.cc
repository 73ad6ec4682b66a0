#include "runnel/stream/thread_watch.h"

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace runnel::stream {
namespace {

class Waiter final : public Subscriber {
 public:
  void on_frames(SharedFrames /*frames*/) override {}
  void on_close(CloseReason /*reason*/) override { ++told; }

  int told = 0;
};

class ThreadWatchTest : public testing::Test {
 protected:
  ThreadWatchTest() { cores.start(); }
  ~ThreadWatchTest() override { cores.stop(); }

  template <class Work>
  void on_core(Work work) {
    std::promise<void> done;
    boost::asio::post(cores.at(1), [&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }
  int told() {
    int count = 0;
    on_core([&] { count = waiter->told; });
    return count;
  }

  base::Cores cores{2};
  ThreadWatches watches{cores};
  std::shared_ptr<Waiter> waiter = std::make_shared<Waiter>();
  std::shared_ptr<ThreadWatch> watch;
};

constexpr ThreadKey kThread{7};

TEST_F(ThreadWatchTest, RUN_15_WhoWaitsIsToldOnce) {
  bool waits = false;
  on_core([&] {
    watch = watches.watch(kThread);
    waits = watch->wait(waiter);
  });
  watches.tell(ThreadKey{8});
  EXPECT_EQ(told(), 0);

  watches.tell(kThread);
  watches.tell(kThread);

  EXPECT_TRUE(waits);
  EXPECT_EQ(told(), 1);
  on_core([&] { watch.reset(); });
}

TEST_F(ThreadWatchTest, RUN_15_RunThatBeginsWhileAReaderLooksIsNotMissed) {
  on_core([&] { watch = watches.watch(kThread); });
  watches.tell(kThread);
  bool waits = true;
  on_core([&] { waits = watch->wait(waiter); });
  EXPECT_FALSE(waits);

  on_core([&] {
    watch->clear();
    waits = watch->wait(waiter);
  });

  EXPECT_TRUE(waits);
  on_core([&] { watch.reset(); });
}

TEST_F(ThreadWatchTest, RUN_15_ReaderThatHasLeftIsForgotten) {
  on_core([&] {
    watch = watches.watch(kThread);
    EXPECT_TRUE(watch->wait(waiter));
    watch.reset();
  });

  watches.tell(kThread);

  EXPECT_EQ(told(), 0);
  EXPECT_EQ(waiter.use_count(), 1);
}

}  // namespace
}  // namespace runnel::stream
