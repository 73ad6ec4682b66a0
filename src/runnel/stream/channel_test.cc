#include "runnel/stream/channel.h"

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "runnel/stream/hub.h"
#include "tests/support/run_async.h"

namespace runnel::stream {
namespace {

// One wire shows no deltas, the others show all facts, the last one only those that are durable. A frame is
// "epoch-n ".
constexpr Wire kNoDeltas{0};
constexpr Wire kAll{1};
constexpr Wire kDurable{2};

bool is_durable_only(Wire wire) {
  return wire == kDurable;
}

void encode(Wire wire, RunNames const& /*names*/, Record const& record, std::string& out) {
  if (wire == kNoDeltas && is_delta(record.fact)) return;
  append_position(out, record.position);
  out += ' ';
}

constexpr Encoding kEncoding{&encode, 3, &is_durable_only};

class Recorder final : public Subscriber {
 public:
  void on_frames(SharedFrames frames) override { seen += frames->bytes; }
  void on_close(CloseReason reason) override {
    seen += reason == CloseReason::ended ? "ended" : "reconnect";
    ++closes;
  }

  std::string seen;
  int closes = 0;
};

constexpr Epoch kEpoch = 1000;

Record note(std::uint64_t n, Epoch epoch = kEpoch) {
  return {{epoch, n}, -1, 0, SystemNote{"x"}};
}
Record delta(std::uint64_t n, Epoch epoch = kEpoch) {
  return {{epoch, n}, -1, 0, TextDelta{}};
}
Record paused(std::uint64_t n, Epoch epoch = kEpoch) {
  return {{epoch, n}, -1, 0, RunPaused{}};
}
Record terminal(std::uint64_t n, Epoch epoch = kEpoch) {
  return {{epoch, n}, -1, 0, RunFinished{}};
}

// Two cores; the channel lives on core 0, readers on either.
class ChannelTest : public testing::TestWithParam<std::size_t> {
 protected:
  ChannelTest() { cores.start(); }
  ~ChannelTest() override { cores.stop(); }

  // Runs `work` on the core and waits for it.
  template <class Work>
  void on(std::size_t core, Work work) {
    std::promise<void> done;
    boost::asio::post(cores.at(core), [&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }

  ReaderId attach(std::shared_ptr<Recorder> subscriber, Position after, Wire wire = kNoDeltas,
                  bool wait_for_writer = true, bool until_pause = false) {
    Channel::Attach request{after, wire, GetParam(), std::move(subscriber), wait_for_writer, until_pause};
    return run_async_on(cores.at(GetParam()), channel->attach(std::move(request)));
  }
  ReaderId attach_until_pause(std::shared_ptr<Recorder> subscriber, Position after) {
    return attach(std::move(subscriber), after, kNoDeltas, true, true);
  }

  // What the reader has seen once everything sent so far has reached it.
  std::string seen(std::shared_ptr<Recorder> const& subscriber) {
    on(0, [] {});
    std::string text;
    on(GetParam(), [&] { text = subscriber->seen; });
    return text;
  }

  void publish(std::vector<Record> records) {
    on(0, [&] { channel->publish(std::move(records)); });
  }
  void set_durable(std::uint64_t n) {
    on(0, [&] { channel->set_durable(n); });
  }
  void begin(Epoch epoch, std::uint64_t after_n) {
    on(0, [&] { channel->begin_epoch(epoch, after_n); });
  }

  base::Cores cores{2};
  std::shared_ptr<Channel> channel = std::make_shared<Channel>(cores, 0, RunNames{}, kEncoding, 4);
  std::shared_ptr<Recorder> reader = std::make_shared<Recorder>();
};

TEST_P(ChannelTest, SSE_3_ReaderGetsWhatFollowsItsPlaceThenLive) {
  begin(kEpoch, 0);
  publish({note(1), note(2), note(3)});

  EXPECT_NE(attach(reader, {kEpoch, 1}), 0U);
  publish({note(4)});

  EXPECT_EQ(seen(reader), "1000-2 1000-3 1000-4 ");
}

TEST_P(ChannelTest, SSE_2_TerminalEndsReaders) {
  begin(kEpoch, 0);
  attach(reader, {});

  publish({note(1), terminal(2)});

  EXPECT_EQ(seen(reader), "1000-1 1000-2 ended");
}

TEST_P(ChannelTest, AGUI_4_PauseEndsTheReadersThatHaveNotSeenItBefore) {
  begin(kEpoch, 0);
  attach_until_pause(reader, {});
  publish({note(1), paused(2)});
  auto const late = std::make_shared<Recorder>();
  attach_until_pause(late, {kEpoch, 1});
  auto const behind = std::make_shared<Recorder>();
  attach_until_pause(behind, {kEpoch, 2});
  auto const later = std::make_shared<Recorder>();
  attach_until_pause(later, {kEpoch, 1});

  EXPECT_EQ(seen(reader), "1000-1 1000-2 ended");
  EXPECT_EQ(seen(late), "1000-2 ended");
  EXPECT_EQ(seen(later), "1000-2 ended");
  EXPECT_EQ(seen(behind), "");

  begin(2000, 2);
  publish({note(3, 2000), paused(4, 2000)});
  EXPECT_EQ(seen(behind), "2000-3 2000-4 ended");
}

TEST_P(ChannelTest, ReaderOfAnEndedRunGetsItsRestAndTheEnd) {
  begin(kEpoch, 0);
  publish({note(1), terminal(2)});

  attach(reader, {kEpoch, 1});

  EXPECT_EQ(seen(reader), "1000-2 ended");
}

TEST_P(ChannelTest, WIRE_1_WireThatShowsNothingOfABatchSendsNothing) {
  begin(kEpoch, 0);
  attach(reader, {});
  auto const other = std::make_shared<Recorder>();
  attach(other, {}, kAll);

  publish({delta(1), delta(2)});

  EXPECT_EQ(seen(reader), "");
  EXPECT_EQ(seen(other), "1000-1 1000-2 ");
}

TEST_P(ChannelTest, OldFactsAreForgottenOnlyOnceDurable) {
  begin(kEpoch, 0);
  publish({note(1), note(2), note(3), note(4), note(5), note(6)});
  EXPECT_NE(attach(reader, {}), 0U);

  on(0, [&] { channel->set_durable(6); });

  EXPECT_EQ(attach(std::make_shared<Recorder>(), {kEpoch, 1}), 0U);
  EXPECT_NE(attach(std::make_shared<Recorder>(), {kEpoch, 2}), 0U);
}

TEST_P(ChannelTest, SSE_4_NumberAheadOfTheLogWaitsUntilTheLogReachesIt) {
  begin(kEpoch, 0);
  publish({note(1)});
  EXPECT_NE(attach(reader, {kEpoch, 3}), 0U);

  publish({note(2), note(3)});
  EXPECT_EQ(seen(reader), "");
  publish({note(4)});
  publish({note(5)});

  EXPECT_EQ(seen(reader), "1000-4 1000-5 ");
}

TEST_P(ChannelTest, SSE_4_NumberAheadWithinABatchSkipsOnlyWhatTheReaderHas) {
  begin(kEpoch, 0);
  attach(reader, {kEpoch, 2});

  publish({note(1), note(2), note(3)});

  EXPECT_EQ(seen(reader), "1000-3 ");
}

TEST_P(ChannelTest, SSE_4_WaitingReaderGoesOnWithTheNextEpochWhenItsOwnIsSealed) {
  begin(kEpoch, 0);
  publish({note(1)});
  attach(reader, {kEpoch, 9});

  begin(2000, 1);
  publish({note(2, 2000)});

  EXPECT_EQ(seen(reader), "2000-2 ");
}

TEST_P(ChannelTest, SSE_4_IdBeyondTheEndOfASealedEpochGoesOnWithTheNext) {
  begin(2000, 1);
  publish({note(2, 2000), note(3, 2000)});

  EXPECT_NE(attach(reader, {kEpoch, 7}), 0U);

  EXPECT_EQ(seen(reader), "2000-2 2000-3 ");
}

TEST_P(ChannelTest, ReaderThatFallsBehindATakeoverResumesByWayOfTheStore) {
  attach(reader, {});

  begin(2000, 5);

  EXPECT_EQ(seen(reader), "reconnect");
}

TEST_P(ChannelTest, ReaderBeforeTheWriterWaitsForIt) {
  EXPECT_EQ(attach(reader, {}, kNoDeltas, false), 0U);
  EXPECT_NE(attach(reader, {}), 0U);

  begin(kEpoch, 0);
  publish({note(1)});

  EXPECT_EQ(seen(reader), "1000-1 ");
}

TEST_P(ChannelTest, DB_3_WhileTheStoreRefusesReadersAreCutOnceAndGetNoMore) {
  begin(kEpoch, 0);
  attach(reader, {});

  on(0, [&] { channel->hold(); });
  publish({note(1)});

  EXPECT_EQ(seen(reader), "reconnect");
}

TEST_P(ChannelTest, DB_3_ReaderThatComesWhileTheStoreRefusesGetsNothingThatIsNotDurable) {
  begin(kEpoch, 0);
  publish({note(1), note(2)});
  on(0, [&] { channel->set_durable(2); });
  publish({delta(3)});
  on(0, [&] { channel->hold(); });

  EXPECT_EQ(attach(reader, {kEpoch, 1}, kAll), 0U) << "what is durable comes from the store";
  EXPECT_NE(attach(reader, {kEpoch, 2}, kAll), 0U);
  publish({delta(4)});
  EXPECT_EQ(seen(reader), "");

  on(0, [&] {
    channel->set_durable(4);
    channel->go_on();
  });
  EXPECT_EQ(seen(reader), "1000-3 1000-4 ");
  publish({delta(5)});
  EXPECT_EQ(seen(reader), "1000-3 1000-4 1000-5 ");
}

TEST_P(ChannelTest, DB_3_ReaderThatHadSeenMoreThanIsDurableGoesOnAfterIt) {
  begin(kEpoch, 0);
  publish({note(1), delta(2)});
  on(0, [&] {
    channel->set_durable(1);
    channel->hold();
  });
  EXPECT_NE(attach(reader, {kEpoch, 2}, kAll), 0U);

  publish({delta(3)});
  on(0, [&] { channel->go_on(); });

  EXPECT_EQ(seen(reader), "1000-3 ");
}

TEST_P(ChannelTest, RetiredChannelSendsReadersToTheStore) {
  attach(reader, {});

  on(0, [&] { channel->retire(); });

  EXPECT_EQ(seen(reader), "reconnect");
  EXPECT_EQ(attach(reader, {}), 0U);
}

TEST_P(ChannelTest, DetachedReaderGetsNoMore) {
  begin(kEpoch, 0);
  auto const id = attach(reader, {});
  publish({note(1)});

  channel->detach(id);
  publish({note(2), terminal(3)});

  EXPECT_EQ(seen(reader), "1000-1 ");
}

TEST_P(ChannelTest, HTTP_7_FramesAreCountedForEachReader) {
  base::Metrics metrics;
  channel = std::make_shared<Channel>(cores, 0, RunNames{}, kEncoding, 4, StreamMetrics{metrics});
  begin(kEpoch, 0);
  publish({note(1)});
  attach(reader, {});
  attach(std::make_shared<Recorder>(), {}, kAll);

  publish({delta(2), note(3)});

  // Both readers get the first fact; then the first wire has one frame, and the second has two.
  EXPECT_EQ(seen(reader), "1000-1 1000-3 ");
  EXPECT_NE(metrics.text().find("\nrunnel_stream_frames_total{from=\"live\"} 5\n"), std::string::npos);
}

TEST_P(ChannelTest, TASK_3_DurableReaderSeesAFactWhenItIsDurable) {
  begin(kEpoch, 0);
  attach(reader, {}, kDurable);
  publish({delta(1), delta(2), delta(3)});
  EXPECT_EQ(seen(reader), "");

  set_durable(2);
  EXPECT_EQ(seen(reader), "1000-1 1000-2 ");

  publish({note(4)});
  set_durable(4);
  EXPECT_EQ(seen(reader), "1000-1 1000-2 1000-3 1000-4 ");
}

TEST_P(ChannelTest, TASK_3_DurableReaderThatComesLaterGetsOnlyWhatIsDurable) {
  begin(kEpoch, 0);
  publish({delta(1), delta(2), delta(3)});
  set_durable(2);

  attach(reader, {kEpoch, 1}, kDurable);
  EXPECT_EQ(seen(reader), "1000-2 ");
  set_durable(3);
  EXPECT_EQ(seen(reader), "1000-2 1000-3 ");
}

TEST_P(ChannelTest, TASK_3_DurableReaderAheadOfTheLogWaitsForIt) {
  begin(kEpoch, 0);
  publish({delta(1), delta(2), delta(3)});
  set_durable(1);

  attach(reader, {kEpoch, 2}, kDurable);
  EXPECT_EQ(seen(reader), "");
  set_durable(3);
  EXPECT_EQ(seen(reader), "1000-3 ");
}

TEST_P(ChannelTest, TASK_3_DurableReaderGetsTheTerminalFactBeforeItIsClosed) {
  begin(kEpoch, 0);
  auto const visible = std::make_shared<Recorder>();
  attach(reader, {}, kDurable);
  attach(visible, {}, kAll);

  publish({note(1), terminal(2)});
  EXPECT_EQ(seen(visible), "1000-1 1000-2 ended");
  EXPECT_EQ(seen(reader), "");

  set_durable(2);
  EXPECT_EQ(seen(reader), "1000-1 1000-2 ended");
  EXPECT_EQ(reader->closes, 1);
  EXPECT_EQ(visible->closes, 1);
}

TEST_P(ChannelTest, TASK_3_NothingThatADurableReaderNeedsIsForgotten) {
  begin(kEpoch, 0);
  attach(reader, {}, kDurable);

  // More than the four records that are kept.
  publish({note(1), note(2), note(3), note(4), note(5), note(6), note(7)});
  set_durable(7);

  EXPECT_EQ(seen(reader), "1000-1 1000-2 1000-3 1000-4 1000-5 1000-6 1000-7 ");
}

TEST_P(ChannelTest, TASK_3_WriterLearnsWhetherSomebodyWaitsForDurableFacts) {
  auto const has = [this] {
    bool found = false;
    on(0, [&] { found = channel->has_durable_readers(); });
    return found;
  };
  begin(kEpoch, 0);
  attach(std::make_shared<Recorder>(), {}, kAll);
  EXPECT_FALSE(has());

  auto const id = attach(reader, {}, kDurable);
  EXPECT_TRUE(has());
  channel->detach(id);
  EXPECT_FALSE(has());
}

TEST_P(ChannelTest, TASK_3_DurableReadersReconnectWhileTheStoreRefuses) {
  begin(kEpoch, 0);
  attach(reader, {}, kDurable);
  publish({delta(1)});

  on(0, [&] { channel->hold(); });
  EXPECT_EQ(seen(reader), "reconnect");
  auto const next = std::make_shared<Recorder>();
  attach(next, {}, kDurable);
  set_durable(1);
  on(0, [&] { channel->go_on(); });
  EXPECT_EQ(seen(next), "1000-1 ");
}

INSTANTIATE_TEST_SUITE_P(Cores, ChannelTest, testing::Values(0, 1));

TEST(HubTest, SameRunSameChannelAsLongAsSomeoneHoldsIt) {
  base::Cores cores{2};
  Hub hub{cores, kEncoding, 4};
  auto channel = hub.open(RunKey{1}, {});
  EXPECT_EQ(hub.open(RunKey{1}, {}), channel);
  EXPECT_NE(hub.open(RunKey{2}, {}), channel);

  std::weak_ptr<Channel> const old = channel;
  channel.reset();

  EXPECT_TRUE(old.expired());
  EXPECT_NE(hub.open(RunKey{1}, {}), nullptr);
}

TEST(HubTest, RunLivesOnTheCoreThatStartsItUnlessThatHasMoreThanItsShare) {
  base::Cores cores{2};
  Hub hub{cores, kEncoding, 4};
  std::vector<std::shared_ptr<Channel>> channels;
  std::promise<void> opened;
  boost::asio::post(cores.at(1), [&] {
    for (std::int64_t run = 1; run <= 40; ++run)
      channels.push_back(hub.open(RunKey{run}, {}));
    opened.set_value();
  });
  cores.start();
  opened.get_future().wait();
  cores.stop();

  auto const on_core_1 = std::count_if(channels.begin(), channels.end(),
                                       [](auto const& channel) { return channel->core() == 1; });
  EXPECT_EQ(channels.front()->core(), 1U);
  EXPECT_EQ(on_core_1, 24);
}

}  // namespace
}  // namespace runnel::stream
