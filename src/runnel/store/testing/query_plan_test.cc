#include "runnel/store/testing/query_plan.h"

#include <gtest/gtest.h>

#include <regex>

#include "runnel/store/postgres/messages.h"
#include "runnel/store/sqlite/reads.h"

namespace runnel::store {
namespace {

class StorePlan : public StoreContract {
 protected:
  // Two threads with 10,000 messages each.
  void fill() {
    for (auto const* const thread : {"t1", "t2"}) {
      admit(admission("run-of-" + std::string{thread}, thread));
      sql("INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, "
          "visibility_mask, input_tokens, output_tokens, cost, currency, created_at) "
          "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 10999) "
          "SELECT r.thread_id, r.id, 'm' || i, i, 'user', 'x', '{\"type\":\"user_input\"}', 3, 0, 0, 0, "
          "'CNY', 1 "
          "FROM n, runs r WHERE r.run_ref = 'run-of-" +
          std::string{thread} + "'");
    }
    sql("ANALYZE");
  }
  std::string plan_of_history() {
    if (GetParam().name == sqlite_engine().name) {
      static auto const kText = std::regex_replace(sqlite::history_query(), std::regex{"\\?"}, "$$");
      return query_plan(GetParam(), store(),
                        statement(kText, std::int64_t{1}, std::int64_t{5000}, std::int64_t{51}));
    }
    auto const text = postgres::history_statement(kAnn, ThreadId{"t1"}, 5000, {}).sql();
    return query_plan(GetParam(), store(),
                      statement(text, kAnn.text, std::string{"t1"}, std::int64_t{5000}, std::int64_t{50},
                                std::int64_t{1'000'000}));
  }
};

TEST_P(StorePlan, RUN_10_PageOfAHistoryIsFoundByAnIndex) {
  fill();

  auto const plan = plan_of_history();

  EXPECT_EQ(plan.find("Seq Scan on agent_chat_messages"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("SCAN m\n"), std::string::npos) << plan;
  EXPECT_TRUE(plan.find("messages_session_seq") != std::string::npos) << plan;
  EXPECT_EQ(plan.find("USE TEMP B-TREE"), std::string::npos) << "it is not sorted\n" << plan;
}

TEST_P(StorePlan, WholeTablesAndWholeIndexesAreSeenInAPlan) {
  fill();

  for (auto const* const text :
       {"SELECT count(*) FROM agent_chat_messages WHERE content LIKE '%x'",
        "SELECT count(*) FROM agent_chat_messages",
        "SELECT session_id, seq FROM agent_chat_messages ORDER BY session_id, seq LIMIT 10"}) {
    auto const plan = query_plan(GetParam(), store(), statement(text));
    EXPECT_EQ(whole_tables(plan).size(), 1U) << plan;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, StorePlan, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
