#include "runnel/model/builtin/offline_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/core/json/write.h"
#include "runnel/model/testing/offline_moment.h"

namespace runnel::model {
namespace {

constexpr char kLunch[] =
    R"({"event_id":"evt_1","title":"Lunch with Wei","start_at":"2026-11-19T04:30:00.000Z",)"
    R"("end_at":"2026-11-19T05:15:00.000Z","timezone":"Asia/Shanghai"})";
constexpr char kReview[] =
    R"({"event_id":"evt_2","title":"项目评审会议","start_at":"2026-11-19T06:00:00.000Z",)"
    R"("end_at":"2026-11-19T07:00:00.000Z","timezone":"Asia/Shanghai"})";
constexpr char kOtherLunch[] =
    R"({"event_id":"evt_3","title":"Lunch with Ann","start_at":"2026-11-20T04:00:00.000Z",)"
    R"("end_at":"2026-11-20T05:00:00.000Z","timezone":"Asia/Shanghai"})";
constexpr char kFair[] = R"({"event_id":"evt_4","title":"Fair","all_day":true,"start_date":"2026-11-20",)"
                         R"("end_date":"2026-11-21","timezone":"Asia/Shanghai"})";
constexpr char kInvite[] =
    R"({"event_id":"evt_5","title":"Lunch","start_at":"2026-11-19T04:00:00.000Z",)"
    R"("end_at":"2026-11-19T05:00:00.000Z","timezone":"Asia/Shanghai","organizer":"ann",)"
    R"("invite_id":"inv_1","invite_status":"pending"})";
constexpr char kStandup[] = R"({"event_id":"evt_6","title":"Standup","start_at":"2026-11-19T01:00:00.000Z",)"
                            R"("end_at":"2026-11-19T01:15:00.000Z","rrule":"FREQ=DAILY",)"
                            R"("occurrence_start":"2026-11-19T01:00:00.000Z","timezone":"Asia/Shanghai"})";

std::string success(std::string const& data) {
  return R"({"status":"success","module":"m","method":"x","data":)" + data + "}";
}

std::string items(std::vector<std::string> const& all) {
  std::string out;
  append_json_array(out, all, [](std::string& into, std::string const& item) { into += item; });
  return success(R"({"items":)" + out + R"(,"count":)" + std::to_string(all.size()) + "}");
}

std::string failure(std::string const& code, std::string const& message = "why") {
  return R"({"status":"failure","error":{"code":")" + code + R"(","message":")" + message + R"("}})";
}

// A stage: each next step is planned from the words and the results so far.
class Stage {
 public:
  explicit Stage(std::string words, Moment moment = wednesday())
      : words_{std::move(words)}, moment_{moment} {}

  // The next call as "module.method {input}", or the reply's text.
  std::string next() {
    step_ = plan(understand(words_, moment_), words_, moment_, read_results(messages_, 0));
    if (auto const* const reply = std::get_if<Reply>(&step_)) return reply->text;
    auto const& call = std::get<NextCall>(step_);
    return call.module + "." + call.method + " " + call.input;
  }

  // Makes the call of the last step, which gives this.
  Stage& gives(std::string const& result) {
    next();
    auto const& call = std::get<NextCall>(step_);
    std::string arguments;
    JsonObject{arguments}
        .text("module", call.module)
        .text("method", call.method)
        .raw("input", call.input)
        .close();
    auto const id = "call_" + std::to_string(messages_.size());
    messages_.emplace_back().speaker = Speaker::assistant;
    messages_.back().tool_calls.push_back({id, "project_cli", arguments});
    messages_.emplace_back().speaker = Speaker::tool;
    messages_.back().text = result;
    messages_.back().tool_call_id = id;
    return *this;
  }

  Reply reply() {
    next();
    return std::holds_alternative<Reply>(step_) ? std::get<Reply>(step_) : Reply{};
  }

 private:
  std::string words_;
  Moment moment_;
  std::vector<PromptMessage> messages_;
  Step step_;
};

void expect_has(std::string const& text, std::vector<std::string> const& parts) {
  for (auto const& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(OfflinePlan, USE_2_AnEventIsCreatedAndTold) {
  Stage stage{"Lunch with Wei tomorrow at 12:30 for 45 minutes"};

  EXPECT_EQ(stage.next(),
            R"(calendar.create {"title":"Lunch with Wei","start_at":"2026-11-19T12:30:00+08:00",)"
            R"("end_at":"2026-11-19T13:15:00+08:00"})");
  stage.gives(
      success(R"({"event_id":"evt_1","outcome":"created","conflicts":[)" + std::string{kReview} + "]}"));
  expect_has(stage.next(), {"Created: “Lunch with Wei”, Thursday 19 November 2026, 12:30–13:15",
                            "It overlaps with:", "项目评审会议", "14:00–15:00"});
  EXPECT_EQ(stage.reply().status, ReplyStatus::success);
}

TEST(OfflinePlan, USE_2_NewEventsInOtherForms) {
  EXPECT_EQ(Stage{"下周三下午3点到4点半 项目评审，在三号会议室"}.next(),
            R"(calendar.create {"title":"项目评审","start_at":"2026-11-25T15:00:00+08:00",)"
            R"("end_at":"2026-11-25T16:30:00+08:00","location":"三号会议室"})");
  EXPECT_EQ(
      Stage{"后天休假一天"}.next(),
      R"(calendar.create {"title":"休假","all_day":true,"start_date":"2026-11-20","end_date":"2026-11-20"})");
  EXPECT_EQ(
      Stage{"12月1日到3日出差"}.next(),
      R"(calendar.create {"title":"出差","all_day":true,"start_date":"2026-12-01","end_date":"2026-12-03"})");
  EXPECT_EQ(Stage{"每周一上午九点例会"}.next(),
            R"(calendar.create {"title":"例会","start_at":"2026-11-23T09:00:00+08:00",)"
            R"("end_at":"2026-11-23T10:00:00+08:00","rrule":"FREQ=WEEKLY;BYDAY=MO"})");
  EXPECT_EQ(Stage{"明天下午三点开会，提前10分钟提醒我"}.next(),
            R"(calendar.create {"title":"开会","start_at":"2026-11-19T15:00:00+08:00",)"
            R"("end_at":"2026-11-19T16:00:00+08:00","reminders":[10]})");
  EXPECT_EQ(
      Stage("Lunch with Wei on Sunday at noon", moment_at("2026-10-23T10:00:00Z", "Europe/Berlin")).next(),
      R"(calendar.create {"title":"Lunch with Wei","start_at":"2026-10-25T12:00:00+01:00",)"
      R"("end_at":"2026-10-25T13:00:00+01:00"})");
}

TEST(OfflinePlan, USE_2_ATimeWithoutADayIsTheNextOne) {
  auto const evening = moment_at("2026-11-18T20:00:00+08:00", "Asia/Shanghai");

  expect_has(Stage("安排下午三点和王伟开会", evening).next(), {R"("start_at":"2026-11-19T15:00:00+08:00")"});
  expect_has(Stage("晚上九点和王伟开会", evening).next(), {R"("start_at":"2026-11-18T21:00:00+08:00")"});
}

TEST(OfflinePlan, USE_2_ACalendarIsReadAndTold) {
  Stage day{"明天有什么安排？"};
  EXPECT_EQ(day.next(), R"(calendar.read {"mode":"day","date":"2026-11-19"})");
  day.gives(items({kLunch, kReview}));
  expect_has(day.next(), {"有 2 项安排", "「Lunch with Wei」，2026年11月19日（周四）12:30–13:15"});

  Stage week{"What do I have next week?"};
  EXPECT_EQ(week.next(), R"(calendar.read {"mode":"range","start_at":"2026-11-23T00:00:00+08:00",)"
                         R"("end_at":"2026-11-30T00:00:00+08:00"})");
  week.gives(items({}));
  EXPECT_EQ(week.next(), "Nothing is planned for Monday 23 November 2026 to Sunday 29 November 2026.");
}

TEST(OfflinePlan, USE_2_AnEventIsMovedAfterItWasFound) {
  Stage stage{"把明天的评审会议改到后天下午三点"};

  EXPECT_EQ(stage.next(), R"(calendar.read {"mode":"day","date":"2026-11-19"})");
  stage.gives(items({kLunch, kReview}));
  EXPECT_EQ(stage.next(), R"(calendar.update {"event_id":"evt_2","start_at":"2026-11-20T15:00:00+08:00"})");
  stage.gives(success(R"({"event_id":"evt_2","outcome":"updated","title":"项目评审会议",)"
                      R"("end_at":"2026-11-20T08:00:00.000Z"})"));
  EXPECT_EQ(stage.next(), "已改为：「项目评审会议」，2026年11月20日（周五）15:00–16:00。");
}

TEST(OfflinePlan, USE_2_WhatIsNotNamedStaysAsItIs) {
  auto const moved = [](char const* words, char const* event) {
    return Stage{words}.gives(items({event})).next();
  };

  EXPECT_EQ(moved("Move lunch to Friday", kLunch),
            R"(calendar.update {"event_id":"evt_1","start_at":"2026-11-20T12:30:00+08:00"})");
  EXPECT_EQ(moved("Move lunch to 1pm", kLunch),
            R"(calendar.update {"event_id":"evt_1","start_at":"2026-11-19T13:00:00+08:00"})");
  EXPECT_EQ(moved("Postpone lunch by an hour", kLunch),
            R"(calendar.update {"event_id":"evt_1","start_at":"2026-11-19T13:30:00+08:00"})");
  EXPECT_EQ(moved("Move the fair to next Monday", kFair),
            R"(calendar.update {"event_id":"evt_4","start_date":"2026-11-23"})");
}

TEST(OfflinePlan, USE_2_ADayLaterIsTheSameTimeAlsoWhereTheClocksChange) {
  auto const* const lunch = R"({"event_id":"evt_1","title":"Lunch","start_at":"2026-03-28T09:00:00.000Z",)"
                            R"("end_at":"2026-03-28T10:00:00.000Z"})";
  auto const moved = [&](char const* words) {
    return Stage(words, moment_at("2026-03-27T10:00:00Z", "Europe/Berlin")).gives(items({lunch})).next();
  };

  EXPECT_EQ(moved("Postpone lunch by one day"),
            R"(calendar.update {"event_id":"evt_1","start_at":"2026-03-29T10:00:00+02:00"})");
  EXPECT_EQ(moved("Postpone lunch by 24 hours"),
            R"(calendar.update {"event_id":"evt_1","start_at":"2026-03-29T10:00:00+02:00"})");
  EXPECT_EQ(moved("Postpone lunch by two hours"),
            R"(calendar.update {"event_id":"evt_1","start_at":"2026-03-28T12:00:00+01:00"})");
}

TEST(OfflinePlan, USE_2_OnlyOneOfARepeatedEventIsChanged) {
  Stage stage{"Cancel the standup tomorrow"};

  stage.gives(items({kStandup}));
  EXPECT_EQ(stage.next(),
            R"(calendar.delete {"event_id":"evt_6","occurrence_start":"2026-11-19T01:00:00.000Z"})");
  stage.gives(success(R"({"event_id":"evt_6","outcome":"deleted","title":"Standup",)"
                      R"("start_at":"2026-11-19T01:00:00.000Z","end_at":"2026-11-19T01:15:00.000Z"})"));
  expect_has(stage.next(), {"Deleted: “Standup”", "Only this one"});
}

TEST(OfflinePlan, USE_2_NothingIsChangedUnlessOneEventIsMeant) {
  auto const several = Stage{"Cancel lunch"}.gives(items({kLunch, kOtherLunch})).reply();
  auto const none = Stage{"Cancel dinner"}.gives(items({kLunch})).reply();
  auto const chinese = Stage{"取消明天的会"}.gives(items({kLunch})).reply();

  expect_has(several.text,
             {"Several events may be meant", "Lunch with Wei", "Lunch with Ann", "Nothing was changed."});
  expect_has(none.text, {"I found no such event", "Lunch with Wei", "Nothing was changed."});
  expect_has(chinese.text, {"没有找到这个日程", "没有更改任何内容"});
  for (auto const& reply : {several, none, chinese}) {
    EXPECT_EQ(reply.kind, ReplyKind::clarification);
    EXPECT_EQ(reply.status, ReplyStatus::partial);
  }
}

TEST(OfflinePlan, USE_2_AnEventIsFoundByTitleDayAndTime) {
  auto const deleted = [](char const* words) {
    return Stage{words}.gives(items({kLunch, kReview, kOtherLunch})).next();
  };

  expect_has(deleted("Cancel lunch with Ann"), {"calendar.delete", "evt_3"});
  expect_has(deleted("取消明天下午两点的会"), {"calendar.delete", "evt_2"});
  expect_has(deleted("取消项目评审"), {"calendar.delete", "evt_2"});
  expect_has(deleted("Cancel lunch at 12:30"), {"calendar.delete", "evt_1"});
}

TEST(OfflinePlan, USE_2_AContactIsInvited) {
  auto const wei = R"({"contact_id":"c1","name":"Wei","user_id":"wei"})";
  Stage stage{"Invite Wei to lunch tomorrow"};

  EXPECT_EQ(stage.next(), R"(contacts.read {"mode":"search","query":"Wei"})");
  stage.gives(items({wei}));
  EXPECT_EQ(stage.next(), R"(calendar.read {"mode":"day","date":"2026-11-19"})");
  stage.gives(items({kLunch}));
  EXPECT_EQ(stage.next(), R"(calendar.share {"event_id":"evt_1","user_ids":["wei"]})");
  stage.gives(
      success(R"({"title":"Lunch with Wei","start_at":"2026-11-19T04:30:00.000Z",)"
              R"("end_at":"2026-11-19T05:15:00.000Z",)"
              R"("items":[{"user_id":"wei","invite_id":"inv_1","outcome":"already_invited"}],"count":1})"));
  expect_has(stage.next(), {"Wei was already invited to “Lunch with Wei”"});
}

TEST(OfflinePlan, USE_2_NobodyIsInvitedUnlessOneUserIsMeant) {
  auto const asked = [](std::vector<std::string> const& contacts) {
    return Stage{"Invite Wei to lunch tomorrow"}.gives(items(contacts)).next();
  };

  expect_has(asked({}), {"I found no contact for “Wei”", "Nothing was changed."});
  expect_has(asked({R"({"name":"Wei"})"}), {"is no user of this server"});
  expect_has(asked({R"({"name":"Wang Wei","user_id":"a"})", R"({"name":"Li Wei","user_id":"b"})"}),
             {"Several contacts", "Wang Wei", "Li Wei"});
  expect_has(asked({R"({"name":"Wei","user_id":"a"})", R"({"name":"Li Wei","user_id":"b"})"}),
             {"calendar.read"});
}

TEST(OfflinePlan, USE_2_AnInvitationIsAnswered) {
  Stage accepting{"接受午饭的邀请"};
  EXPECT_EQ(accepting.next(), R"(calendar.read {"mode":"invites"})");

  expect_has(accepting.gives(items({kInvite})).next(), {"没有找到这个邀请", "Lunch"});
  expect_has(Stage{"接受ann的邀请"}.gives(items({kInvite})).next(),
             {R"(calendar.accept_invite {"invite_id":"inv_1"})"});
  expect_has(Stage{"Decline the invitation to lunch"}.gives(items({kInvite})).next(),
             {"calendar.reject_invite", "inv_1"});
  expect_has(Stage{"Accept the invitation"}.gives(items({})).next(),
             {"No invitation waits", "Nothing was changed."});
  expect_has(
      Stage{"Accept the invitation"}
          .gives(items({kInvite}))
          .gives(success(R"({"event_id":"evt_5","outcome":"accepted","title":"Lunch",)"
                         R"("start_at":"2026-11-19T04:00:00.000Z","end_at":"2026-11-19T05:00:00.000Z"})"))
          .next(),
      {"Accepted the invitation to “Lunch”", "12:00–13:00"});
}

TEST(OfflinePlan, USE_2_ContactsAreFound) {
  auto const found =
      Stage{"王伟的电话是多少"}
          .gives(items({R"({"name":"王伟","phone":"+86 138 0013 8000","email":"wei@example.com"})"}))
          .next();

  EXPECT_EQ(found, "联系人「王伟」：\n- 「王伟」，电话 +86 138 0013 8000，邮箱 wei@example.com");
  EXPECT_EQ(Stage{"Find Ann's e-mail"}.gives(items({})).next(), "I found no contact for “Ann”.");
}

TEST(OfflinePlan, USE_2_ANoteIsAddedAndRecalled) {
  Stage noting{"记住我喜欢喝茶"};
  EXPECT_EQ(noting.next(), R"(memory.update {"kind":"user","mode":"merge","content":{"likes":["喝茶"]}})");
  noting.gives(success(R"({"outcome":"updated","fields":["likes"]})"));
  EXPECT_EQ(noting.next(), "已记住（喜欢）：「喝茶」。");

  Stage recalling{"What do you remember about me?"};
  EXPECT_EQ(recalling.next(), "memory.read {}");
  recalling.gives(
      items({R"({"kind":"user","content":{"preferred_name":"Wei","likes":["tea","mornings"]}})"}));
  EXPECT_EQ(recalling.next(), "This is noted about you:\n- name: Wei\n- likes: tea; mornings");
}

TEST(OfflinePlan, USE_2_FailuresAreToldWithTheirReason) {
  auto const create = [](std::string const& result) {
    return Stage{"Lunch with Wei tomorrow at 12:30"}.gives(result).reply();
  };

  expect_has(create(failure("APPROVAL_REJECTED")).text, {"not done", "you did not approve it"});
  expect_has(create(failure("INVALID_ACTION_INPUT", "end_at must be after start_at")).text,
             {"not done", "end_at must be after start_at"});
  expect_has(create(failure("SOMETHING_NEW")).text, {"not done", "SOMETHING_NEW"});
  expect_has(create(failure("OUTCOME_UNKNOWN")).text, {"I do not know whether that was done"});
  for (auto const* text : {"", "no JSON", "[]", R"({"status":"great"})", "\xff"}) {
    auto const reply = create(text);
    expect_has(reply.text, {"I do not know whether that was done"});
    EXPECT_EQ(reply.status, ReplyStatus::failed) << text;
  }
  EXPECT_EQ(create(failure("CONFLICT")).kind, ReplyKind::error);
  EXPECT_FALSE(create(failure("CONFLICT")).error.empty());
}

TEST(OfflinePlan, USE_2_ACalendarThatCannotRepeatIsSaidToBeSo) {
  Stage stage{"每周一上午九点例会"};

  stage.gives(failure("INVALID_ACTION_INPUT", "/rrule: is not a known field"));

  expect_has(stage.next(), {"没有完成", "不能这样重复日程"});
}

TEST(OfflinePlan, USE_2_AFailureStopsAChangeBeforeItIsMade) {
  auto const reply = Stage{"Cancel lunch"}.gives(failure("TOO_MANY_RESULTS")).reply();

  expect_has(reply.text, {"That was not done", "too many events"});
}

TEST(OfflinePlan, USE_2_LongListsAreCutAndSayHowMuchIsLeft) {
  std::vector<std::string> many(50, kLunch);

  expect_has(Stage{"What do I have this week?"}.gives(items(many)).next(), {"50 events", "… and 30 more."});
}

TEST(OfflinePlan, USE_2_SameWordsSameStep) {
  EXPECT_EQ(Stage{"Cancel lunch"}.gives(items({kLunch})).next(),
            Stage{"Cancel lunch"}.gives(items({kLunch})).next());
}

}  // namespace
}  // namespace runnel::model
