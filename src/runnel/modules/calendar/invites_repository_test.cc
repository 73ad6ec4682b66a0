#include <optional>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

UserId const kEve{"eve"};

class InviteRows : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }

  static Event event_of(std::string id, Span span) {
    Event event;
    event.id = std::move(id);
    event.title = "Tea";
    event.span = span;
    event.timezone = "UTC";
    return event;
  }
  Result<SqlResult> write(SqlStatement statement) {
    return run_async(store().write_one(std::move(statement)));
  }
  void add(std::string id, Span span, UserId const& owner = kAnn) {
    ASSERT_TRUE(write(add_event(owner, event_of(std::move(id), span), kNow)));
  }
  void share(std::string const& event, UserId const& guest, UserId const& owner = kAnn) {
    ASSERT_TRUE(write(add_invite(owner, event, {event + "-" + guest.text, guest.text, ""}, kNow)));
  }
  void answer(std::string const& invite, UserId const& guest, char const* status) {
    ASSERT_TRUE(write(answer_invite(guest, invite, status, kNow + 1)));
  }
  static std::vector<std::string> ids(std::vector<Event> const& events) {
    std::vector<std::string> out;
    for (auto const& event : events)
      out.push_back(event.id);
    return out;
  }
  std::vector<std::string> overlapping(UserId const& user, Span span, std::size_t limit = 100) {
    return ids(run_async(Repository{store()}.overlapping(user, Window{span, span}, limit)).value());
  }
  std::vector<std::string> invites(UserId const& user, std::string status) {
    return ids(run_async(Repository{store()}.invites(user, std::move(status), 100)).value());
  }
  // Gives the user so many invitations that are pending, without the module.
  void fill_invitations(UserId const& guest, int count) {
    auto const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                         std::to_string(count) + ") SELECT 'full' || i, ";
    sql("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, "
        "updated_at) " +
        numbers + "'eve', 'x', 1, 2, 'UTC', 1, 1 FROM n");
    sql("INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, created_at, "
        "updated_at) " +
        numbers + "'full' || i, 'eve', '" + guest.text + "', 'pending', 1, 2, 1, 1 FROM n");
  }
  std::string stored(UserId const& owner) {
    return cell("SELECT coalesce((SELECT bytes FROM storage_totals WHERE owner_id = '" + owner.text +
                "'), -1)");
  }
};

using Ids = std::vector<std::string>;
constexpr Span kLunch{kNow, kNow + kHourMs};

TEST_P(InviteRows, TOOL_12_ShortLongAndInvitedEventsAreOneListInOrder) {
  add("short", {kNow + 2, kNow + kHourMs});
  add("long", {kNow - 300 * kDayMs, kNow + kHourMs});
  add("invited", {kNow + 1, kNow + 2}, kBob);
  share("invited", kAnn, kBob);
  add("not-shared", kLunch, kBob);
  add("day-long", {kNow - kDayMs + 1, kNow + 1});

  EXPECT_EQ(overlapping(kAnn, kLunch), (Ids{"long", "day-long", "invited", "short"}));
  EXPECT_EQ(overlapping(kAnn, kLunch, 3), (Ids{"long", "day-long", "invited"}));
  EXPECT_EQ(overlapping(kAnn, {kNow + 2, kNow + 3}), (Ids{"long", "short"}));
}

TEST_P(InviteRows, TOOL_12_PendingInvitationsCanBeLeftOut) {
  for (int i = 0; i < 3; ++i) {
    auto const id = "e" + std::to_string(i);
    add(id, kLunch, kBob);
    share(id, kAnn, kBob);
  }
  answer("e2-ann", kAnn, "accepted");
  add("own", {kNow + 1, kNow + 2});
  auto const found = run_async(Repository{store()}.overlapping(kAnn, {kLunch, {}}, 2, {Pending::left_out}));

  EXPECT_EQ(ids(found.value()), (Ids{"e2", "own"}));
}

TEST_P(InviteRows, TOOL_12_AllDayEventIsComparedWithDates) {
  auto holiday = event_of("holiday", {10 * kDayMs, 12 * kDayMs});
  holiday.all_day = true;
  ASSERT_TRUE(write(add_event(kAnn, holiday, kNow)));
  auto const found = [&](Span time, Span dates) {
    return ids(run_async(Repository{store()}.overlapping(kAnn, {time, dates}, 9)).value());
  };

  Span const before{9 * kDayMs, 10 * kDayMs};
  Span const within{11 * kDayMs, 12 * kDayMs};
  EXPECT_EQ(found(before, within), Ids{"holiday"});
  EXPECT_EQ(found(within, before), Ids{});
  EXPECT_EQ(found(within, {}), Ids{});
  EXPECT_TRUE(run_async(Repository{store()}.find(kAnn, "holiday")).value()->all_day);
}

TEST_P(InviteRows, TOOL_12_AnswersAreKept) {
  add("e1", kLunch);
  share("e1", kBob);
  EXPECT_EQ(invites(kBob, "pending"), Ids{"e1"});

  answer("e1-bob", kBob, "accepted");

  EXPECT_EQ(invites(kBob, "pending"), Ids{});
  EXPECT_EQ(invites(kBob, "accepted"), Ids{"e1"});
  EXPECT_EQ(overlapping(kBob, kLunch), Ids{"e1"});
  answer("e1-bob", kBob, "rejected");
  EXPECT_EQ(overlapping(kBob, kLunch), Ids{});
  EXPECT_FALSE(run_async(Repository{store()}.find(kBob, "e1")).value().has_value());
  auto const invited = run_async(Repository{store()}.find_invite(kBob, "e1-bob")).value();
  EXPECT_EQ(invited.value().invite_status, "rejected");
  EXPECT_EQ(refusal(write(answer_invite(kEve, "e1-bob", "accepted", kNow))), Errc::conflict);
}

TEST_P(InviteRows, TOOL_12_WhoIsInvitedTwiceOrByAnotherIsRefused) {
  add("e1", kLunch);
  share("e1", kBob);

  EXPECT_EQ(refusal(write(add_invite(kAnn, "e1", {"x", "bob", ""}, kNow))), Errc::conflict);
  EXPECT_EQ(refusal(write(add_invite(kBob, "e1", {"x", "eve", ""}, kNow))), Errc::conflict);
  EXPECT_EQ(refusal(write(add_invite(kAnn, "gone", {"x", "eve", ""}, kNow))), Errc::conflict);
  EXPECT_EQ(refusal(write(add_invite(kAnn, "e1", {"x", "ann", ""}, kNow))), Errc::invalid);
  EXPECT_EQ(refusal(write(invite_again(kAnn, "e1-bob", kNow))), Errc::conflict);
  answer("e1-bob", kBob, "rejected");
  EXPECT_EQ(refusal(write(invite_again(kEve, "e1-bob", kNow))), Errc::conflict);
  EXPECT_TRUE(write(invite_again(kAnn, "e1-bob", kNow)));
}

TEST_P(InviteRows, HTTP_9_NobodyGetsMoreThan1000InvitationsThatArePending) {
  add("e1", kLunch);
  share("e1", kBob);
  answer("e1-bob", kBob, "rejected");
  add("e2", kLunch);
  fill_invitations(kBob, 1000);

  EXPECT_EQ(refusal(write(add_invite(kAnn, "e2", {"x", "bob", ""}, kNow))), Errc::conflict);
  EXPECT_EQ(refusal(write(invite_again(kAnn, "e1-bob", kNow))), Errc::conflict);
  share("e2", kEve);

  answer("full7", kBob, "rejected");
  share("e2", kBob);
  EXPECT_EQ(refusal(write(invite_again(kAnn, "e1-bob", kNow))), Errc::conflict);
  answer("full8", kBob, "accepted");
  EXPECT_TRUE(write(invite_again(kAnn, "e1-bob", kNow)));
}

TEST_P(InviteRows, HTTP_9_CopiesOfInvitationsAreNotTooManyEither) {
  add("evt_1", kLunch);
  share("evt_1", kBob);
  share("evt_1", kEve);
  answer("evt_1-eve", kEve, "accepted");
  add("evt_2", kLunch);
  add("evt_3", kLunch);
  fill_invitations(kBob, 998);

  ASSERT_TRUE(write(copy_guests(kAnn, "evt_1", "evt_2", kNow)));
  ASSERT_TRUE(write(copy_guests(kAnn, "evt_1", "evt_3", kNow)));

  EXPECT_EQ(sql("SELECT event_id, user_id FROM calendar_invites WHERE event_id IN ('evt_2', 'evt_3') "
                "ORDER BY event_id, user_id"),
            (TextRows{{"evt_2", "bob"}, {"evt_2", "eve"}, {"evt_3", "eve"}}));
}

TEST_P(InviteRows, TOOL_12_EventHasAtMost200GuestsAlsoIfTheyAreInvitedAtOnce) {
  add("e1", kLunch);
  sql("INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, created_at, "
      "updated_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 199) "
      "SELECT 'i' || i, 'e1', 'ann', 'guest' || i, 'rejected', 1, 2, 1, 1 FROM n");
  share("e1", kBob);

  EXPECT_EQ(refusal(write(add_invite(kAnn, "e1", {"x", "eve", ""}, kNow))), Errc::conflict);
}

TEST_P(InviteRows, TOOL_12_RejectedAndLongInvitationsAreKnownByTheirStatus) {
  for (auto const* const id : {"long-pending", "long-accepted", "long-rejected"}) {
    add(id, {kNow - 300 * kDayMs, kNow + 1}, kBob);
    share(id, kAnn, kBob);
  }
  add("over", {kNow - 300 * kDayMs, kNow}, kBob);
  share("over", kAnn, kBob);
  answer("long-accepted-ann", kAnn, "accepted");
  answer("long-rejected-ann", kAnn, "rejected");

  EXPECT_EQ(overlapping(kAnn, kLunch), (Ids{"long-accepted", "long-pending"}));
  auto const accepted =
      run_async(Repository{store()}.overlapping(kAnn, {kLunch, {}}, 9, {Pending::left_out})).value();
  EXPECT_EQ(ids(accepted), Ids{"long-accepted"});
}

TEST_P(InviteRows, TOOL_12_InvitationsFollowTheirEvent) {
  add("e1", kLunch);
  share("e1", kBob);
  auto event = run_async(Repository{store()}.find(kAnn, "e1")).value().value();
  event.span = {kNow + 10 * kDayMs, kNow + 12 * kDayMs};

  ASSERT_TRUE(write(replace_event(kAnn, event, kNow)));

  EXPECT_EQ(overlapping(kBob, kLunch), Ids{});
  EXPECT_EQ(overlapping(kBob, {kNow + 11 * kDayMs, kNow + 11 * kDayMs + 1}), Ids{"e1"});
  EXPECT_EQ(refusal(write(replace_event(kAnn, event, kNow))), Errc::conflict) << "its revision has passed";
  EXPECT_EQ(refusal(write(replace_event(kBob, event, kNow))), Errc::conflict);

  EXPECT_EQ(refusal(write(remove_event(kBob, "e1"))), Errc::conflict);
  ASSERT_TRUE(write(remove_event(kAnn, "e1")));
  EXPECT_EQ(cell("SELECT count(*) FROM calendar_invites"), "0");
}

TEST_P(InviteRows, HTTP_9_InvitationsCountInTheStorageOfWhoShares) {
  add("e1", kLunch);
  auto const event = std::stoll(stored(kAnn));

  share("e1", kBob);
  share("e1", kEve);
  EXPECT_EQ(stored(kAnn), std::to_string(event + 600));
  EXPECT_EQ(stored(kBob), "-1");

  ASSERT_TRUE(write(remove_event(kAnn, "e1")));
  EXPECT_EQ(stored(kAnn), "0");
}

TEST_P(InviteRows, DB_2_OnlyPossibleDetailsAreHeld) {
  auto event = event_of("e1", kLunch);
  event.all_day = true;
  EXPECT_EQ(refusal(write(add_event(kAnn, event, kNow))), Errc::invalid) << "no midnights";
  event.all_day = false;
  event.reminders = std::string(65, '1');
  EXPECT_EQ(refusal(write(add_event(kAnn, event, kNow))), Errc::invalid);
  add("e1", kLunch);
  EXPECT_EQ(refusal(write(answer_invite(kBob, "e1-bob", "accepted", kNow))), Errc::conflict);
  share("e1", kBob);
  EXPECT_EQ(refusal(write(answer_invite(kBob, "e1-bob", "maybe", kNow))), Errc::invalid);
}

TEST_P(InviteRows, HTTP_9_WhoHasNoRoomForInvitationsIsFound) {
  fill_invitations(kBob, 1000);
  add("e1", kLunch);
  share("e1", kEve);
  auto const full = [&](Ids users) {
    return run_async(Repository{store()}.full_guests(std::move(users))).value();
  };

  EXPECT_EQ(full({"eve", "bob", "nobody"}), Ids{"bob"});
  answer("full1", kBob, "accepted");
  EXPECT_EQ(full({"bob"}), Ids{});
}

INSTANTIATE_TEST_SUITE_P(Engines, InviteRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::calendar
