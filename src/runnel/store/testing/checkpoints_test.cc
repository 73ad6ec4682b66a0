#include "runnel/store/testing/ledger_contract.h"

namespace runnel::store {
namespace {

Checkpoint checkpoint(std::int64_t number, std::string body = R"({"text":"done"})") {
  return Checkpoint{number, "worker", "turn", std::move(body)};
}

class StoreCheckpoints : public StoreContract {
 protected:
  Admission run_;

  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  static AppendRequest with(Admission const& run, LogBatch facts, std::vector<Checkpoint> checkpoints) {
    auto request = append_request(run.run, run.epoch, std::move(facts));
    request.checkpoints = std::move(checkpoints);
    return request;
  }
  static EndRequest last(Admission const& run, LogBatch facts, std::vector<Checkpoint> checkpoints) {
    auto request = end_request(run.run, run.epoch, std::move(facts));
    request.append.checkpoints = std::move(checkpoints);
    return request;
  }
  Result<void> append(LogBatch facts, std::vector<Checkpoint> checkpoints) {
    return run_async(store().append(with(run_, std::move(facts), std::move(checkpoints))));
  }
  std::vector<Checkpoint> page(std::int64_t after, std::size_t max_bytes) {
    return run_async(store().checkpoints(run_.run, after, max_bytes)).value();
  }
  std::vector<Checkpoint> written(RunKey run) {
    return run_async(store().checkpoints(run, 0, 1 << 20)).value();
  }
  std::vector<Checkpoint> written() { return written(run_.run); }
};

TEST_P(StoreCheckpoints, RUN_12_CheckpointsComeBackInTheirOrderAsTheyWereWritten) {
  Checkpoint const first{1, "router", "stage", R"({ "b" : 1.50, "a":["\u0000","ü"], "b2":{} })"};
  Checkpoint const second{2, "worker", "turn", "{}"};
  Checkpoint const third{3, "", "tool", R"({"result":{"deep":[[[[[1]]]]]}})"};

  ASSERT_TRUE(append(batch(3, 3), {first}));
  ASSERT_TRUE(append(batch(4, 4), {second, third}));

  EXPECT_EQ(written(), (std::vector<Checkpoint>{first, second, third}));
  EXPECT_EQ(row(run_.run).last_n, 4u);
}

TEST_P(StoreCheckpoints, RUN_12_CheckpointsAreReadInPagesByTheirBytes) {
  auto const body = [](std::size_t size) { return "{\"a\":\"" + std::string(size - 8, 'x') + "\"}"; };
  std::vector<Checkpoint> const all{checkpoint(1, body(100)), checkpoint(2, body(100)),
                                    checkpoint(3, body(5000)), checkpoint(4, body(10))};
  ASSERT_TRUE(append(batch(3, 3), all));

  EXPECT_EQ(page(0, 101), (std::vector<Checkpoint>{all[0], all[1]}));
  EXPECT_EQ(page(0, 100), std::vector<Checkpoint>{all[0]});
  EXPECT_EQ(page(2, 100), std::vector<Checkpoint>{all[2]}) << "at least one, however long";
  EXPECT_EQ(page(2, 0), std::vector<Checkpoint>{all[2]});
  EXPECT_EQ(page(3, 100), std::vector<Checkpoint>{all[3]});
  EXPECT_TRUE(page(4, 100).empty());
}

TEST_P(StoreCheckpoints, RUN_12_RunWithoutCheckpointsHasNone) {
  ASSERT_TRUE(append(batch(3, 3), {}));

  EXPECT_TRUE(written().empty());
}

TEST_P(StoreCheckpoints, RUN_12_EndWritesItsCheckpointsToo) {
  ASSERT_TRUE(append(batch(3, 3), {checkpoint(1)}));

  ASSERT_TRUE(run_async(store().end(last(run_, batch(4, 4), {checkpoint(2)}))));

  EXPECT_EQ(written(), (std::vector<Checkpoint>{checkpoint(1), checkpoint(2)}));
  EXPECT_EQ(status(run_.run), RunStatus::completed);
}

TEST_P(StoreCheckpoints, RUN_12_CheckpointsComeWithMessagesAndCalls) {
  ASSERT_TRUE(run_async(store().open_call(new_call("c1", run_))));
  auto request = with(run_, batch(3, 3), {checkpoint(1)});
  request.messages = {answer("m1")};
  request.messages[0].cost = Money{7};
  request.call_ends = {call_end("c1", Money{7})};
  request.bookings = {booking("c1", "m1", Money{7})};

  ASSERT_TRUE(run_async(store().append(request)));

  EXPECT_EQ(written().size(), 1u);
  EXPECT_EQ(sql("SELECT status, message_id FROM model_calls"), (TextRows{{"completed", "m1"}}));
  EXPECT_EQ(message_rows().size(), 2u);
}

TEST_P(StoreCheckpoints, RUN_12_NumberThatIsNotTheNextIsRefusedWithAllThatCameWithIt) {
  ASSERT_TRUE(append(batch(3, 3), {checkpoint(1)}));
  for (std::int64_t const number : {0, 1, 3}) {
    auto request = with(run_, batch(4, 4), {checkpoint(number)});
    request.messages = {answer("m1")};
    EXPECT_EQ(refusal(run_async(store().append(request))), Errc::invalid) << number;
    EXPECT_EQ(refusal(run_async(store().end(last(run_, batch(4, 4), {checkpoint(number)})))), Errc::invalid)
        << number;
  }

  EXPECT_EQ(written(), std::vector<Checkpoint>{checkpoint(1)});
  EXPECT_EQ(row(run_.run).last_n, 3u);
  EXPECT_EQ(status(run_.run), RunStatus::running);
  EXPECT_EQ(run_async(store().read_log(run_.run, 0, 1000)).value().size(), 2u);
  EXPECT_EQ(message_rows().size(), 1u);
  EXPECT_TRUE(append(batch(4, 4), {checkpoint(2)}));
}

TEST_P(StoreCheckpoints, RUN_12_WhatIsNoCheckpointIsRefused) {
  auto kindless = checkpoint(1);
  kindless.kind = "";
  auto garbled = checkpoint(1);
  garbled.stage = std::string{"a\0b", 3};

  EXPECT_EQ(refusal(append(batch(3, 3), {kindless})), Errc::invalid);
  EXPECT_EQ(refusal(append(batch(3, 3), {garbled})), Errc::invalid);
  for (auto const* const body : {"", " ", "[]", "1", "{", "{} {}", "{'a':1}", "{\"a\":1,}"}) {
    EXPECT_EQ(refusal(append(batch(3, 3), {checkpoint(1, body)})), Errc::invalid) << body;
  }
  EXPECT_EQ(refusal(append(batch(3, 3), {checkpoint(1), checkpoint(3)})), Errc::invalid);
  EXPECT_EQ(refusal(append(batch(3, 3), {checkpoint(2), checkpoint(1)})), Errc::invalid);
  EXPECT_EQ(refusal(append(batch(3, 3), {checkpoint(1), checkpoint(1)})), Errc::invalid);

  EXPECT_TRUE(written().empty());
  EXPECT_EQ(row(run_.run).last_n, 2u);
}

TEST_P(StoreCheckpoints, RUN_12_BodyMayHoldTheDeepestDocumentThatIsLetIn) {
  auto const body = "{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}";

  ASSERT_TRUE(append(batch(3, 3), {checkpoint(1, body)}));

  EXPECT_EQ(written().at(0).body, body);
}

TEST_P(StoreCheckpoints, RUN_12_RepeatOfACommittedAppendOrEndChangesNothing) {
  ASSERT_TRUE(append(batch(3, 3), {checkpoint(1)}));
  ASSERT_TRUE(append(batch(4, 4), {checkpoint(2)}));

  EXPECT_TRUE(append(batch(3, 3), {checkpoint(1)}));
  EXPECT_TRUE(append(batch(4, 4), {checkpoint(2)}));
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_TRUE(run_async(store().end(last(run_, batch(5, 5), {checkpoint(3)}))));
  }

  EXPECT_EQ(written(), (std::vector<Checkpoint>{checkpoint(1), checkpoint(2), checkpoint(3)}));
}

TEST_P(StoreCheckpoints, RUN_12_FencedWriterWritesNoCheckpointAndTheNextOneGoesOn) {
  ASSERT_TRUE(append(batch(3, 3), {checkpoint(1)}));
  auto newer = run_;
  newer.epoch = claim(run_.run, kNow + 5).epoch;

  EXPECT_EQ(refusal(append(batch(4, 4), {checkpoint(2)})), Errc::fenced);
  EXPECT_EQ(refusal(run_async(store().end(last(run_, batch(4, 4), {checkpoint(2)})))), Errc::fenced);
  EXPECT_EQ(written().size(), 1u);

  ASSERT_TRUE(run_async(store().append(with(newer, batch(4, 4), {checkpoint(2, R"({"by":"newer"})")}))));
  EXPECT_EQ(written().at(1).body, R"({"by":"newer"})");
}

TEST_P(StoreCheckpoints, RUN_12_EachRunCountsItsOwn) {
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(append(batch(3, 3), {checkpoint(1), checkpoint(2)}));

  ASSERT_TRUE(run_async(store().append(with(other, batch(3, 3), {checkpoint(1, R"({"of":"r2"})")}))));

  EXPECT_EQ(written().size(), 2u);
  EXPECT_EQ(written(other.run), std::vector<Checkpoint>{checkpoint(1, R"({"of":"r2"})")});
}

TEST_P(StoreCheckpoints, RUN_12_CheckpointsGoWithTheExpiredLog) {
  ASSERT_TRUE(run_async(store().end(last(run_, batch(3, 3), {checkpoint(1)}))));
  auto const active = admit(admission("r2", "t2"));
  ASSERT_TRUE(run_async(store().append(with(active, batch(3, 3), {checkpoint(1)}))));

  EXPECT_EQ(run_async(store().expire_logs(kNow + 21, 10)).value(), 1u);

  EXPECT_TRUE(written().empty());
  EXPECT_EQ(written(active.run).size(), 1u);
}

TEST_P(StoreCheckpoints, RUN_5_CheckpointsGoWithTheDeletedThread) {
  ASSERT_TRUE(run_async(store().end(last(run_, batch(3, 3), {checkpoint(1), checkpoint(2)}))));
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(run_async(store().append(with(other, batch(3, 3), {checkpoint(1)}))));

  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  purge_all();

  EXPECT_TRUE(written().empty());
  EXPECT_EQ(sql("SELECT run_id FROM checkpoints"), (TextRows{{std::to_string(other.run.value)}}));
}

TEST_P(StoreCheckpoints, DB_2_CheckpointIsAnObjectOfAKnownRunWrittenOnce) {
  auto const insert = [](std::string const& run, std::string const& number, std::string const& kind,
                         std::string const& body) {
    return "INSERT INTO checkpoints(run_id, number, stage, kind, body) VALUES (" + run + ", " + number +
           ", 'worker', '" + kind + "', '" + body + "')";
  };
  auto const run = std::to_string(run_.run.value);

  EXPECT_TRUE(sql_refused(insert(run, "1", "turn", "{")));
  EXPECT_TRUE(sql_refused(insert(run, "1", "turn", "[]")));
  EXPECT_TRUE(sql_refused(insert(run, "1", "", "{}")));
  EXPECT_TRUE(sql_refused(insert(run, "0", "turn", "{}")));
  EXPECT_TRUE(sql_refused(insert("999", "1", "turn", "{}")));
  EXPECT_FALSE(sql_refused(insert(run, "1", "turn", "{}")));
  EXPECT_TRUE(sql_refused(insert(run, "1", "turn", "{}")));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreCheckpoints, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
