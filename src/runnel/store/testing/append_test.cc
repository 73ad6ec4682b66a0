#include "runnel/store/testing/ledger_contract.h"

namespace runnel::store {
namespace {

class StoreAppend : public StoreContract {
 protected:
  Admission run_;

  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  Result<void> append(Epoch epoch, LogBatch facts, std::vector<NewMessage> messages = {}) {
    return run_async(store().append(append_request(run_.run, epoch, std::move(facts), std::move(messages))));
  }
  std::size_t log_rows() { return run_async(store().read_log(run_.run, 0, 1'000'000)).value().size(); }
};

TEST_P(StoreAppend, FactsAndRowsAreThereTogether) {
  ASSERT_TRUE(append(run_.epoch, batch(3, 7, "[3,4,5,6,7]"), {answer("m1")}));

  auto const run = row(run_.run);
  EXPECT_EQ(run.last_n, 7u);
  EXPECT_EQ(run.next_idx, 70);
  auto const log = run_async(store().read_log(run_.run, 2, 1000)).value();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].first_n, 3u);
  EXPECT_EQ(log[0].last_n, 7u);
  EXPECT_EQ(log[0].epoch, run_.epoch);
  EXPECT_EQ(log[0].body, "[3,4,5,6,7]");
  EXPECT_EQ(message_rows(), (std::vector<std::string>{"user:1:3", "assistant:2:3"}));
}

TEST_P(StoreAppend, RUN_12_WriterWithAnOlderEpochIsFencedAndWritesNothing) {
  auto const newer = claim(run_.run, kNow + 5);

  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 3), {answer("m1")})), Errc::fenced);
  EXPECT_EQ(refusal(run_async(store().end(end_request(run_.run, run_.epoch, batch(3, 3))))), Errc::fenced);

  EXPECT_EQ(message_rows().size(), 1u);
  EXPECT_EQ(log_rows(), 1u);
  EXPECT_EQ(status(run_.run), RunStatus::running);
  EXPECT_TRUE(append(newer.epoch, batch(3, 3)));
}

TEST_P(StoreAppend, SSE_1_NumbersMustFollowTheDurableEnd) {
  EXPECT_EQ(refusal(append(run_.epoch, batch(4, 4))), Errc::fenced);
  EXPECT_EQ(refusal(append(run_.epoch, batch(2, 3))), Errc::fenced);
  EXPECT_EQ(refusal(append(run_.epoch, batch(2, 1))), Errc::invalid);

  EXPECT_EQ(log_rows(), 1u);
}

TEST_P(StoreAppend, RepeatOfACommittedAppendSucceedsAndChangesNothing) {
  ASSERT_TRUE(append(run_.epoch, batch(3, 4), {answer("m1")}));
  ASSERT_TRUE(append(run_.epoch, batch(5, 5)));

  EXPECT_TRUE(append(run_.epoch, batch(3, 4), {answer("m1")}));

  EXPECT_EQ(row(run_.run).last_n, 5u);
  EXPECT_EQ(log_rows(), 3u);
  EXPECT_EQ(message_rows().size(), 2u);
}

TEST_P(StoreAppend, OtherFactsUnderTheSameNumbersAreFenced) {
  ASSERT_TRUE(append(run_.epoch, batch(3, 4, "[\"one\"]")));

  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 4, "[\"two\"]"))), Errc::fenced);
  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 3, "[\"one\"]"))), Errc::fenced);
}

TEST_P(StoreAppend, RUN_8_EachLaneCountsWithoutGaps) {
  ASSERT_TRUE(append(run_.epoch, batch(3, 3),
                     {audit("a1"), message("c1", Role::assistant, "tool_call"),
                      message("c2", Role::tool, "tool_result"), audit("a2")}));
  ASSERT_TRUE(append(run_.epoch, batch(4, 4), {answer("m1"), audit("a3")}));

  EXPECT_EQ(message_rows(), (std::vector<std::string>{"user:1:3", "system:-1:0", "assistant:2:3", "tool:3:3",
                                                      "system:-2:0", "assistant:4:3", "system:-3:0"}));
}

TEST_P(StoreAppend, RUN_8_ToolRowsAreNeverInTheAuditLane) {
  auto hidden = message("c1", Role::assistant, "tool_call");
  hidden.lane = Lane::audit;

  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 3), {hidden})), Errc::invalid);
  EXPECT_EQ(log_rows(), 1u);
}

TEST_P(StoreAppend, RUN_8_MetadataMustSayWhatTheRowIs) {
  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 3), {message("m1", Role::assistant, "gossip")})),
            Errc::invalid);
  auto untyped = answer("m2");
  untyped.metadata = "{}";
  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 3), {untyped})), Errc::invalid);
  auto garbled = answer("m3");
  garbled.metadata = "{";
  EXPECT_EQ(refusal(append(run_.epoch, batch(3, 3), {garbled})), Errc::invalid);

  EXPECT_EQ(log_rows(), 1u);
  EXPECT_TRUE(append(run_.epoch, batch(3, 3), {answer("m4")}));
  EXPECT_EQ(message_rows().back(), "assistant:2:3");
}

TEST_P(StoreAppend, MessageIdThatIsTakenIsRefusedWithItsFacts) {
  ASSERT_TRUE(append(run_.epoch, batch(3, 3), {answer("m1")}));

  EXPECT_EQ(refusal(append(run_.epoch, batch(4, 4), {answer("m1")})), Errc::already_exists);

  EXPECT_EQ(row(run_.run).last_n, 3u);
}

TEST_P(StoreAppend, USE_8_EveryRowCarriesItsTokensCostAndCurrency) {
  auto booked = answer("m1");
  booked.input_tokens = 120;
  booked.output_tokens = 45;
  booked.cost = Money{123'456'789'012};

  ASSERT_TRUE(run_async(store().open_call(new_call("c1", run_))));
  auto request = append_request(run_.run, run_.epoch, batch(3, 3), {booked});
  request.call_ends = {call_end("c1", booked.cost)};
  request.bookings = {booking("c1", "m1", booked.cost)};

  ASSERT_TRUE(run_async(store().append(request)));

  EXPECT_EQ(
      sql("SELECT input_tokens, output_tokens, currency FROM agent_chat_messages WHERE message_id = 'm1'"),
      (TextRows{{"120", "45", "CNY"}}));
}

TEST_P(StoreAppend, OneViolatingIntentDoesNotSinkItsNeighbours) {
  auto const other = admit(admission("r2", "t2"));
  auto const third = admit(admission("r3", "t3"));
  std::vector<Async<void>> work;
  work.push_back(store().append(append_request(run_.run, run_.epoch, batch(3, 3), {answer("a")})));
  work.push_back(store().append(
      append_request(other.run, other.epoch, batch(3, 3), {message("b", Role::assistant, "gossip")})));
  work.push_back(store().append(append_request(third.run, third.epoch, batch(3, 3), {answer("c")})));
  work.push_back(store().append(append_request(run_.run, run_.epoch, batch(4, 4), {answer("d")})));

  auto const outcomes = run_all_async(std::move(work));

  EXPECT_TRUE(outcomes[0].has_value());
  EXPECT_EQ(refusal(outcomes[1]), Errc::invalid);
  EXPECT_TRUE(outcomes[2].has_value());
  EXPECT_TRUE(outcomes[3].has_value());
  EXPECT_EQ(row(run_.run).last_n, 4u);
  EXPECT_EQ(row(other.run).last_n, 2u);
  EXPECT_EQ(message_rows("t2"), std::vector<std::string>{"user:1:3"});
  EXPECT_EQ(row(third.run).last_n, 3u);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreAppend, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
