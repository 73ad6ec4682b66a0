#include "runnel/modules/tickets/tickets.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "runnel/modules/testing/module_under_test.h"
#include "runnel/modules/tickets/module.h"
#include "runnel/store/testing/store_contract.h"
#include "tests/support/run_async.h"

namespace runnel::modules::tickets {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;

class TicketsTest : public testing::Test {
 protected:
  TicketsTest() {
    clock.now = store::kNow;
    run_async(under_test.database().admit(store::admission("r1"))).value();
    run_async(under_test.database().admit(store::admission("r2", "t2"))).value();
  }

  Result<Minted> try_mint(std::string user, std::string thread, std::int64_t token_expires_at = 0) {
    return run_async(tickets.mint(UserId{std::move(user)}, Target{ThreadId{std::move(thread)}, RunId{"r1"}},
                                  token_expires_at));
  }
  Minted mint(std::int64_t token_expires_at = 0) { return try_mint("ann", "t1", token_expires_at).value(); }

  Result<api::TicketHolder> open_stream(std::string ticket, std::string thread = "t1",
                                        std::string run = "r1") {
    return run_async(
        tickets.open_stream(std::move(ticket), ThreadId{std::move(thread)}, RunId{std::move(run)}));
  }
  bool opens(std::string const& ticket) {
    auto const holder = open_stream(ticket);
    EXPECT_TRUE(holder.has_value() || holder.error().code == Errc::not_found);
    return holder.has_value();
  }
  void renew() { run_async(tickets.renew()).value(); }

  ModuleUnderTest under_test{define()};
  base::ChosenClock& clock = under_test.clock();
  Tickets& tickets = dynamic_cast<Tickets&>(under_test.module());
};

TEST_F(TicketsTest, HTTP_4_TicketOpensTheStreamInItsOwnersName) {
  auto const token_expires_at = store::kNow / 1000 + 3600;

  auto const minted = mint(token_expires_at);

  EXPECT_EQ(minted.use_before, store::kNow + kMinute);
  auto const holder = open_stream(minted.ticket).value();
  EXPECT_EQ(holder.owner.text, "ann");
  EXPECT_EQ(holder.token_expires_at, token_expires_at);
  EXPECT_EQ(holder.ticket_hash.size(), 64u);
}

TEST_F(TicketsTest, HTTP_4_TicketsAreLongAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i)
    seen.insert(mint().ticket);

  EXPECT_EQ(seen.size(), 100u);
  for (auto const& ticket : seen) {
    EXPECT_EQ(ticket.size(), 47u);
    EXPECT_EQ(ticket.substr(0, 4), "tkt_");
    EXPECT_EQ(ticket.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
  }
}

TEST_F(TicketsTest, HTTP_4_DatabaseDoesNotHoldTheTicket) {
  auto const ticket = mint().ticket;

  auto const rows = store::sqlite_rows(under_test.path(), "SELECT * FROM tickets").value();

  ASSERT_EQ(rows.size(), 1u);
  for (auto const& cell : rows.at(0)) {
    EXPECT_EQ(cell.find(ticket.substr(4)), std::string::npos);
  }
}

TEST_F(TicketsTest, HTTP_4_FirstUseComesWithinAMinute) {
  auto const late = mint().ticket;
  auto const timely = mint().ticket;

  clock.now += kMinute - 1;
  EXPECT_TRUE(opens(timely));
  clock.now += 1;
  EXPECT_FALSE(opens(late));
  EXPECT_TRUE(opens(timely));
}

TEST_F(TicketsTest, HTTP_4_ReaderReconnectsUntilTenMinutesAfterTheLastUse) {
  auto const ticket = mint().ticket;
  ASSERT_TRUE(opens(ticket));

  for (int i = 0; i < 5; ++i) {
    clock.now += 10 * kMinute - 1;
    EXPECT_TRUE(opens(ticket));
  }
  clock.now += 10 * kMinute;
  EXPECT_FALSE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_TenMinutesCountFromTheEndOfTheLastStream) {
  auto const ticket = mint().ticket;
  auto const hash = open_stream(ticket).value().ticket_hash;
  auto first = tickets.keep_in_use(hash);
  auto second = tickets.keep_in_use(hash);

  first.reset();
  for (int i = 0; i < 30; ++i) {
    clock.now += kMinute;
    renew();
    run_async(tickets.expire()).value();
  }
  second.reset();
  clock.now += 9 * kMinute;
  renew();
  clock.now += kMinute - 1;

  EXPECT_TRUE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_LateRenewalCountsFromTheStreamsEndNotFromItself) {
  auto const ticket = mint().ticket;
  auto use = tickets.keep_in_use(open_stream(ticket).value().ticket_hash);
  clock.now += 5 * kMinute;
  use.reset();

  clock.now += 3 * kMinute;
  renew();
  clock.now += 7 * kMinute;

  EXPECT_FALSE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_StreamThatACrashCutsKeepsItsTicket) {
  auto const ticket = mint().ticket;
  auto const use = tickets.keep_in_use(open_stream(ticket).value().ticket_hash);
  clock.now += 60 * kMinute;
  renew();
  clock.now += kMinute;

  auto const next_process = under_test.open();
  Tickets other{{*next_process, clock, under_test.cores()}};

  EXPECT_TRUE(run_async(other.open_stream(ticket, ThreadId{"t1"}, RunId{"r1"})).has_value());
}

TEST_F(TicketsTest, HTTP_4_TicketEndsWithItsTokenWhateverUsesIt) {
  auto const ticket = mint(store::kNow / 1000 + 90).ticket;
  auto const use = tickets.keep_in_use(open_stream(ticket).value().ticket_hash);

  clock.now += 89 * kSecond;
  renew();
  EXPECT_TRUE(opens(ticket));
  clock.now += kSecond;
  renew();
  EXPECT_FALSE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_TokenThatEndsSoonIsSaidInTheTicketsTime) {
  EXPECT_EQ(mint(store::kNow / 1000 + 5).use_before, store::kNow + 5 * kSecond);
}

TEST_F(TicketsTest, TokenThatNeverEndsSetsNoEnd) {
  for (auto const expires_at : {std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
    auto const minted = mint(expires_at);
    EXPECT_EQ(minted.use_before, store::kNow + kMinute);
    EXPECT_EQ(open_stream(minted.ticket).value().token_expires_at, 0);
  }
}

TEST_F(TicketsTest, HTTP_4_WhatIsNoTicketForThisRunIsNotFound) {
  auto const ticket = mint().ticket;
  auto const socket = run_async(tickets.mint(UserId{"ann"}, Target{}, 0)).value().ticket;

  EXPECT_EQ(open_stream(ticket, "t2", "r2").error().code, Errc::not_found);
  EXPECT_EQ(open_stream(ticket, "t1", "").error().code, Errc::not_found);
  EXPECT_FALSE(opens(socket));
  auto altered = ticket;
  altered.back() = altered.back() == 'A' ? 'B' : 'A';
  for (auto const& wrong : {altered, ticket + "A", ticket.substr(1), std::string{}, std::string{"tkt_"},
                            std::string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl"}}) {
    EXPECT_FALSE(opens(wrong)) << wrong;
  }
  EXPECT_TRUE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_3_RunOfAnotherUserGetsNoTicket) {
  EXPECT_EQ(try_mint("bob", "t1").error().code, Errc::not_found);
  EXPECT_EQ(try_mint("ann", "t2").error().code, Errc::not_found);
}

TEST_F(TicketsTest, HTTP_4_TicketsWhoseTimeIsOverAreDeletedHoweverManyThereAre) {
  for (int i = 0; i < 250; ++i)
    mint();
  clock.now += kMinute - 1;
  auto const good = mint().ticket;
  clock.now += 1;

  run_async(tickets.expire()).value();

  EXPECT_EQ(store::sqlite_rows(under_test.path(), "SELECT 1 FROM tickets").value().size(), 1u);
  EXPECT_TRUE(opens(good));
}

TEST_F(TicketsTest, RenewalRunsUntilTheStopAndTellsTheStoreALastTime) {
  auto const ticket = mint().ticket;
  under_test.cores().start();
  tickets.start();
  auto use = tickets.keep_in_use(open_stream(ticket).value().ticket_hash);
  clock.now += 9 * kMinute;
  use.reset();

  tickets.stop();
  under_test.cores().stop();

  clock.now += 9 * kMinute;
  EXPECT_TRUE(opens(ticket));
}

}  // namespace
}  // namespace runnel::modules::tickets
