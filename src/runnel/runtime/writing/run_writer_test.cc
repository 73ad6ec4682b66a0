#include "runnel/runtime/writing/run_writer.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <deque>
#include <future>

#include "runnel/core/fact/fact_json.h"
#include "runnel/runtime/testing/test_store.h"
#include "runnel/runtime/writing/message_rows.h"
#include "tests/support/run_async.h"

namespace runnel::runtime {
namespace {

namespace asio = boost::asio;

// A frame is the number of its fact, followed by a space.
void encode(Wire /*wire*/, RunNames const& /*names*/, Record const& record, std::string& out) {
  out += std::to_string(record.position.n) + " ";
}

class Recorder final : public stream::Subscriber {
 public:
  void on_frames(stream::SharedFrames frames) override { seen += frames->bytes; }
  void on_close(stream::CloseReason reason) override {
    seen += reason == stream::CloseReason::ended ? "ended" : "reconnect ";
  }
  std::string seen;
};

constexpr Epoch kEpoch = 1000;

class RunWriterTest : public testing::Test {
 protected:
  template <class Work>
  auto on_core(Work work) {
    std::packaged_task<decltype(work())()> task{std::move(work)};
    auto done = task.get_future();
    asio::post(cores.at(0), [&task] { task(); });
    return done.get();
  }

  RunWriterTest() {
    cores.start();
    on_core([this] { channel->begin_epoch(kEpoch, 0); });
    attach();
  }
  ~RunWriterTest() override {
    on_core([this] { cancel->request(base::CancelReason::shutdown); });
    store.let_go();
    tasks.join();
    cores.stop();
  }

  void attach() {
    stream::Channel::Attach request{{}, Wire{}, 0, reader};
    run_async_on(cores.at(0), channel->attach(std::move(request)));
  }

  std::shared_ptr<RunWriter> make_writer(std::chrono::milliseconds flush = std::chrono::hours{1},
                                         std::size_t max_unwritten = 1 << 20) {
    return std::make_shared<RunWriter>(store, clock, tasks, channel, cancel,
                                       RunWriter::Start{RunKey{7}, LogTail{kEpoch, 0, 0, FactOrder{}}},
                                       RunWriter::Options{flush, flush, {}, max_unwritten});
  }

  std::future<Result<void>> commit(std::shared_ptr<RunWriter> writer, std::vector<Fact> facts) {
    return asio::co_spawn(cores.at(0), writer->commit({std::move(facts), {}}), asio::use_future);
  }
  std::future<Result<store::Ended>> end(std::shared_ptr<RunWriter> writer, std::vector<Fact> facts) {
    return asio::co_spawn(cores.at(0),
                          writer->end({std::move(facts), {}}, RunEnd{store::RunStatus::completed}),
                          asio::use_future);
  }
  std::future<Result<store::Ended>> end_either(std::shared_ptr<RunWriter> writer) {
    Commit canceled;
    canceled.facts = {TextEnded{MessageId{"m"}, "chat", "a", TextOutcome::canceled}, StepFinished{"chat"},
                      RunCanceled{}};
    canceled.rows.messages.push_back(audit_row(MessageId{"audit"}, "chat", "", "canceled"));
    return asio::co_spawn(
        cores.at(0),
        writer->end({closing(), {}}, RunEnd{store::RunStatus::completed}, std::optional{std::move(canceled)}),
        asio::use_future);
  }
  std::future<void> wait_for_room(std::shared_ptr<RunWriter> writer) {
    return asio::co_spawn(cores.at(0), writer->wait_for_room(), asio::use_future);
  }
  static bool is_ready(std::future<void> const& done, std::chrono::milliseconds within) {
    return done.wait_for(within) == std::future_status::ready;
  }
  std::string seen() {
    return on_core([this] { return reader->seen; });
  }

  static std::vector<Fact> opening() {
    return {RunStarted{}, StepStarted{"chat"}, TextStarted{MessageId{"m"}, "chat"}};
  }
  static std::vector<Fact> delta(std::string text) {
    return {TextDelta{MessageId{"m"}, std::move(text), 1, 0}};
  }
  static std::vector<Fact> closing() {
    AnswerCompleted answer;
    answer.message = MessageId{"m"};
    return {answer, StepFinished{"chat"}, RunFinished{}};
  }

  base::Cores cores{1};
  base::SystemClock clock;
  base::TaskGroup tasks;
  TestStore store;
  std::shared_ptr<base::Cancel> cancel = std::make_shared<base::Cancel>();
  std::shared_ptr<stream::Channel> channel =
      std::make_shared<stream::Channel>(cores, 0, RunNames{}, stream::Encoding{&encode, 1}, 64);
  std::shared_ptr<Recorder> reader = std::make_shared<Recorder>();
};

TEST_F(RunWriterTest, SSE_7_FactIsShownAfterItsCommitOnly) {
  auto const writer = make_writer();
  store.hold();
  auto done = commit(writer, opening());
  store.wait_for_writes(1);
  EXPECT_EQ(seen(), "");

  store.let_go();

  EXPECT_TRUE(done.get());
  EXPECT_EQ(seen(), "1 2 3 ");
}

TEST_F(RunWriterTest, SSE_7_DeltaIsShownAtOnceAndWrittenBeforeTheNextFact) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();

  on_core([&] { writer->show(delta("a")).value(); });
  EXPECT_EQ(seen(), "1 2 3 4 ");
  EXPECT_EQ(store.appends().size(), 1U);
  end(writer, closing()).get().value();

  ASSERT_EQ(store.ends().size(), 1U);
  auto const facts = store.ends()[0].append.facts;
  EXPECT_EQ(facts.first_n, 4U);
  EXPECT_EQ(facts.last_n, 7U);
  EXPECT_EQ(parse_log_body(facts.body, kEpoch)->size(), 4U);
  EXPECT_EQ(seen(), "1 2 3 4 5 6 7 ended");
}

TEST_F(RunWriterTest, SSE_7_DeltasBecomeDurableByThemselvesAfterTheInterval) {
  auto const writer = make_writer(std::chrono::milliseconds{1});
  commit(writer, opening()).get().value();

  on_core([&] { writer->show(delta("a")).value(); });
  store.wait_for_writes(2);

  EXPECT_EQ(store.appends()[1].facts.first_n, 4U);
}

TEST_F(RunWriterTest, TerminalIsNeverCarriedOffByABackgroundWrite) {
  auto const writer = make_writer(std::chrono::milliseconds{1});
  commit(writer, opening()).get().value();
  store.hold();
  on_core([&] { writer->show(delta("a")).value(); });
  store.wait_for_writes(2);
  on_core([&] { writer->show(delta("b")).value(); });

  auto done = end(writer, closing());
  store.let_go();

  EXPECT_TRUE(done.get());
  // "b" (number 5) may be written in the background or with the end; the answer and what follows are written
  // with the end only.
  ASSERT_EQ(store.ends().size(), 1U);
  auto const last = store.ends()[0].append.facts;
  EXPECT_EQ(last.last_n, 8U);
  EXPECT_LE(last.first_n, 6U);
  EXPECT_EQ(store.appends().back().facts.last_n + 1, last.first_n);
  EXPECT_EQ(seen(), "1 2 3 4 5 6 7 8 ended");
}

TEST_F(RunWriterTest, DB_3_WhileTheStoreRefusesReadersGoAndNothingIsShown) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();
  store.fail_next(Errc::unavailable, 2);

  auto done = end(writer, closing());

  EXPECT_TRUE(done.get());
  EXPECT_EQ(store.ends().size(), 3U);
  EXPECT_EQ(store.ends()[0].append.facts.body, store.ends()[2].append.facts.body);
  EXPECT_EQ(seen(), "1 2 3 reconnect ");
}

TEST_F(RunWriterTest, DB_3_ReadersAreCutOnceHoweverOftenTheStoreRefuses) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();
  store.fail_next(Errc::unavailable, 4);

  auto done = end(writer, closing());
  store.wait_for_writes(3);  // The first try was refused.
  auto const first = std::exchange(reader, std::make_shared<Recorder>());
  run_async_on(cores.at(0), channel->attach({{kEpoch, 3}, Wire{}, 0, reader}));
  EXPECT_TRUE(done.get());

  EXPECT_EQ(on_core([&] { return first->seen; }), "1 2 3 reconnect ");
  EXPECT_EQ(seen(), "4 5 6 ended");
}

TEST_F(RunWriterTest, RUN_4_BothEndingsAreGivenAndThatWhichTheStoreChoseIsShown) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();
  on_core([&] { writer->show(delta("a")).value(); });
  store.accept_cancel();

  EXPECT_TRUE(end_either(writer).get().value().canceled);

  auto const request = store.ends().at(0);
  auto const completed = parse_log_body(request.append.facts.body, kEpoch).value();
  auto const canceled = parse_log_body(request.if_canceled->append.facts.body, kEpoch).value();
  EXPECT_EQ(completed.at(0), canceled.at(0)) << "the pending delta is in both";
  EXPECT_EQ(fact_name(completed.at(3).fact), "run_finished");
  EXPECT_EQ(fact_name(canceled.at(3).fact), "run_canceled");
  EXPECT_EQ(request.if_canceled->append.messages.size(), 1U);
  EXPECT_TRUE(request.append.messages.empty());
  EXPECT_EQ(writer->end_written()->status, store::RunStatus::canceled);
  EXPECT_EQ(writer->end_written()->error_code, "RUN_CANCELED");
  EXPECT_EQ(seen(), "1 2 3 4 5 6 7 ended");
}

TEST_F(RunWriterTest, RUN_4_WithoutACancelTheRunEndsAsItsWriterSays) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();

  EXPECT_FALSE(end_either(writer).get().value().canceled);

  EXPECT_EQ(writer->end_written()->status, store::RunStatus::completed);
}

TEST_F(RunWriterTest, DB_3_RowsThatNoFactTellsOfAreRefusedNotForgotten) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();
  Commit without_facts;
  without_facts.rows.messages.push_back(audit_row(MessageId{"audit"}, "chat", "", "success"));

  auto const done = run_async_on(cores.at(0), writer->commit(without_facts));

  EXPECT_EQ(done.error().code, Errc::internal);
  EXPECT_TRUE(writer->has_failed());
}

TEST_F(RunWriterTest, DB_3_WhatIsUnwrittenIsBounded) {
  auto const writer = make_writer(std::chrono::hours{1}, 1000);
  commit(writer, opening()).get().value();
  EXPECT_TRUE(on_core([&] { return writer->has_room(); }));
  on_core([&] { writer->show(delta(std::string(1000, 'x'))).value(); });
  EXPECT_FALSE(on_core([&] { return writer->has_room(); }));
  store.hold();
  auto room = wait_for_room(writer);
  auto written = commit(writer, {UsageRecorded{}});
  store.wait_for_writes(2);
  EXPECT_FALSE(is_ready(room, std::chrono::milliseconds{20}));

  store.let_go();

  room.get();
  EXPECT_TRUE(written.get());
  EXPECT_TRUE(on_core([&] { return writer->has_room(); }));
}

TEST_F(RunWriterTest, HTTP_9_ManyDeltasAreWrittenBeforeTheirTimeSoThatNoRowIsHuge) {
  auto const writer = make_writer(std::chrono::hours{1});
  commit(writer, opening()).get().value();

  for (int i = 0; i < 2; ++i)
    on_core([&] { writer->show(delta(std::string(40'000, 'x'))).value(); });

  store.wait_for_writes(2);  // Long before the interval of an hour is over.
  EXPECT_EQ(store.appends().back().facts.last_n, 5U);
}

TEST_F(RunWriterTest, DB_3_WhileTheStoreRefusesThereIsNoRoomUntilTheRunIsAskedToStop) {
  auto const writer = make_writer(std::chrono::milliseconds{1});
  commit(writer, opening()).get().value();
  store.fail_next(Errc::unavailable, 1000);
  on_core([&] { writer->show(delta("a")).value(); });
  store.wait_for_writes(3);
  auto room = wait_for_room(writer);
  EXPECT_FALSE(is_ready(room, std::chrono::milliseconds{20}));

  on_core([this] { cancel->request(base::CancelReason::user); });

  room.get();
  EXPECT_FALSE(on_core([&] { return writer->has_room(); }));
}

TEST_F(RunWriterTest, DB_3_ShutdownEndsTheWaitForTheStore) {
  auto const writer = make_writer();
  store.fail_next(Errc::unavailable, 1000);
  auto done = commit(writer, opening());
  store.wait_for_writes(1);

  on_core([this] { cancel->request(base::CancelReason::shutdown); });

  EXPECT_EQ(done.get().error().code, Errc::unavailable);
  EXPECT_EQ(seen(), "reconnect ");
}

TEST_F(RunWriterTest, SSE_1_FencedWriterShowsNothingMore) {
  auto const writer = make_writer();
  store.fail_next(Errc::fenced, 1);

  EXPECT_EQ(commit(writer, opening()).get().error().code, Errc::fenced);
  EXPECT_EQ(commit(writer, opening()).get().error().code, Errc::fenced);

  EXPECT_EQ(store.appends().size(), 1U);
  EXPECT_EQ(seen(), "");
}

TEST_F(RunWriterTest, ClosingWritesThePendingDeltasAndStopsTheClock) {
  auto const writer = make_writer(std::chrono::milliseconds{1});
  commit(writer, opening()).get().value();
  on_core([&] { writer->show(delta("a")).value(); });

  run_async_on(cores.at(0), writer->close());

  ASSERT_EQ(store.appends().size(), 2U);
  EXPECT_EQ(store.appends()[1].facts.first_n, 4U);
}

TEST_F(RunWriterTest, OrderThatNoDialectCouldShowIsRefused) {
  auto const writer = make_writer();
  EXPECT_EQ(commit(writer, delta("a")).get().error().code, Errc::internal);
  EXPECT_TRUE(store.appends().empty());
}

TEST_F(RunWriterTest, TASK_3_PolledEventsAreNumberedWithoutGaps) {
  auto const writer = make_writer();
  commit(writer, opening()).get().value();
  end(writer, closing()).get().value();

  auto const first = parse_log_body(store.appends()[0].facts.body, kEpoch).value();
  auto const last = parse_log_body(store.ends()[0].append.facts.body, kEpoch).value();
  EXPECT_EQ(first[0].idx, -1);
  EXPECT_EQ(first[2].idx, 0);
  EXPECT_EQ(store.appends()[0].facts.next_idx, 1);
  EXPECT_EQ(last[0].idx, 1);
  EXPECT_EQ(last[2].idx, 2);
  EXPECT_EQ(store.ends()[0].append.facts.next_idx, 3);
}

}  // namespace
}  // namespace runnel::runtime
