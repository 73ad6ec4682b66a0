#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

std::string const kHash(64, 'a');

constexpr char kTakeEffect[] =
    "UPDATE tool_calls SET receipt = $1 "
    "WHERE run_id = $2 AND id = $3 AND epoch = $4 AND status = 'open' AND receipt IS NULL";

ToolCallStart start_of(std::string id) {
  return {ToolCallId{std::move(id)}, "calendar.create", kHash};
}

class StoreToolCalls : public StoreContract {
 protected:
  Admission run_;

  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  AppendRequest request(std::uint64_t n, std::vector<ToolCallStart> starts, std::vector<ToolCallId> ends) {
    auto out = append_request(run_.run, run_.epoch, batch(n, n));
    out.tool_starts = std::move(starts);
    out.tool_ends = std::move(ends);
    return out;
  }
  Result<void> start(std::uint64_t n, std::string id) {
    return run_async(store().append(request(n, {start_of(std::move(id))}, {})));
  }
  Result<void> close(std::uint64_t n, std::string id) {
    return run_async(store().append(request(n, {}, {ToolCallId{std::move(id)}})));
  }
  // What a module does with its effect: one transaction that keeps the receipt.
  Result<std::vector<SqlResult>> take_effect(std::string id, Epoch epoch, std::string receipt = "{}") {
    std::vector<SqlStatement> statements;
    statements.push_back(
        statement(kTakeEffect, std::move(receipt), run_.run.value, std::move(id), epoch).touching(1));
    return run_async(store().write(std::move(statements)));
  }
  TextRows calls() { return sql("SELECT id, status, coalesce(receipt, 'none') FROM tool_calls ORDER BY id"); }
};

TEST_P(StoreToolCalls, RUN_12_CallIsOpenFromItsStartToItsEnd) {
  ASSERT_TRUE(start(3, "c1"));

  EXPECT_EQ(sql("SELECT id, name, args_hash, status FROM tool_calls"),
            (TextRows{{"c1", "calendar.create", kHash, "open"}}));
  EXPECT_EQ(cell("SELECT epoch FROM tool_calls"), std::to_string(run_.epoch));

  ASSERT_TRUE(take_effect("c1", run_.epoch));
  EXPECT_EQ(calls(), (TextRows{{"c1", "open", "{}"}}));
  ASSERT_TRUE(close(4, "c1"));
  EXPECT_EQ(calls(), (TextRows{{"c1", "closed", "none"}}));
}

TEST_P(StoreToolCalls, RUN_12_OnlyAnOpenCallTakesEffect) {
  EXPECT_EQ(refusal(take_effect("c1", run_.epoch)), Errc::conflict);
  ASSERT_TRUE(start(3, "c1"));
  EXPECT_EQ(refusal(take_effect("c1", run_.epoch - 1)), Errc::conflict);
  EXPECT_EQ(refusal(take_effect("c1", run_.epoch + 1)), Errc::conflict);
  ASSERT_TRUE(close(4, "c1"));
  EXPECT_EQ(refusal(take_effect("c1", run_.epoch)), Errc::conflict);
}

TEST_P(StoreToolCalls, RUN_12_CallTakesEffectOnce) {
  ASSERT_TRUE(start(3, "c1"));
  ASSERT_TRUE(take_effect("c1", run_.epoch, "{\"id\":7}"));

  EXPECT_EQ(refusal(take_effect("c1", run_.epoch, "{\"id\":8}")), Errc::conflict);

  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET receipt = '{\"id\":9}'"));
  EXPECT_EQ(calls(), (TextRows{{"c1", "open", "{\"id\":7}"}}));
}

TEST_P(StoreToolCalls, RUN_12_NextWriterTakesOpenCallsOverWithTheirReceipts) {
  ASSERT_TRUE(start(3, "c1"));
  ASSERT_TRUE(start(4, "c2"));
  ASSERT_TRUE(close(5, "c2"));
  ASSERT_TRUE(take_effect("c1", run_.epoch, "{\"id\":7}"));

  auto const claimed = claim(run_.run, kNow + 1);

  EXPECT_EQ(refusal(take_effect("c1", run_.epoch)), Errc::conflict);
  EXPECT_EQ(calls(), (TextRows{{"c1", "open", "{\"id\":7}"}, {"c2", "closed", "none"}}));
  EXPECT_EQ(cell("SELECT epoch FROM tool_calls WHERE id = 'c1'"), std::to_string(claimed.epoch));
  EXPECT_EQ(cell("SELECT epoch FROM tool_calls WHERE id = 'c2'"), std::to_string(run_.epoch));
}

TEST_P(StoreToolCalls, RUN_12_EndOfARunClosesItsCalls) {
  ASSERT_TRUE(start(3, "c1"));
  ASSERT_TRUE(take_effect("c1", run_.epoch));

  end(run_.run, run_.epoch, batch(4, 4), RunStatus::canceled);

  EXPECT_EQ(calls(), (TextRows{{"c1", "closed", "none"}}));
  EXPECT_EQ(refusal(take_effect("c1", run_.epoch)), Errc::conflict);
}

TEST_P(StoreToolCalls, RUN_12_RepeatedAppendChangesNothing) {
  ASSERT_TRUE(start(3, "c1"));
  ASSERT_TRUE(start(3, "c1"));
  ASSERT_TRUE(close(4, "c1"));
  ASSERT_TRUE(close(4, "c1"));

  EXPECT_EQ(calls(), (TextRows{{"c1", "closed", "none"}}));
}

TEST_P(StoreToolCalls, RUN_12_CallStartsAndEndsOnce) {
  ASSERT_TRUE(start(3, "c1"));

  EXPECT_EQ(refusal(start(4, "c1")), Errc::invalid);
  EXPECT_EQ(refusal(close(4, "c2")), Errc::invalid);
  EXPECT_EQ(row(run_.run).last_n, 3U);

  ASSERT_TRUE(close(4, "c1"));
  EXPECT_EQ(refusal(close(5, "c1")), Errc::invalid);
  EXPECT_EQ(refusal(start(5, "c1")), Errc::invalid);
}

TEST_P(StoreToolCalls, RUN_12_CallOfAnotherRunIsNotEnded) {
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(start(3, "c1"));

  auto ends = append_request(other.run, other.epoch, batch(3, 3));
  ends.tool_ends = {ToolCallId{"c1"}};
  EXPECT_EQ(refusal(run_async(store().append(ends))), Errc::invalid);

  auto same_id = append_request(other.run, other.epoch, batch(3, 3));
  same_id.tool_starts = {start_of("c1")};
  EXPECT_TRUE(run_async(store().append(same_id)));
  EXPECT_EQ(calls(), (TextRows{{"c1", "open", "none"}, {"c1", "open", "none"}}));
}

TEST_P(StoreToolCalls, RUN_12_FencedWriterStartsNoCall) {
  claim(run_.run, kNow + 1);

  EXPECT_EQ(refusal(start(3, "c1")), Errc::fenced);
  EXPECT_EQ(calls(), TextRows{});
}

TEST_P(StoreToolCalls, RUN_12_BadRowsAreRefused) {
  std::vector<AppendRequest> bad(6, request(3, {start_of("c1")}, {}));
  bad[0].tool_starts[0].id.text = "";
  bad[1].tool_starts[0].id.text = std::string{"a\0b", 3};
  bad[2].tool_starts[0].name = std::string{"a\0b", 3};
  bad[3].tool_starts[0].args_hash = "short";
  bad[4].tool_starts.push_back(start_of("c1"));
  bad[5].tool_ends = {ToolCallId{"c1"}, ToolCallId{"c1"}};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(refusal(run_async(store().append(bad[i]))), Errc::invalid) << i;
  }

  auto at_end = end_request(run_.run, run_.epoch, batch(3, 3));
  at_end.append.tool_starts = {start_of("c1")};
  EXPECT_EQ(refusal(run_async(store().end(at_end))), Errc::invalid);
  EXPECT_EQ(calls(), TextRows{});
  EXPECT_EQ(row(run_.run).last_n, 2U);
}

TEST_P(StoreToolCalls, DB_2_RulesHoldForEverybodyWhoWrites) {
  ASSERT_TRUE(start(3, "c1"));

  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET args_hash = '" + std::string(64, 'b') + "'"));
  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET name = 'other'"));
  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET status = 'done'"));
  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET status = 'closed'"));
  EXPECT_FALSE(sql_refused("UPDATE tool_calls SET status = 'closed', ended_at = 1"));
  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET status = 'open', ended_at = NULL"));
  EXPECT_TRUE(sql_refused("UPDATE tool_calls SET receipt = '{}'"));
}

TEST_P(StoreToolCalls, SSE_4_CallsAreDeletedWithTheLogAndWithTheThread) {
  for (std::uint64_t n = 3; n < 33; ++n) {
    ASSERT_TRUE(start(n, "c" + std::to_string(n)));
  }
  end(run_.run, run_.epoch, batch(33, 33));
  auto const other = admit(admission("r2", "t2"));
  auto more = append_request(other.run, other.epoch, batch(3, 3));
  more.tool_starts = {start_of("d1")};
  ASSERT_TRUE(run_async(store().append(more)));

  ASSERT_EQ(run_async(store().expire_logs(kNow + 1'000'000, 10)).value(), 1U);
  purge_all();
  EXPECT_EQ(calls(), (TextRows{{"d1", "open", "none"}}));

  end(other.run, other.epoch, batch(4, 4));
  ASSERT_EQ(run_async(store().delete_thread(UserId{"ann"}, ThreadId{"t2"})).value(), DeleteOutcome::deleted);
  purge_all();
  EXPECT_EQ(calls(), TextRows{});
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreToolCalls, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
