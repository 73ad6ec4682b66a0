#include <limits>

#include "runnel/store/store_contract.h"

namespace runnel::store {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class StoreTickets : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  static NewTicket ticket(std::string hash, TicketKind kind = TicketKind::sse) {
    NewTicket out;
    out.hash = std::move(hash);
    out.owner = UserId{"ann"};
    out.kind = kind;
    if (kind == TicketKind::sse) out.thread = ThreadId{"t1"};
    if (kind == TicketKind::sse) out.run = RunId{"r1"};
    out.expires_at = kNever;
    out.now = kNow;
    return out;
  }
  void put(NewTicket ticket) { run_async(store().put_ticket(std::move(ticket))).value(); }

  static TicketUse use_of(std::string hash, std::int64_t now, TicketKind kind = TicketKind::sse) {
    TicketUse out;
    out.hash = std::move(hash);
    out.kind = kind;
    out.thread = ThreadId{"t1"};
    out.run = RunId{"r1"};
    out.now = now;
    return out;
  }
  // The owner, or "" where the ticket is refused as one that does not exist.
  std::string use(TicketUse use) {
    auto const used = run_async(store().use_ticket(std::move(use)));
    if (used) return used->owner.text;
    EXPECT_EQ(used.error().code, Errc::not_found);
    return {};
  }
  std::string use_at(std::int64_t now) { return use(use_of("h1", now)); }
  void touch(std::int64_t at) { run_async(store().touch_tickets({{"h1", at}})).value(); }
  std::string stored() { return sql("SELECT count(*) FROM tickets").at(0).at(0); }

  Admission run_;
};

TEST_P(StoreTickets, HTTP_4_SseTicketIsFirstUsedWithinAMinute) {
  put(ticket("h1"));
  EXPECT_EQ(use_at(kNow + 60'000), "");
  EXPECT_EQ(use_at(kNow + 59'999), "ann");
}

TEST_P(StoreTickets, HTTP_4_SseTicketIsGoodForTenMinutesAfterEachUse) {
  put(ticket("h1"));

  EXPECT_EQ(use_at(kNow + 1'000), "ann");
  EXPECT_EQ(use_at(kNow + 600'999), "ann");
  EXPECT_EQ(use_at(kNow + 1'200'998), "ann");
  EXPECT_EQ(use_at(kNow + 1'800'998), "");
}

TEST_P(StoreTickets, HTTP_4_TenMinutesCountFromTheEndOfAStream) {
  put(ticket("h1"));
  ASSERT_EQ(use_at(kNow), "ann");

  touch(kNow + 3'000'000);

  EXPECT_EQ(use_at(kNow + 3'600'000), "");
  EXPECT_EQ(use_at(kNow + 3'599'999), "ann");
}

TEST_P(StoreTickets, HTTP_4_LateTouchOfAnOlderStreamTakesNothingAway) {
  put(ticket("h1"));
  ASSERT_EQ(use_at(kNow + 50'000), "ann");

  touch(kNow + 1'000);

  EXPECT_EQ(use_at(kNow + 649'999), "ann");
}

TEST_P(StoreTickets, HTTP_4_TicketEndsWithItsToken) {
  auto made = ticket("h1");
  made.expires_at = kNow + 120'000;
  put(made);

  EXPECT_EQ(use_at(kNow + 30'000), "ann");
  touch(kNow + 60'000);
  EXPECT_EQ(run_async(store().use_ticket(use_of("h1", kNow + 119'999))).value().expires_at, kNow + 120'000);
  touch(kNow + 119'999);
  EXPECT_EQ(use_at(kNow + 120'000), "");
}

TEST_P(StoreTickets, HTTP_4_TokenThatEndsWithinTheMinuteEndsTheFirstUse) {
  auto made = ticket("h1");
  made.expires_at = kNow + 5'000;
  put(made);

  EXPECT_EQ(use_at(kNow + 5'000), "");
  EXPECT_EQ(use_at(kNow + 4'999), "ann");
}

TEST_P(StoreTickets, HTTP_4_SseTicketOpensItsOwnRunOnlyAndAWrongUseChangesNothing) {
  admit(admission("r2", "t2"));
  admit(admission("r1", "t1", "bob"));
  put(ticket("h1"));
  auto other_run = use_of("h1", kNow + 1);
  other_run.thread = ThreadId{"t2"};
  other_run.run = RunId{"r2"};
  auto other_thread = use_of("h1", kNow + 1);
  other_thread.thread = ThreadId{"t2"};
  auto other_name = use_of("h1", kNow + 1);
  other_name.run = RunId{"r2"};
  auto no_run = use_of("h1", kNow + 1);
  no_run.run = RunId{};

  for (auto const& wrong : {other_run, other_thread, other_name, no_run, use_of("h2", kNow + 1),
                            use_of("", kNow + 1), use_of("h1", kNow + 1, TicketKind::websocket)}) {
    EXPECT_EQ(use(wrong), "");
  }

  EXPECT_EQ(use_at(kNow + 60'000), "");
  EXPECT_EQ(use_at(kNow + 59'999), "ann");
}

TEST_P(StoreTickets, HTTP_4_WebSocketTicketIsUsedOnceWithinAMinute) {
  put(ticket("h1", TicketKind::websocket));

  EXPECT_EQ(use_at(kNow), "") << "it opens no stream";
  EXPECT_EQ(use(use_of("h1", kNow + 60'000, TicketKind::websocket)), "");
  EXPECT_EQ(use(use_of("h1", kNow + 59'999, TicketKind::websocket)), "ann");
  EXPECT_EQ(use(use_of("h1", kNow + 59'999, TicketKind::websocket)), "");
}

TEST_P(StoreTickets, HTTP_4_OfManyUsesAtOnceOneGetsTheWebSocket) {
  put(ticket("h1", TicketKind::websocket));
  std::vector<Async<UsedTicket>> work;
  for (int i = 0; i < 50; ++i) {
    work.push_back(store().use_ticket(use_of("h1", kNow, TicketKind::websocket)));
  }

  int opened = 0;
  for (auto const& used : run_all_async(std::move(work))) {
    if (used) ++opened;
  }

  EXPECT_EQ(opened, 1);
}

TEST_P(StoreTickets, UnknownTicketIsKnownToBeSo) {
  put(ticket("h1"));

  EXPECT_EQ(run_async(store().ticket_owner("h1")).value(), UserId{"ann"});
  EXPECT_EQ(run_async(store().ticket_owner("h2")).value(), std::nullopt);
}

TEST_P(StoreTickets, HTTP_4_ManyStreamsAtOnceShareATicket) {
  put(ticket("h1"));
  std::vector<Async<UsedTicket>> work;
  for (int i = 0; i < 50; ++i) {
    work.push_back(store().use_ticket(use_of("h1", kNow)));
  }

  for (auto const& used : run_all_async(std::move(work))) {
    EXPECT_TRUE(used.has_value());
  }
}

TEST_P(StoreTickets, HTTP_3_NobodyGetsATicketForAnothersRun) {
  auto foreign = ticket("h1");
  foreign.owner = UserId{"bob"};
  auto missing = ticket("h1");
  missing.run = RunId{"r9"};
  auto elsewhere = ticket("h1");
  elsewhere.thread = ThreadId{"t9"};

  for (auto const& wrong : {foreign, missing, elsewhere}) {
    EXPECT_EQ(refusal(run_async(store().put_ticket(wrong))), Errc::not_found);
  }

  EXPECT_EQ(stored(), "0");
}

TEST_P(StoreTickets, TicketThatNoEngineCanHoldIsRefused) {
  auto nul = ticket("h1");
  nul.run.text = std::string{"a\0b", 3};
  auto nobodys = ticket("h1");
  nobodys.owner = UserId{};

  EXPECT_EQ(refusal(run_async(store().put_ticket(nul))), Errc::invalid);
  EXPECT_EQ(refusal(run_async(store().put_ticket(nobodys))), Errc::invalid);
  EXPECT_EQ(refusal(run_async(store().put_ticket(ticket("")))), Errc::invalid);
}

TEST_P(StoreTickets, RepeatedPutChangesNothing) {
  put(ticket("h1"));
  auto later = ticket("h1");
  later.now = kNow + 50'000;
  put(later);

  EXPECT_EQ(use_at(kNow + 60'000), "");
}

TEST_P(StoreTickets, TicketsThatCanNoLongerBeUsedAreSweptAway) {
  put(ticket("h1"));
  put(ticket("unused"));
  put(ticket("socket", TicketKind::websocket));
  ASSERT_EQ(use_at(kNow + 30'000), "ann");

  EXPECT_EQ(run_async(store().expire_tickets(kNow + 59'999, 10)).value(), 0u);
  EXPECT_EQ(run_async(store().expire_tickets(kNow + 60'000, 1)).value(), 1u);
  EXPECT_EQ(run_async(store().expire_tickets(kNow + 60'000, 10)).value(), 1u);
  EXPECT_EQ(sql("SELECT hash FROM tickets"), (SqlRows{{"h1"}}));
  EXPECT_EQ(run_async(store().expire_tickets(kNow + 630'000, 10)).value(), 1u);
}

TEST_P(StoreTickets, TouchOfATicketThatIsGoneIsPassedOver) {
  put(ticket("h1"));
  EXPECT_TRUE(run_async(store().touch_tickets({{"gone", kNow}, {"h1", kNow + 10'000}})).has_value());
  EXPECT_TRUE(run_async(store().touch_tickets({})).has_value());

  EXPECT_EQ(stored(), "1");
  EXPECT_EQ(use_at(kNow + 609'999), "ann");
}

TEST_P(StoreTickets, RUN_5_TicketsGoWithTheirThread) {
  put(ticket("h1"));
  put(ticket("socket", TicketKind::websocket));
  end(run_.run, run_.epoch, batch(3, 3));

  ASSERT_EQ(run_async(store().delete_thread(UserId{"ann"}, ThreadId{"t1"})).value(), DeleteOutcome::deleted);
  purge_all();

  EXPECT_EQ(sql("SELECT hash FROM tickets"), (SqlRows{{"socket"}}));
}

TEST_P(StoreTickets, RUN_5_TicketOfADeletedThreadOpensNothingByAnyName) {
  put(ticket("h1"));
  end(run_.run, run_.epoch, batch(3, 3));
  ASSERT_EQ(run_async(store().delete_thread(UserId{"ann"}, ThreadId{"t1"})).value(), DeleteOutcome::deleted);
  ASSERT_EQ(stored(), "1") << "its row is still there";
  ThreadId const left{cell("SELECT thread_ref FROM agent_chat_sessions")};

  EXPECT_EQ(use_at(kNow), "");
  auto by_what_is_left = use_of("h1", kNow);
  by_what_is_left.thread = left;
  EXPECT_EQ(use(by_what_is_left), "");
  auto another = ticket("h2");
  another.thread = left;
  EXPECT_EQ(refusal(run_async(store().put_ticket(another))), Errc::not_found);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreTickets, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
