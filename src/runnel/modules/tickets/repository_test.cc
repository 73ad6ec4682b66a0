#include "runnel/modules/tickets/repository.h"

#include <limits>
#include <optional>

#include "runnel/modules/tickets/module.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::tickets {
namespace {

using namespace store;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class TicketRows : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }
  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  static Target stream(std::string thread = "t1", std::string run = "r1") {
    return {ThreadId{std::move(thread)}, RunId{std::move(run)}};
  }
  static NewTicket ticket(std::string hash, Target target = stream()) {
    NewTicket out;
    out.hash = std::move(hash);
    out.owner = UserId{"ann"};
    out.target = std::move(target);
    out.expires_at = kNever;
    out.now = kNow;
    return out;
  }
  Repository& rows() {
    if (!rows_) rows_.emplace(store());
    return *rows_;
  }
  void put(NewTicket ticket) { run_async(rows().put(std::move(ticket))).value(); }

  // The owner, or "" if the ticket is refused as one that does not exist.
  std::string use(std::string hash, Target target, std::int64_t now) {
    auto const used = run_async(rows().use(std::move(hash), std::move(target), now));
    if (used) return used->owner.text;
    EXPECT_EQ(used.error().code, Errc::not_found);
    return {};
  }
  std::string use_at(std::int64_t now) { return use("h1", stream(), now); }
  void touch(std::int64_t at) { run_async(rows().touch({{"h1", at}})).value(); }
  std::string stored() { return sql("SELECT count(*) FROM tickets").at(0).at(0); }

  Admission run_;

 private:
  std::optional<Repository> rows_;
};

TEST_P(TicketRows, HTTP_4_SseTicketIsFirstUsedWithinAMinute) {
  put(ticket("h1"));
  EXPECT_EQ(use_at(kNow + 60'000), "");
  EXPECT_EQ(use_at(kNow + 59'999), "ann");
}

TEST_P(TicketRows, HTTP_4_SseTicketIsGoodForTenMinutesAfterEachUse) {
  put(ticket("h1"));

  EXPECT_EQ(use_at(kNow + 1'000), "ann");
  EXPECT_EQ(use_at(kNow + 600'999), "ann");
  EXPECT_EQ(use_at(kNow + 1'200'998), "ann");
  EXPECT_EQ(use_at(kNow + 1'800'998), "");
}

TEST_P(TicketRows, HTTP_4_TenMinutesCountFromTheEndOfAStream) {
  put(ticket("h1"));
  ASSERT_EQ(use_at(kNow), "ann");

  touch(kNow + 3'000'000);

  EXPECT_EQ(use_at(kNow + 3'600'000), "");
  EXPECT_EQ(use_at(kNow + 3'599'999), "ann");
}

TEST_P(TicketRows, HTTP_4_LateTouchOfAnOlderStreamTakesNothingAway) {
  put(ticket("h1"));
  ASSERT_EQ(use_at(kNow + 50'000), "ann");

  touch(kNow + 1'000);

  EXPECT_EQ(use_at(kNow + 649'999), "ann");
}

TEST_P(TicketRows, HTTP_4_TicketEndsWithItsToken) {
  auto made = ticket("h1");
  made.expires_at = kNow + 120'000;
  put(made);

  EXPECT_EQ(use_at(kNow + 30'000), "ann");
  touch(kNow + 60'000);
  EXPECT_EQ(run_async(rows().use("h1", stream(), kNow + 119'999)).value().expires_at, kNow + 120'000);
  touch(kNow + 119'999);
  EXPECT_EQ(use_at(kNow + 120'000), "");
}

TEST_P(TicketRows, HTTP_4_TokenThatEndsWithinTheMinuteEndsTheFirstUse) {
  auto made = ticket("h1");
  made.expires_at = kNow + 5'000;
  put(made);

  EXPECT_EQ(use_at(kNow + 5'000), "");
  EXPECT_EQ(use_at(kNow + 4'999), "ann");
}

TEST_P(TicketRows, HTTP_4_SseTicketOpensItsOwnRunOnlyAndAWrongUseChangesNothing) {
  admit(admission("r2", "t2"));
  admit(admission("r1", "t1", "bob"));
  put(ticket("h1"));
  for (auto const& wrong : {stream("t2", "r2"), stream("t2"), stream("t1", "r2"), stream("t1", ""), Target{}})
    EXPECT_EQ(use("h1", wrong, kNow + 1), "");
  EXPECT_EQ(use("h2", stream(), kNow + 1), "");
  EXPECT_EQ(use("", stream(), kNow + 1), "");

  EXPECT_EQ(use_at(kNow + 60'000), "");
  EXPECT_EQ(use_at(kNow + 59'999), "ann");
}

TEST_P(TicketRows, HTTP_4_TicketOfAThreadOpensTheThreadAndNoRun) {
  admit(admission("r2", "t2"));
  put(ticket("h1", stream("t1", "")));
  put(ticket("h2"));

  EXPECT_EQ(use("h1", stream(), kNow), "");
  EXPECT_EQ(use("h1", stream("t2", ""), kNow), "");
  EXPECT_EQ(use("h2", stream("t1", ""), kNow), "") << "a ticket for a run opens no thread";
  EXPECT_EQ(use("h1", stream("t1", ""), kNow + 59'999), "ann");
  EXPECT_EQ(use("h1", stream("t1", ""), kNow + 659'998), "ann");
  EXPECT_EQ(use("h1", stream("t1", ""), kNow + 1'259'998), "");
  auto foreign = ticket("h3", stream("t1", ""));
  foreign.owner = UserId{"bob"};
  EXPECT_EQ(refusal(run_async(rows().put(foreign))), Errc::not_found);
}

TEST_P(TicketRows, AGUI_4_ARunIsAlsoNamedByItsAliases) {
  sql("INSERT INTO run_aliases VALUES ('ann', 'next', " + std::to_string(run_.run.value) + ", 'c1', 1, 2)");
  put(ticket("h1", stream("t1", "next")));
  put(ticket("h2"));

  EXPECT_EQ(use("h1", stream("t1", "next"), kNow + 1), "ann");
  EXPECT_EQ(use("h1", stream(), kNow + 1), "ann");
  EXPECT_EQ(use("h2", stream("t1", "next"), kNow + 1), "ann");
  EXPECT_EQ(use("h2", stream("t2", "next"), kNow + 1), "");
  EXPECT_EQ(refusal(run_async(rows().put(ticket("h3", stream("t2", "next"))))), Errc::not_found);
  auto foreign = ticket("h3", stream("t1", "next"));
  foreign.owner = UserId{"bob"};
  EXPECT_EQ(refusal(run_async(rows().put(foreign))), Errc::not_found);
}

TEST_P(TicketRows, HTTP_4_WebSocketTicketIsUsedOnceWithinAMinute) {
  put(ticket("h1", Target{}));

  EXPECT_EQ(use_at(kNow), "") << "it opens no stream";
  EXPECT_EQ(use("h1", Target{}, kNow + 60'000), "");
  EXPECT_EQ(use("h1", Target{}, kNow + 59'999), "ann");
  EXPECT_EQ(use("h1", Target{}, kNow + 59'999), "");
}

TEST_P(TicketRows, HTTP_4_OfManyUsesAtOnceOneGetsTheWebSocket) {
  put(ticket("h1", Target{}));
  std::vector<Async<Holder>> work;
  for (int i = 0; i < 50; ++i) {
    work.push_back(rows().use("h1", Target{}, kNow));
  }

  int opened = 0;
  for (auto const& used : run_all_async(std::move(work))) {
    if (used) ++opened;
  }

  EXPECT_EQ(opened, 1);
}

TEST_P(TicketRows, UnknownTicketIsKnownToBeSo) {
  put(ticket("h1"));

  EXPECT_EQ(run_async(rows().owner_of("h1")).value(), UserId{"ann"});
  EXPECT_EQ(run_async(rows().owner_of("h2")).value(), std::nullopt);
}

TEST_P(TicketRows, HTTP_4_ManyStreamsAtOnceShareATicket) {
  put(ticket("h1"));
  std::vector<Async<Holder>> work;
  for (int i = 0; i < 50; ++i) {
    work.push_back(rows().use("h1", stream(), kNow));
  }

  for (auto const& used : run_all_async(std::move(work))) {
    EXPECT_TRUE(used.has_value());
  }
}

TEST_P(TicketRows, HTTP_3_NobodyGetsATicketForAnothersRun) {
  auto foreign = ticket("h1");
  foreign.owner = UserId{"bob"};
  auto missing = ticket("h1");
  missing.target.run = RunId{"r9"};
  auto elsewhere = ticket("h1");
  elsewhere.target.thread = ThreadId{"t9"};

  for (auto const& wrong : {foreign, missing, elsewhere}) {
    EXPECT_EQ(refusal(run_async(rows().put(wrong))), Errc::not_found);
  }

  EXPECT_EQ(stored(), "0");
}

TEST_P(TicketRows, TicketThatNoEngineCanHoldIsRefused) {
  auto nul = ticket("h1");
  nul.target.run.text = std::string{"a\0b", 3};
  auto nobodys = ticket("h1");
  nobodys.owner = UserId{};

  EXPECT_EQ(refusal(run_async(rows().put(nul))), Errc::invalid);
  EXPECT_EQ(refusal(run_async(rows().put(nobodys))), Errc::invalid);
  EXPECT_EQ(refusal(run_async(rows().put(ticket("")))), Errc::invalid);
}

TEST_P(TicketRows, RepeatedPutChangesNothing) {
  put(ticket("h1"));
  auto later = ticket("h1");
  later.now = kNow + 50'000;
  put(later);

  EXPECT_EQ(use_at(kNow + 60'000), "");
}

TEST_P(TicketRows, TicketsThatCanNoLongerBeUsedAreSweptAway) {
  put(ticket("h1"));
  put(ticket("unused"));
  put(ticket("socket", Target{}));
  ASSERT_EQ(use_at(kNow + 30'000), "ann");

  EXPECT_EQ(run_async(rows().expire(kNow + 59'999, 10)).value(), 0u);
  EXPECT_EQ(run_async(rows().expire(kNow + 60'000, 1)).value(), 1u);
  EXPECT_EQ(run_async(rows().expire(kNow + 60'000, 10)).value(), 1u);
  EXPECT_EQ(sql("SELECT hash FROM tickets"), (TextRows{{"h1"}}));
  EXPECT_EQ(run_async(rows().expire(kNow + 630'000, 10)).value(), 1u);
}

TEST_P(TicketRows, TouchOfATicketThatIsGoneIsPassedOver) {
  put(ticket("h1"));
  EXPECT_TRUE(run_async(rows().touch({{"gone", kNow}, {"h1", kNow + 10'000}})).has_value());
  EXPECT_TRUE(run_async(rows().touch({})).has_value());

  EXPECT_EQ(stored(), "1");
  EXPECT_EQ(use_at(kNow + 609'999), "ann");
}

TEST_P(TicketRows, RUN_5_TicketOfADeletedThreadOpensNothingByAnyName) {
  put(ticket("h1"));
  put(ticket("of_thread", stream("t1", "")));
  end(run_.run, run_.epoch, batch(3, 3));
  ASSERT_EQ(run_async(store().delete_thread(UserId{"ann"}, ThreadId{"t1"})).value(), DeleteOutcome::deleted);
  ASSERT_EQ(stored(), "2") << "their rows are still there";
  ThreadId const left{cell("SELECT thread_ref FROM agent_chat_sessions")};

  EXPECT_EQ(use_at(kNow), "");
  EXPECT_EQ(use("h1", stream(left.text), kNow), "");
  EXPECT_EQ(use("of_thread", stream("t1", ""), kNow), "");
  EXPECT_EQ(use("of_thread", stream(left.text, ""), kNow), "");
  auto another = ticket("h2");
  another.target.thread = left;
  EXPECT_EQ(refusal(run_async(rows().put(another))), Errc::not_found);
}

INSTANTIATE_TEST_SUITE_P(Engines, TicketRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::tickets
