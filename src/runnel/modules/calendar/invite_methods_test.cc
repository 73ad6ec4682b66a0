#include <gtest/gtest.h>

#include "runnel/modules/calendar/methods.h"
#include "runnel/modules/calendar/testing/calendar_under_test.h"

namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr char kShare[] = "calendar.share";
constexpr char kAccept[] = "calendar.accept_invite";
constexpr char kReject[] = "calendar.reject_invite";
constexpr char kNoInvite[] = "NOT_FOUND: the user has no invitation with this invite_id";
constexpr char kNotTheOrganizer[] =
    "NOT_ORGANIZER: only the user who made this event can change, delete or share it; reject_invite removes "
    "it "
    "from this user's calendar";

class CalendarInvite : public CalendarUnderTest {
 protected:
  CalendarInvite() { preferences.timezone = "UTC"; }

  static std::string sharing(std::string const& event, std::vector<std::string> const& users) {
    json::array list;
    for (auto const& user : users)
      list.emplace_back(user);
    return json::serialize(json::object{{"event_id", event}, {"user_ids", list}});
  }
  // Shares the event with one user, and returns the invite_id.
  std::string share(std::string const& event, std::string const& user) {
    auto const shared = done(kShare, sharing(event, {user}));
    return std::string{shared.at("items").at(0).at("invite_id").as_string()};
  }
  static std::string invite(std::string const& invited) { return R"({"invite_id":")" + invited + R"("})"; }
  json::array events(std::string const& input, std::string user) {
    return done("calendar.read", input, std::move(user)).at("items").as_array();
  }
  json::array day(std::string user) {
    return events(R"({"mode":"day","date":"2026-05-01"})", std::move(user));
  }
  json::array invites(std::string user) { return events(R"({"mode":"invites"})", std::move(user)); }

  // Gives the user so many invitations to answer, without the methods.
  void fill_invitations(std::string const& user, int count) {
    std::vector<store::SqlStatement> effect;
    Event event;
    event.title = "x";
    event.timezone = "UTC";
    for (int i = 1; i <= count; ++i) {
      event.id = "full-" + std::to_string(i);
      event.span = {i, i + 1};
      effect.push_back(add_event(UserId{"cy"}, event, kCalledAt));
      effect.push_back(add_invite(UserId{"cy"}, event.id, Guest{event.id, user, ""}, kCalledAt));
    }
    run_async(database.write(std::move(effect))).value();
  }

  std::string id = create("Tea", "2026-05-01T07:00:00Z", "2026-05-01T08:00:00Z");
};

TEST_F(CalendarInvite, TOOL_12_GuestSeesTheEventAndAnswers) {
  auto const invited = share(id, "bob");
  json::object event{{"event_id", id},
                     {"title", "Tea"},
                     {"start_at", "2026-05-01T07:00:00.000Z"},
                     {"end_at", "2026-05-01T08:00:00.000Z"},
                     {"timezone", "Asia/Shanghai"},
                     {"organizer", "ann"},
                     {"invite_id", invited},
                     {"invite_status", "pending"}};

  EXPECT_EQ(invites("bob"), json::array{event});
  EXPECT_EQ(day("bob"), json::array{event});
  EXPECT_FALSE(done("calendar.read", R"({"mode":"day","date":"2026-05-01"})", "bob").contains("more"));

  EXPECT_EQ(done(kAccept, invite(invited), "bob"), (json::object{{"event_id", id},
                                                                 {"outcome", "accepted"},
                                                                 {"title", "Tea"},
                                                                 {"start_at", "2026-05-01T07:00:00.000Z"},
                                                                 {"end_at", "2026-05-01T08:00:00.000Z"}}));
  event["invite_status"] = "accepted";
  EXPECT_EQ(invites("bob"), json::array{});
  EXPECT_EQ(day("bob"), json::array{event});
}

TEST_F(CalendarInvite, TOOL_12_WhoHasRejectedDoesNotSeeTheEvent) {
  auto const invited = share(id, "bob");

  EXPECT_EQ(done(kReject, invite(invited), "bob").at("outcome"), "rejected");

  EXPECT_EQ(invites("bob"), json::array{});
  EXPECT_EQ(day("bob"), json::array{});
  EXPECT_EQ(failure("calendar.read", R"({"mode":"event","event_id":")" + id + R"("})", "bob"), kNoEvent);
  EXPECT_EQ(done(kAccept, invite(invited), "bob").at("outcome"), "accepted") << "an answer can be changed";
  EXPECT_EQ(day("bob").size(), 1U);
}

TEST_F(CalendarInvite, TOOL_12_OrganizerSeesTheGuestsAndTheirAnswers) {
  auto const bob = share(id, "bob");
  auto const eve = share(id, "eve");
  done(kAccept, invite(bob), "bob");
  done(kReject, invite(eve), "eve");
  auto const one = R"({"mode":"event","event_id":")" + id + R"("})";

  EXPECT_EQ(events(one, "ann").at(0).at("guests"),
            (json::array{json::object{{"invite_id", bob}, {"user_id", "bob"}, {"status", "accepted"}},
                         json::object{{"invite_id", eve}, {"user_id", "eve"}, {"status", "rejected"}}}));
  EXPECT_FALSE(events(one, "bob").at(0).as_object().contains("guests"));
}

TEST_F(CalendarInvite, TOOL_12_GuestFollowsTheEvent) {
  done(kAccept, invite(share(id, "bob")), "bob");

  done("calendar.update", R"({"event_id":")" + id + R"(","start_at":"2026-05-03T07:00:00Z","title":"Cake"})");
  EXPECT_EQ(day("bob"), json::array{});
  auto const moved = events(R"({"mode":"day","date":"2026-05-03"})", "bob");
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].at("title"), "Cake");

  done("calendar.delete", R"({"event_id":")" + id + R"("})");
  EXPECT_EQ(events(R"({"mode":"day","date":"2026-05-03"})", "bob"), json::array{});
}

TEST_F(CalendarInvite, TOOL_12_OnlyTheOrganizerChangesAnEvent) {
  auto const invited = share(id, "bob");
  for (auto const answered : {false, true}) {
    if (answered) done(kAccept, invite(invited), "bob");
    EXPECT_EQ(failure("calendar.update", R"({"event_id":")" + id + R"(","title":"Mine"})", "bob"),
              kNotTheOrganizer);
    EXPECT_EQ(failure("calendar.delete", R"({"event_id":")" + id + R"("})", "bob"), kNotTheOrganizer);
    EXPECT_EQ(failure(kShare, sharing(id, {"eve"}), "bob"), kNotTheOrganizer);
  }
  EXPECT_EQ(day("ann").at(0).at("title"), "Tea");
}

TEST_F(CalendarInvite, HTTP_3_AnothersInvitationCannotBeAnswered) {
  auto const invited = share(id, "bob");

  EXPECT_EQ(failure(kAccept, invite(invited), "eve"), kNoInvite);
  EXPECT_EQ(failure(kReject, invite(invited), "ann"), kNoInvite) << "nor can the organizer answer it";
  EXPECT_EQ(failure(kReject, invite("inv_none"), "bob"), kNoInvite);
  EXPECT_EQ(failure(kShare, sharing(id, {"bob"}), "eve"), kNoEvent);
  EXPECT_EQ(day("eve"), json::array{});
  EXPECT_EQ(invites("bob").at(0).at("invite_status"), "pending");
}

TEST_F(CalendarInvite, TOOL_12_SharingAgainChangesNothing) {
  auto const first = share(id, "bob");
  done(kAccept, invite(first), "bob");

  auto const again = std::get<MethodResult>(call(kShare, sharing(id, {"bob", "eve"})));
  auto const items = document(again.data).at("items").as_array();

  EXPECT_EQ(again.effect.size(), 1U);
  EXPECT_EQ(items.at(0),
            (json::object{{"user_id", "bob"}, {"invite_id", first}, {"outcome", "already_invited"}}));
  EXPECT_EQ(items.at(1).at("outcome"), "invited");
  EXPECT_EQ(day("bob").at(0).at("invite_status"), "accepted");
}

TEST_F(CalendarInvite, TOOL_12_WhoHasRejectedIsInvitedAgain) {
  auto const invited = share(id, "bob");
  done(kReject, invite(invited), "bob");

  EXPECT_EQ(share(id, "bob"), invited);

  EXPECT_EQ(invites("bob").size(), 1U);
}

TEST_F(CalendarInvite, TOOL_4_WhomToInviteIsChecked) {
  EXPECT_EQ(failure(kShare, sharing(id, {"bob", "ann"})),
            "INVALID_ACTION_INPUT: user_ids must not have the user's own user_id");
  EXPECT_EQ(fault(kShare, sharing(id, {})), "/user_ids: must not be empty");
  EXPECT_EQ(fault(kShare, sharing(id, {"bob", "bob"})), "/user_ids: must not have two equal items");
  EXPECT_EQ(fault(kShare, sharing(id, {""})), "/user_ids/0: must not be empty");
  EXPECT_EQ(fault(kShare, R"({"event_id":"x","user_ids":"bob"})"), "/user_ids: must be a list");
  EXPECT_EQ(fault(kShare, R"({"user_ids":["bob"]})"), "/event_id: is required");
  EXPECT_EQ(fault(kAccept, "{}"), "/invite_id: is required");
  EXPECT_EQ(fault(kReject, R"({"invite_id":"x","reason":"y"})"), "/reason: is not known; known: invite_id");
}

TEST_F(CalendarInvite, TOOL_12_EventHasAtMost200Guests) {
  for (int part = 0; part < 4; ++part) {
    std::vector<std::string> users;
    for (int i = 0; i < 50; ++i)
      users.push_back("user-" + std::to_string(part * 50 + i));
    done(kShare, sharing(id, users));
  }

  EXPECT_EQ(failure(kShare, sharing(id, {"bob"})), "TOO_MANY_GUESTS: an event has at most 200 guests");
  EXPECT_EQ(done(kShare, sharing(id, {"user-7"})).at("items").at(0).at("outcome"), "already_invited");
}

TEST_F(CalendarInvite, HTTP_9_WhoHas1000InvitationsToAnswerGetsNoMore) {
  auto const rejected = share(id, "bob");
  done(kReject, invite(rejected), "bob");
  fill_invitations("bob", 1000);
  auto const full =
      "NO_MORE_INVITES: nobody was invited, because at the moment no more invitations can be sent to: bob";

  EXPECT_EQ(failure(kShare, sharing(id, {"eve", "bob"})), full) << "nor can bob be invited again";
  auto const other = create("Cake", "2026-05-01T07:00:00Z", "2026-05-01T08:00:00Z");
  EXPECT_EQ(failure(kShare, sharing(other, {"bob"})), full);

  done(kAccept, invite("full-1"), "bob");
  auto const invited = share(other, "bob");
  EXPECT_EQ(done(kShare, sharing(other, {"bob"})).at("items").at(0).at("outcome"), "already_invited");
  EXPECT_EQ(failure(kShare, sharing(id, {"bob"})), full);
}

TEST_F(CalendarInvite, TOOL_12_OnlyAnAcceptedInvitationIsAConflict) {
  auto const invited = share(id, "bob");
  auto const call_at_same_time =
      R"({"title":"Call","start_at":"2026-05-01T07:00:00Z","end_at":"2026-05-01T08:00:00Z"})";

  EXPECT_FALSE(done("calendar.create", call_at_same_time, "bob").contains("conflicts"));
  done(kAccept, invite(invited), "bob");
  auto const created = done("calendar.create", call_at_same_time, "bob");
  EXPECT_EQ(created.at("conflicts").as_array().size(), 2U);
}

TEST_F(CalendarInvite, TOOL_12_TheFirst200InvitationsAreShown) {
  for (int i = 1; i <= 200; ++i)
    share(create("Tea", "2026-05-02T07:00:00Z", "2026-05-02T08:00:00Z"), "bob");
  auto const all = done("calendar.read", R"({"mode":"invites"})", "bob");
  EXPECT_EQ(all.at("count"), 200);
  EXPECT_EQ(all.at("more"), false);

  auto const first = share(id, "bob");

  auto const some = done("calendar.read", R"({"mode":"invites"})", "bob");
  EXPECT_EQ(some.at("count"), 200);
  EXPECT_EQ(some.at("more"), true);
  EXPECT_EQ(some.at("items").at(0).at("invite_id").as_string(), first);
}

TEST_F(CalendarInvite, HTTP_9_AnswersNeedNoStorageAndSharingDoes) {
  auto const invited = share(id, "bob");

  EXPECT_FALSE(std::get<MethodResult>(call(kAccept, invite(invited), "bob")).takes_storage);
  EXPECT_FALSE(std::get<MethodResult>(call(kReject, invite(invited), "bob")).takes_storage);
  EXPECT_TRUE(std::get<MethodResult>(call(kShare, sharing(id, {"eve"}))).takes_storage);
}

}  // namespace
}  // namespace runnel::modules::calendar
