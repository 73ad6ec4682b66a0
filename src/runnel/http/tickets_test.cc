#include "runnel/http/tickets.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "runnel/http/test_clock.h"
#include "runnel/http/test_feed.h"
#include "runnel/store/sqlite_store.h"
#include "runnel/store/sqlite_under_test.h"
#include "runnel/store/store_contract.h"
#include "tests/support/run_async.h"

namespace runnel::http {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;

class TicketsTest : public testing::Test {
 protected:
  TicketsTest() {
    run_async(store->admit(store::admission("r1"))).value();
    run_async(store->admit(store::admission("r2", "t2"))).value();
  }

  std::unique_ptr<store::Store> open() {
    store::SqliteOptions options;
    options.path = folder.file("runnel.db");
    return std::move(store::open_sqlite(std::move(options)).value());
  }

  static TicketOrder order() {
    TicketOrder out;
    out.owner = UserId{"ann"};
    out.thread = ThreadId{"t1"};
    out.run = RunId{"r1"};
    return out;
  }
  MintedTicket mint(TicketOrder wanted = order()) {
    return run_async(tickets.mint(std::move(wanted))).value();
  }

  Result<TicketHolder> open_stream(std::string ticket, std::string thread = "t1", std::string run = "r1") {
    return run_async(
        tickets.open_stream(std::move(ticket), ThreadId{std::move(thread)}, RunId{std::move(run)}));
  }
  bool opens(std::string const& ticket) {
    auto const holder = open_stream(ticket);
    EXPECT_TRUE(holder.has_value() || holder.error().code == Errc::not_found);
    return holder.has_value();
  }
  void renew() { run_async(tickets.renew()).value(); }

  store::TemporaryFolder folder;
  ChosenClock clock{store::kNow};
  std::unique_ptr<store::Store> store = open();
  Tickets tickets{*store, clock};
};

TEST_F(TicketsTest, HTTP_4_TicketOpensTheStreamInItsOwnersName) {
  auto wanted = order();
  wanted.token_expires_at = store::kNow / 1000 + 3600;

  auto const minted = mint(wanted);

  EXPECT_EQ(minted.use_before, store::kNow + kMinute);
  auto const holder = open_stream(minted.ticket).value();
  EXPECT_EQ(holder.owner.text, "ann");
  EXPECT_EQ(holder.token_expires_at, wanted.token_expires_at);
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

  auto const rows = store::sqlite_rows(folder.file("runnel.db"), "SELECT * FROM tickets").value();

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
  auto first = tickets.keep_in_use(hash, std::make_unique<EmptyFeed>());
  auto second = tickets.keep_in_use(hash, std::make_unique<EmptyFeed>());

  first.reset();
  for (int i = 0; i < 30; ++i) {
    clock.now += kMinute;
    renew();
    run_async(store->expire_tickets(clock.now, 100)).value();
  }
  second.reset();
  clock.now += 9 * kMinute;
  renew();
  clock.now += kMinute - 1;

  EXPECT_TRUE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_LateRenewalCountsFromTheStreamsEndNotFromItself) {
  auto const ticket = mint().ticket;
  auto feed = tickets.keep_in_use(open_stream(ticket).value().ticket_hash, std::make_unique<EmptyFeed>());
  clock.now += 5 * kMinute;
  feed.reset();

  clock.now += 3 * kMinute;
  renew();
  clock.now += 7 * kMinute;

  EXPECT_FALSE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_StreamThatACrashCutsKeepsItsTicket) {
  auto const ticket = mint().ticket;
  auto const feed =
      tickets.keep_in_use(open_stream(ticket).value().ticket_hash, std::make_unique<EmptyFeed>());
  clock.now += 60 * kMinute;
  renew();
  clock.now += kMinute;

  auto const next_process = open();
  Tickets other{*next_process, clock};

  EXPECT_TRUE(run_async(other.open_stream(ticket, ThreadId{"t1"}, RunId{"r1"})).has_value());
}

TEST_F(TicketsTest, HTTP_4_TicketEndsWithItsTokenWhateverUsesIt) {
  auto wanted = order();
  wanted.token_expires_at = store::kNow / 1000 + 90;
  auto const ticket = mint(wanted).ticket;
  auto const feed =
      tickets.keep_in_use(open_stream(ticket).value().ticket_hash, std::make_unique<EmptyFeed>());

  clock.now += 89 * kSecond;
  renew();
  EXPECT_TRUE(opens(ticket));
  clock.now += kSecond;
  renew();
  EXPECT_FALSE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_4_TokenThatEndsSoonIsSaidInTheTicketsTime) {
  auto wanted = order();
  wanted.token_expires_at = store::kNow / 1000 + 5;

  EXPECT_EQ(mint(wanted).use_before, store::kNow + 5 * kSecond);
}

TEST_F(TicketsTest, TokenThatNeverEndsSetsNoEnd) {
  auto wanted = order();
  for (auto const expires_at : {std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
    wanted.token_expires_at = expires_at;
    auto const minted = mint(wanted);
    EXPECT_EQ(minted.use_before, store::kNow + kMinute);
    EXPECT_EQ(open_stream(minted.ticket).value().token_expires_at, 0);
  }
}

TEST_F(TicketsTest, HTTP_4_WhatIsNoTicketForThisRunIsNotFound) {
  auto const ticket = mint().ticket;
  auto socket = order();
  socket.kind = store::TicketKind::websocket;
  socket.thread = {};
  socket.run = {};

  EXPECT_EQ(open_stream(ticket, "t2", "r2").error().code, Errc::not_found);
  EXPECT_EQ(open_stream(ticket, "t1", "").error().code, Errc::not_found);
  EXPECT_FALSE(opens(mint(socket).ticket));
  auto altered = ticket;
  altered.back() = altered.back() == 'A' ? 'B' : 'A';
  for (auto const& wrong : {altered, ticket + "A", ticket.substr(1), std::string{}, std::string{"tkt_"},
                            std::string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl"}}) {
    EXPECT_FALSE(opens(wrong)) << wrong;
  }
  EXPECT_TRUE(opens(ticket));
}

TEST_F(TicketsTest, HTTP_3_RunOfAnotherUserGetsNoTicket) {
  auto wanted = order();
  wanted.owner = UserId{"bob"};

  EXPECT_EQ(run_async(tickets.mint(wanted)).error().code, Errc::not_found);
}

TEST_F(TicketsTest, RenewalRunsUntilTheStopAndTellsTheStoreALastTime) {
  auto const ticket = mint().ticket;
  base::Cores cores{1};
  cores.start();
  tickets.start_renewing(cores);
  auto feed = tickets.keep_in_use(open_stream(ticket).value().ticket_hash, std::make_unique<EmptyFeed>());
  clock.now += 9 * kMinute;
  feed.reset();

  tickets.stop();
  cores.stop();

  clock.now += 9 * kMinute;
  EXPECT_TRUE(opens(ticket));
}

}  // namespace
}  // namespace runnel::http
