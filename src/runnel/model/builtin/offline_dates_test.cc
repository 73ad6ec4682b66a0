#include "runnel/model/builtin/offline_dates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "runnel/model/testing/offline_moment.h"

namespace runnel::model {
namespace {

using Phrases = std::vector<std::pair<char const*, char const*>>;

std::string clock(int minutes) {
  return fmt::format("{:02}:{:02}", minutes / kMinutesOfHour, minutes % kMinutesOfHour);
}

// What was read, on one line: days, times, length, whole days, rule, and what is left of the words.
std::string printed(When const& when) {
  std::string out;
  auto const add = [&](std::string const& text) { out += (out.empty() ? "" : " ") + text; };
  if (when.impossible) add("impossible");
  if (when.ambiguous) add("ambiguous");
  if (when.day && !when.impossible) add(to_date(when.day->first));
  if (when.day && when.day->last != when.day->first) add("to " + to_date(when.day->last));
  if (when.start && !when.impossible) add(clock(*when.start) + (when.end ? "-" + clock(*when.end) : ""));
  if (when.length) add(std::to_string(*when.length) + "min");
  if (when.days) add(std::to_string(*when.days) + "d");
  if (when.from_now_ms) add(to_rfc3339_seconds(*when.from_now_ms / 1000));
  if (when.all_day) add("whole");
  if (!when.rule.empty()) add(when.rule);
  if (!when.rest.empty()) add("| " + when.rest);
  return out;
}

std::string read(std::string const& words, Moment const& moment = wednesday()) {
  auto const text = to_offline_text(words);
  return text ? printed(read_when(*text, moment)) : "too long";
}

void expect_all(Phrases const& phrases, Moment const& moment = wednesday()) {
  for (auto const& [words, expected] : phrases)
    EXPECT_EQ(read(words, moment), expected) << words;
}

TEST(OfflineDates, USE_2_DaysInChinese) {
  expect_all({{"今天", "2026-11-18"},
              {"明天", "2026-11-19"},
              {"后天", "2026-11-20"},
              {"大后天", "2026-11-21"},
              {"昨天", "2026-11-17"},
              {"周三", "2026-11-18"},
              {"星期四", "2026-11-19"},
              {"周二", "2026-11-24"},
              {"礼拜天", "2026-11-22"},
              {"下周三", "2026-11-25"},
              {"下个星期一", "2026-11-23"},
              {"下下周五", "2026-12-04"},
              {"这周五", "2026-11-20"},
              {"本周一", "2026-11-16"},
              {"这周", "2026-11-16 to 2026-11-22"},
              {"下周", "2026-11-23 to 2026-11-29"},
              {"周末", "2026-11-21 to 2026-11-22"},
              {"下个月", "2026-12-01 to 2026-12-31"},
              {"12月3日", "2026-12-03"},
              {"十二月三号", "2026-12-03"},
              {"2026年12月1日", "2026-12-01"},
              {"3月1日", "2027-03-01"},
              {"2月29日", "2028-02-29"},
              {"25号", "2026-11-25"},
              {"3号", "2026-12-03"},
              {"下个月3号", "2026-12-03"},
              {"三天后", "2026-11-21"},
              {"两周后", "2026-12-02"},
              {"未来三天", "2026-11-18 to 2026-11-20"},
              {"12月1日到3日", "2026-12-01 to 2026-12-03"},
              {"周四到周六", "2026-11-19 to 2026-11-21"},
              {"２０２６－１２－０１", "2026-12-01"}});
}

TEST(OfflineDates, USE_2_DaysInEnglish) {
  expect_all({{"today", "2026-11-18"},
              {"tomorrow", "2026-11-19"},
              {"the day after tomorrow", "2026-11-20"},
              {"on Wednesday", "2026-11-18"},
              {"Friday", "2026-11-20"},
              {"on Tuesday", "2026-11-24"},
              {"next Wednesday", "2026-11-25"},
              {"this Friday", "2026-11-20"},
              {"this week", "2026-11-16 to 2026-11-22"},
              {"next week", "2026-11-23 to 2026-11-29"},
              {"this weekend", "2026-11-21 to 2026-11-22"},
              {"next month", "2026-12-01 to 2026-12-31"},
              {"2026-12-01", "2026-12-01"},
              {"2026/12/1", "2026-12-01"},
              {"December 3", "2026-12-03"},
              {"on Dec 3rd, 2027", "2027-12-03"},
              {"3 December", "2026-12-03"},
              {"the 3rd of December", "2026-12-03"},
              {"on the 3rd", "2026-12-03"},
              {"in three days", "2026-11-21"},
              {"in 2 weeks", "2026-12-02"},
              {"the next 7 days", "2026-11-18 to 2026-11-24"},
              {"from Thursday to Saturday", "2026-11-19 to 2026-11-21"}});
}

TEST(OfflineDates, USE_2_TimesInChinese) {
  expect_all({{"上午十点", "10:00"},
              {"十点半", "10:30"},
              {"下午两点", "14:00"},
              {"下午3点到4点半", "15:00-16:30"},
              {"十二点一刻", "12:15"},
              {"三点三刻", "15:45"},
              {"早上七点五十分", "07:50"},
              {"晚上八点零五分", "20:05"},
              {"凌晨12点", "00:00"},
              {"中午", "12:00"},
              {"中午12点半", "12:30"},
              {"中午一点", "13:00"},
              {"晚上12点", "24:00"},
              {"15时30分", "15:30"},
              {"15:30", "15:30"},
              {"下午3:30到5:00", "15:30-17:00"},
              {"上午十一点到一点", "11:00-13:00"},
              {"晚上十点到一点", "22:00-25:00"},
              {"明晚八点", "2026-11-19 20:00"},
              {"明早七点半", "2026-11-19 07:30"},
              {"明天上午十点一个半小时", "2026-11-19 10:00 90min"},
              {"45分钟", "45min"},
              {"半小时", "30min"},
              {"两小时后", "2026-11-18T03:00:00Z"},
              {"全天", "whole"},
              {"休假三天", "3d | 休假"}});
}

TEST(OfflineDates, USE_2_TimesInEnglish) {
  expect_all({{"at 9", "09:00"},
              {"at 3", "15:00"},
              {"9am", "09:00"},
              {"9 p.m.", "21:00"},
              {"12am", "00:00"},
              {"12 pm", "12:00"},
              {"12:30", "12:30"},
              {"03:00", "03:00"},
              {"9:30pm", "21:30"},
              {"noon", "12:00"},
              {"half past nine", "09:30"},
              {"a quarter to four", "15:45"},
              {"a quarter to one", "12:45"},
              {"at seven o'clock in the evening", "19:00"},
              {"from 3pm to 4pm", "15:00-16:00"},
              {"3-4pm", "15:00-16:00"},
              {"11-1pm", "11:00-13:00"},
              {"between 3 and 4", "15:00-16:00"},
              {"from 10 to 11:30", "10:00-11:30"},
              {"tomorrow morning at 9", "2026-11-19 09:00"},
              {"tonight at 8", "2026-11-18 20:00"},
              {"tomorrow at 12:30 for 45 minutes", "2026-11-19 12:30 45min"},
              {"for an hour and a half", "90min"},
              {"for 1.5 hours", "90min"},
              {"half an hour", "30min"},
              {"in two hours", "2026-11-18T03:00:00Z"},
              {"on Friday, all day", "2026-11-20 whole"}});
}

TEST(OfflineDates, USE_2_RepetitionsBecomeRulesWithTheirFirstDay) {
  expect_all({{"每天早上七点", "2026-11-19 07:00 FREQ=DAILY"},
              {"每周一上午九点例会", "2026-11-23 09:00 FREQ=WEEKLY;BYDAY=MO | 例会"},
              {"每周三下午四点", "2026-11-18 16:00 FREQ=WEEKLY;BYDAY=WE"},
              {"每周一、周三和周五九点", "2026-11-20 09:00 FREQ=WEEKLY;BYDAY=MO,WE,FR"},
              {"每个工作日9点", "2026-11-19 09:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
              {"每月3号十点", "2026-12-03 10:00 FREQ=MONTHLY;BYMONTHDAY=3"},
              {"每两周的周二十点", "2026-11-24 10:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"},
              {"every weekday at 9", "2026-11-19 09:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
              {"every Monday and Thursday at 10am", "2026-11-19 10:00 FREQ=WEEKLY;BYDAY=MO,TH"},
              {"daily at 18:00", "2026-11-18 18:00 FREQ=DAILY"},
              {"every other Friday at noon", "2026-11-20 12:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"}});
}

TEST(OfflineDates, USE_2_OtherNumbersAreNoTimes) {
  expect_all({{"在三号会议室", "| 在三号会议室"},
              {"2 people", "| 2 people"},
              {"版本 3.5", "| 版本 3.5"},
              {"三点意见", "15:00 | 意见"},
              {"the 3rd floor", "| the 3rd floor"},
              {"早餐和晚会", "| 早餐和晚会"},
              {"1234567890", "| 1234567890"},
              {"", ""}});
}

TEST(OfflineDates, USE_2_ALittleIsNoTime) {
  expect_all({{"一点水果", "| 一点水果"},
              {"买一点水果", "| 买一点水果"},
              {"明天早一点", "2026-11-19 | 早一点"},
              {"明早一点", "2026-11-19 | 一点"},
              {"晚一点", "| 晚一点"},
              {"明天一点儿", "2026-11-19 | 一点儿"},
              {"下午一点点", "| 一点点"},
              {"明天有一点事", "2026-11-19 | 有一点事"}});
  expect_all({{"明天一点", "2026-11-19 13:00"},
              {"明天 一点 开会", "2026-11-19 13:00 | 开会"},
              {"每天一点", "2026-11-18 13:00 FREQ=DAILY"},
              {"下午一点", "13:00"},
              {"凌晨一点", "01:00"},
              {"晚上一点", "25:00"},
              {"今晚一点", "2026-11-18 25:00"},
              {"在一点", "13:00"},
              {"从一点到三点", "13:00-15:00"},
              {"一点到三点", "13:00-15:00"},
              {"上午十一点到一点", "11:00-13:00"},
              {"一点钟", "13:00"},
              {"一点半", "13:30"},
              {"一点整", "13:00"},
              {"一点十分", "13:10"},
              {"1点", "13:00"},
              {"十一点", "11:00"}});
}

TEST(OfflineDates, USE_2_AWeekBeforeAnotherWordHasNoWeekday) {
  expect_all({{"本周日程", "2026-11-16 to 2026-11-22 | 日程"},
              {"下周日程", "2026-11-23 to 2026-11-29 | 日程"},
              {"下周日历", "2026-11-23 to 2026-11-29 | 日历"},
              {"这周日常", "2026-11-16 to 2026-11-22 | 日常"},
              {"周日程", "| 周日程"},
              {"下周一起吃饭", "2026-11-23 to 2026-11-29 | 一起吃饭"},
              {"下周一个会", "2026-11-23 to 2026-11-29 | 一个会"},
              {"下周一次", "2026-11-23 to 2026-11-29 | 一次"},
              {"下周一些事", "2026-11-23 to 2026-11-29 | 一些事"},
              {"本周天气", "2026-11-16 to 2026-11-22 | 天气"},
              {"下周一起飞", "2026-11-23 | 起飞"},
              {"下周日", "2026-11-29"},
              {"周一", "2026-11-23"},
              {"周日开会", "2026-11-22 | 开会"}});
}

TEST(OfflineDates, USE_2_WhatIsNoTimeIsSaidToBeImpossible) {
  for (auto const* words : {"25点", "1000000000点", "2026-13-45", "2月30日", "at 99:99", "13月1日",
                            "9999999999年1月1日", "10:75", "99999999999999999999999点开会", "100000天后"}) {
    EXPECT_TRUE(read(words).starts_with("impossible")) << words << ": " << read(words);
  }
}

TEST(OfflineDates, USE_2_TwoTimesAreAmbiguous) {
  EXPECT_TRUE(read("明天和后天十点").starts_with("ambiguous"));
  EXPECT_TRUE(read("at 3pm, Monday or Tuesday").starts_with("ambiguous"));
  EXPECT_TRUE(read("3pm or 5pm").starts_with("ambiguous"));
}

TEST(OfflineDates, USE_2_AWeekdayAloneIsTheComingOne) {
  auto const evening = moment_at("2026-11-18T20:00:00+08:00", "Asia/Shanghai");

  EXPECT_EQ(read("周三上午十点", evening), "2026-11-25 10:00");
  EXPECT_EQ(read("周三晚上九点", evening), "2026-11-18 21:00");
  EXPECT_EQ(read("on Wednesday at 10", evening), "2026-11-25 10:00");
}

TEST(OfflineDates, USE_2_TodayIsTheUsersDay) {
  auto const berlin = moment_at("2026-11-18T23:30:00Z", "Europe/Berlin");
  auto const new_york = moment_at("2026-11-18T23:30:00Z", "America/New_York");

  EXPECT_EQ(read("tomorrow", berlin), "2026-11-20");
  EXPECT_EQ(read("tomorrow", new_york), "2026-11-19");
}

std::string local(Zone const& zone, std::chrono::year_month_day day, int hour, int minute) {
  return to_local_rfc3339(zone, instant_of(zone, Day{day}, hour * kMinutesOfHour + minute));
}

TEST(OfflineDates, USE_2_LocalTimesFollowTheChangesOfClocks) {
  using namespace std::chrono_literals;
  auto const berlin = Zone::find("Europe/Berlin").value();
  auto const new_york = Zone::find("America/New_York").value();
  auto const beirut = Zone::find("Asia/Beirut").value();

  EXPECT_EQ(local(berlin, 2026y / 3 / 28, 9, 0), "2026-03-28T09:00:00+01:00");
  EXPECT_EQ(local(berlin, 2026y / 3 / 29, 1, 30), "2026-03-29T01:30:00+01:00");
  EXPECT_EQ(local(berlin, 2026y / 3 / 29, 2, 30), "2026-03-29T03:30:00+02:00");  // There is no such time.
  EXPECT_EQ(local(berlin, 2026y / 3 / 29, 9, 0), "2026-03-29T09:00:00+02:00");
  EXPECT_EQ(local(berlin, 2026y / 10 / 25, 2, 30), "2026-10-25T02:30:00+02:00");  // The first of two.
  EXPECT_EQ(local(berlin, 2026y / 10 / 25, 3, 30), "2026-10-25T03:30:00+01:00");
  EXPECT_EQ(local(new_york, 2026y / 11 / 1, 1, 30), "2026-11-01T01:30:00-04:00");
  EXPECT_EQ(local(new_york, 2026y / 11 / 1, 9, 0), "2026-11-01T09:00:00-05:00");
  EXPECT_EQ(local(new_york, 2027y / 3 / 14, 2, 30), "2027-03-14T03:30:00-04:00");
  EXPECT_EQ(local(new_york, 2027y / 3 / 14, 23, 59), "2027-03-14T23:59:00-04:00");
  EXPECT_EQ(local(new_york, 2027y / 3 / 13, 25, 0), "2027-03-14T01:00:00-05:00");
  EXPECT_EQ(local(beirut, 2022y / 3 / 27, 10, 0), "2022-03-27T10:00:00+03:00");
}

}  // namespace
}  // namespace runnel::model
