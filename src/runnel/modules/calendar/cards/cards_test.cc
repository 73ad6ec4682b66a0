#include "runnel/modules/calendar/cards/cards.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>

#include "runnel/modules/calendar/cards/event_words.h"

namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;
using Lines = std::vector<std::string>;

CardReader const kEnglish{"en", "Europe/Berlin"};
CardReader const kChinese{"zh-CN", "Asia/Shanghai"};

Card card_of(std::string_view method, std::string const& input, std::string const& data,
             CardReader const& reader = kEnglish) {
  auto const forms = card_forms();
  auto const form =
      std::find_if(forms.begin(), forms.end(), [&](CardForm const& each) { return each.method == method; });
  auto const sent = json::parse(input).as_object();
  auto const found = json::parse(data).as_object();
  auto const hints = form->hints({sent, found});
  return form->make(*hints, reader);
}

std::string when(std::string const& event, CardReader const& reader) {
  return EventWords{reader}.when(json::parse(event).as_object());
}

TEST(EventWords, TimesAreThoseOfTheReader) {
  std::string const lunch = R"({"start_at":"2026-05-01T10:00:00Z","end_at":"2026-05-01T11:30:00.000Z"})";
  std::string const night = R"({"start_at":"2026-12-31T22:00:00Z","end_at":"2027-01-01T01:00:00Z"})";

  EXPECT_EQ(when(lunch, kEnglish), "Fri, 1 May 2026, 12:00–13:30");
  EXPECT_EQ(when(lunch, kChinese), "2026年5月1日 周五 18:00–19:30");
  EXPECT_EQ(when(lunch, {"fr", "No/Where"}), "Fri, 1 May 2026, 10:00–11:30 UTC");
  EXPECT_EQ(when(night, kEnglish), "Thu, 31 Dec 2026, 23:00 – Fri, 1 Jan 2027, 02:00");
  EXPECT_EQ(when(night, kChinese), "2027年1月1日 周五 06:00–09:00");
}

TEST(EventWords, WholeDaysAreTheSameForEveryReader) {
  EXPECT_EQ(when(R"({"start_date":"2026-05-01","end_date":"2026-05-01"})", kEnglish),
            "Fri, 1 May 2026, all day");
  EXPECT_EQ(when(R"({"start_date":"2026-05-01"})", kChinese), "2026年5月1日 周五 全天");
  EXPECT_EQ(when(R"({"start_date":"2026-05-01","end_date":"2026-05-03"})", kChinese),
            "2026年5月1日 周五 – 2026年5月3日 周日 全天");
  EXPECT_EQ(when(R"({"title":"x"})", kEnglish), "");
}

TEST(CalendarCards, TOOL_8_CreatedEventIsWhatWasAskedForAndFound) {
  auto const card = card_of(
      "calendar.create",
      R"({"title":"Lunch","start_at":"2026-05-01T12:00:00+02:00","end_at":"2026-05-01T13:00:00+02:00",)"
      R"("location":"Canteen","description":"secret"})",
      R"({"event_id":"e1","outcome":"created","conflicts":[{"event_id":"e0","title":"Tea",)"
      R"("start_at":"2026-05-01T10:30:00Z","end_at":"2026-05-01T12:00:00Z"}]})");

  EXPECT_EQ(card.title, "Event created");
  ASSERT_EQ(card.items.size(), 1U);
  EXPECT_EQ(card.items[0].title, "Lunch");
  EXPECT_EQ(card.items[0].lines, (Lines{"Fri, 1 May 2026, 12:00–13:00", "Location: Canteen",
                                        "Overlaps: Tea, Fri, 1 May 2026, 12:30–14:00"}));
  EXPECT_EQ(card.note, "");
}

TEST(CalendarCards, TOOL_8_ChangeShowsTheEventAsItIsNow) {
  auto const card = card_of("calendar.update", R"({"event_id":"e1","start_at":"2026-05-02T12:00:00+02:00"})",
                            R"({"event_id":"e1","outcome":"updated","title":"Lunch",)"
                            R"("end_at":"2026-05-02T11:00:00.000Z"})");

  EXPECT_EQ(card.title, "Event updated");
  EXPECT_EQ(card.items[0].title, "Lunch");
  EXPECT_EQ(card.items[0].lines, Lines{"Sat, 2 May 2026, 12:00–13:00"});
}

TEST(CalendarCards, TOOL_8_OneOccurrenceHasItsTimeAndIsNotTheWholeSeries) {
  auto const deleted =
      card_of("calendar.delete", R"({"event_id":"e1","occurrence_start":"2026-05-01T10:00:00Z"})",
              R"({"event_id":"e1","outcome":"deleted","title":"Standup",)"
              R"("end_at":"2026-05-01T10:15:00.000Z"})");
  auto const moved = card_of(
      "calendar.update",
      R"({"event_id":"e1","occurrence_start":"2026-05-01T10:00:00Z","start_at":"2026-05-02T10:00:00Z"})",
      R"({"event_id":"e2","series_id":"e1","outcome":"updated","title":"Standup","end_at":"2026-05-02T10:15:00.000Z"})");
  auto const day = card_of("calendar.delete", R"({"event_id":"e1","occurrence_start":"2026-05-01"})",
                           R"({"event_id":"e1","outcome":"deleted","title":"Fair","all_day":true,)"
                           R"("end_date":"2026-05-01"})",
                           kChinese);

  EXPECT_EQ(deleted.title, "One occurrence deleted");
  EXPECT_EQ(deleted.items.at(0).lines, Lines{"Fri, 1 May 2026, 12:00–12:15"});
  EXPECT_EQ(moved.title, "One occurrence updated");
  EXPECT_EQ(moved.items.at(0).lines, Lines{"Sat, 2 May 2026, 12:00–12:15"});
  EXPECT_EQ(day.title, "已删除其中一次日程");
  EXPECT_EQ(day.items.at(0).lines, Lines{"2026年5月1日 周五 全天"});
}

TEST(CalendarCards, TOOL_8_RepetitionIsInTheWordsOfItsRule) {
  auto const repeats = [](std::string const& rule, CardReader const& reader) {
    auto const card = card_of("calendar.create",
                              R"({"title":"x","start_at":"2026-05-01T10:00:00Z","rrule":")" + rule + R"("})",
                              R"({"event_id":"e1","outcome":"created"})", reader);
    return card.items.at(0).lines;
  };

  EXPECT_EQ(repeats("FREQ=WEEKLY;BYDAY=MO", kEnglish), Lines{"Repeats weekly"});
  EXPECT_EQ(repeats("freq=weekly;byday=fr", kChinese), Lines{"每周重复"});
  EXPECT_EQ(repeats("INTERVAL=2;FREQ=WEEKLY", kEnglish), Lines{"Repeats every 2 weeks"});
  EXPECT_EQ(repeats("FREQ=MONTHLY;INTERVAL=3", kChinese), Lines{"每 3 个月重复"});
  EXPECT_EQ(repeats("", kEnglish), Lines{});
}

TEST(CalendarCards, TOOL_8_ShareCountsWhoIsInvitedNowAndHowManyAreNotNamed) {
  json::array items;
  for (int i = 0; i < 12; ++i)
    items.push_back(
        {{"user_id", "u" + std::to_string(i)}, {"outcome", i < 3 ? "already_invited" : "invited"}});
  auto const data = [](json::array const& users) {
    return json::serialize(json::object{{"title", "Lunch"}, {"items", users}, {"count", users.size()}});
  };

  auto const some = card_of("calendar.share", "{}", data(items));
  auto const none = card_of("calendar.share", "{}", data(json::array(items.begin(), items.begin() + 3)));

  EXPECT_EQ(some.title, "9 users invited");
  EXPECT_EQ(some.items.at(0).lines.back(), "2 more guests");
  EXPECT_EQ(none.title, "Already invited");
}

TEST(CalendarCards, TOOL_8_BatchShowsWhatWasDoneAndWhatWasNot) {
  auto const card = card_of(
      "calendar.create",
      R"({"mode":"batch","items":[{"title":"A","all_day":true,"start_date":"2026-05-01"},{"title":"B"}]})",
      R"({"items":[{"index":0,"event_id":"e1","outcome":"created","end_date":"2026-05-01"},)"
      R"({"index":1,"outcome":"failed","error":{"code":"X","message":"/start_at: is required"}}],)"
      R"("count":2,"failed":1})",
      kChinese);

  EXPECT_EQ(card.title, "日程已创建");
  ASSERT_EQ(card.items.size(), 2U);
  EXPECT_EQ(card.items[0].title, "A");
  EXPECT_EQ(card.items[0].lines, Lines{"2026年5月1日 周五 全天"});
  EXPECT_EQ(card.items[1].title, "未完成");
  EXPECT_EQ(card.items[1].lines, Lines{"/start_at: is required"});
}

TEST(CalendarCards, TOOL_8_BatchOfOccurrencesDoesNotSayThatTheSeriesIsGone) {
  auto const card_with = [](char const* second) {
    return card_of(
        "calendar.delete",
        std::string{R"({"mode":"batch","items":[{"event_id":"e1","occurrence_start":"2026-05-01"},)"} +
            second + "]}",
        R"({"items":[{"index":0,"event_id":"e1","outcome":"deleted","title":"A"},)"
        R"({"index":1,"event_id":"e2","outcome":"deleted","title":"B"}],"count":2,"failed":0})");
  };

  EXPECT_EQ(card_with(R"({"event_id":"e2","occurrence_start":"2026-05-02"})").title, "2 occurrences deleted");
  EXPECT_EQ(card_with(R"({"event_id":"e2"})").title, "2 events deleted");
}

std::string many_events(std::size_t count) {
  json::array items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({{"title", "e" + std::to_string(i)}, {"start_date", "2026-05-01"}});
  return json::serialize(json::object{{"items", items}, {"count", count}});
}

TEST(CalendarCards, TOOL_8_LongListIsCutAndSaysSo) {
  auto const card = card_of("calendar.read", R"({"mode":"day","date":"2026-05-01"})", many_events(200));

  EXPECT_EQ(card.title, "200 events");
  EXPECT_EQ(card.items.size(), kMostCardItems);
  EXPECT_EQ(card.note, "180 more are not shown here");
}

TEST(CalendarCards, TOOL_8_NothingFoundIsSaid) {
  std::string const none = R"({"items":[],"count":0})";
  EXPECT_EQ(card_of("calendar.read", R"({"mode":"day"})", none).title, "No events");
  EXPECT_EQ(card_of("calendar.read", R"({"mode":"day"})", none, kChinese).title, "没有日程");
  EXPECT_EQ(card_of("calendar.read", R"({"mode":"invites"})", none).title, "No invitations");
}

TEST(CalendarCards, TOOL_8_InvitationsNameTheOrganizerAndTheAnswer) {
  std::string const data =
      R"({"items":[{"title":"Lunch","start_at":"2026-05-01T10:00:00Z","end_at":"2026-05-01T11:00:00Z",)"
      R"("rrule":"FREQ=WEEKLY;COUNT=3","organizer":"bob","invite_id":"i1","invite_status":"pending"}],)"
      R"("count":1})";

  auto const card = card_of("calendar.read", R"({"mode":"invites"})", data, kChinese);

  EXPECT_EQ(card.title, "1 个待回复的邀请");
  EXPECT_EQ(card.items[0].badge, "待回复");
  EXPECT_EQ(card.items[0].lines, (Lines{"2026年5月1日 周五 18:00–19:00", "每周重复", "组织者：bob"}));
}

TEST(CalendarCards, TOOL_8_SharedEventNamesTheGuests) {
  auto const card =
      card_of("calendar.share", R"({"event_id":"e1","user_ids":["bob","cy"]})",
              R"({"title":"Lunch","start_at":"2026-05-01T10:00:00Z",)"
              R"("end_at":"2026-05-01T11:00:00Z","items":[{"user_id":"bob","outcome":"invited"},)"
              R"({"user_id":"cy","outcome":"already_invited"}],"count":2})");

  EXPECT_EQ(card.title, "1 user invited");
  ASSERT_EQ(card.items.size(), 1U);
  EXPECT_EQ(card.items[0].lines,
            (Lines{"Fri, 1 May 2026, 12:00–13:00", "bob – invited", "cy – invited before"}));
  EXPECT_EQ(card.note, "");
}

TEST(CalendarCards, TOOL_8_DataOfAnotherFormMakesAnEmptyCardAndNoCrash) {
  for (auto const& form : card_forms()) {
    for (auto const* const data :
         {R"({})", R"({"items":3,"count":"x"})", R"({"items":[1,null,{}],"count":3})"}) {
      auto const card = card_of(form.method, R"({"mode":"batch"})", data);
      EXPECT_FALSE(card.title.empty()) << form.method << data;
    }
  }
}

}  // namespace
}  // namespace runnel::modules::calendar
