#include "runnel/store/testing/store_contract.h"

// What the database itself refuses (DB-2), whoever writes to it.
namespace runnel::store {
namespace {

class StoreSchema : public StoreContract {
 protected:
  Admission run_;

  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  std::string insert_message(std::string const& seq, std::string const& role, std::string const& type,
                             std::string const& currency) {
    return "INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, "
           "visibility_mask, input_tokens, output_tokens, cost, currency, created_at) VALUES (" +
           std::to_string(run_.thread.value) + ", " + std::to_string(run_.run.value) + ", 'raw', " + seq +
           ", '" + role + "', 'text', '{\"type\":\"" + type + "\"}', 3, 0, 0, 0, " + currency + ", 1)";
  }
};

TEST_P(StoreSchema, DB_2_MessageMustCarryTheCurrencyOfItsThread) {
  EXPECT_TRUE(sql_refused(insert_message("2", "assistant", "assistant_output", "'USD'")));
  EXPECT_TRUE(sql_refused(insert_message("2", "assistant", "assistant_output", "NULL")));
  EXPECT_FALSE(sql_refused(insert_message("2", "assistant", "assistant_output", "'CNY'")));
  EXPECT_TRUE(sql_refused("UPDATE agent_chat_messages SET currency = 'USD'"));
  EXPECT_TRUE(sql_refused("UPDATE agent_chat_messages SET currency = NULL"));
}

TEST_P(StoreSchema, DB_2_WrongCurrencyIsNamedWithTheRightOne) {
  auto const error = sql_error(insert_message("2", "assistant", "assistant_output", "'USD'"));
  EXPECT_NE(error.find("does not match session currency CNY"), std::string::npos) << error;
  if (GetParam().name != "Postgres") return;
  EXPECT_NE(error.find("message currency USD"), std::string::npos) << error;
  EXPECT_EQ(
      cell("SELECT tgfoid::regproc::text FROM pg_trigger WHERE tgname = 'trg_message_currency_match' AND "
           "tgrelid = 'agent_chat_messages'::regclass"),
      "enforce_message_currency_match_session");
}

TEST_P(StoreSchema, RUN_6_ErrorOfAFailedRunIsItsThreadsUntilTheNextOneStarts) {
  auto request = end_request(run_.run, run_.epoch, batch(3, 3), RunStatus::failed);
  request.error_code = "MODEL_ERROR";
  request.error_id = "err-1";
  EXPECT_EQ(thread_column("error_id"), "null");
  ASSERT_TRUE(run_async(store().end(request)));
  EXPECT_EQ(thread_column("error_id"), "err-1");

  auto const second = admit(admission("r2"));
  EXPECT_EQ(thread_column("error_id"), "null");
  admit(admission("r3", OnBusy::enqueue));
  auto again = end_request(second.run, second.epoch, batch(3, 3), RunStatus::failed);
  again.error_id = "err-2";
  auto const promoted = run_async(store().end(again)).value().promoted;
  EXPECT_EQ(thread_column("error_id"), "err-2");
  claim(promoted.value());
  EXPECT_EQ(thread_column("error_id"), "null");
}

TEST_P(StoreSchema, DB_2_CurrencyAndCountryOfAThreadAreFrozen) {
  EXPECT_TRUE(sql_refused("UPDATE agent_chat_sessions SET billing_country_snapshot = 'US'"));
  EXPECT_TRUE(sql_refused("UPDATE agent_chat_sessions SET billing_country_snapshot = NULL"));
  EXPECT_TRUE(sql_refused("UPDATE agent_chat_sessions SET billing_currency = 'USD'"));

  EXPECT_EQ(thread_column("billing_country_snapshot"), "CN");
}

TEST_P(StoreSchema, DB_2_ThreadTakesOnlyKnownStatusesAndCurrencies) {
  EXPECT_TRUE(sql_refused(
      "UPDATE agent_chat_sessions SET status = 'lost', state_snapshot = '{\"status\":\"lost\"}'"));
  EXPECT_TRUE(
      sql_refused("INSERT INTO agent_chat_sessions(owner_id, thread_ref, billing_currency, created_at, "
                  "updated_at) VALUES ('ann', 't9', 'USD', 1, 1)"));
}

TEST_P(StoreSchema, RUN_6_StatusAndItsSnapshotCannotDiffer) {
  EXPECT_TRUE(sql_refused("UPDATE agent_chat_sessions SET status = 'failed'"));
  EXPECT_FALSE(sql_refused(
      "UPDATE agent_chat_sessions SET status = 'failed', state_snapshot = '{\"status\":\"failed\"}'"));
}

TEST_P(StoreSchema, RUN_8_SeqIsUniqueNeverZeroAndPositiveForToolRows) {
  EXPECT_TRUE(sql_refused(insert_message("1", "assistant", "assistant_output", "'CNY'")));
  EXPECT_TRUE(sql_refused(insert_message("0", "assistant", "assistant_output", "'CNY'")));
  EXPECT_TRUE(sql_refused(insert_message("-1", "tool", "tool_result", "'CNY'")));
  EXPECT_TRUE(sql_refused(insert_message("-1", "assistant", "tool_call", "'CNY'")));
  EXPECT_FALSE(sql_refused(insert_message("-1", "system", "stage_audit", "'CNY'")));
}

TEST_P(StoreSchema, RUN_8_RoleAndTypeAreChecked) {
  EXPECT_TRUE(sql_refused(insert_message("2", "oracle", "assistant_output", "'CNY'")));
  EXPECT_TRUE(sql_refused(insert_message("2", "assistant", "rumour", "'CNY'")));
}

TEST_P(StoreSchema, RUN_3_ThreadCannotHaveTwoActiveRuns) {
  auto const queued = admit(admission("r2", OnBusy::enqueue));

  EXPECT_TRUE(sql_refused("UPDATE runs SET status = 'pending', queue_no = NULL WHERE id = " +
                          std::to_string(queued.run.value)));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreSchema, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
