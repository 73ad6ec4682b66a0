#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runnel/model/builtin/offline_request.h"
#include "runnel/model/testing/offline_moment.h"

// Everyday sentences of which a part looks like a request for something else.
namespace runnel::model {
namespace {

using Sentences = std::vector<char const*>;

bool is_change(Ask ask) {
  switch (ask) {
    case Ask::nothing:
    case Ask::read_events:
    case Ask::find_event:
    case Ask::read_invites:
    case Ask::find_contact:
    case Ask::recall:
      return false;
    default:
      return true;
  }
}

void expect_no_change(Sentences const& sentences) {
  for (auto const* words : sentences) {
    auto const request = understand(words, wednesday());
    bool const changes = is_change(request.ask) && request.missing == Missing::nothing;
    EXPECT_FALSE(changes) << words << ": " << static_cast<int>(request.ask);
  }
}

void expect_ask(Ask ask, Sentences const& sentences) {
  for (auto const* words : sentences) {
    auto const request = understand(words, wednesday());
    EXPECT_EQ(static_cast<int>(request.ask), static_cast<int>(ask)) << words;
    EXPECT_EQ(static_cast<int>(request.missing), static_cast<int>(Missing::nothing)) << words;
  }
}

TEST(OfflineSentences, USE_2_AReminderOfANewEventMovesNoOther) {
  struct Reminded {
    char const* words;
    char const* title;
    int minutes;
  };
  for (auto const& [words, title, minutes] : std::vector<Reminded>{
           {"明天下午三点开会，提前10分钟提醒我", "开会", 10},
           {"明天下午三点开会，请提前半小时通知我一下。", "开会", 30},
           {"提前十五分钟提醒我明天下午三点开会", "开会", 15},
           {"明天下午三点开会，10分钟前提醒我", "开会", 10},
           {"明天下午三点开会前10分钟提醒我", "开会", 10},
           {"明天下午三点开会，提前一天叫我", "开会", 1440},
           {"明天下午三点开会，会前一刻钟提醒我", "开会", 15},
           {"我明天下午三点有个会，提前10分钟提醒我", "会", 10},
           {"明天下午三点聚餐，记得提前半小时提醒我", "聚餐", 30},
           {"明天下午三点开会，提前10分钟提醒我，在三号会议室", "开会", 10},
           {"Lunch with Wei tomorrow at 3 pm, remind me 10 minutes before", "Lunch with Wei", 10},
           {"Remind me half an hour before lunch with Wei tomorrow at 3 pm", "Lunch with Wei", 30},
           {"Can you remind me 10 minutes before lunch tomorrow at 3 pm?", "Lunch", 10},
           {"Lunch tomorrow at 3 pm with a 5 minute reminder", "Lunch", 5}}) {
    auto const request = understand(words, wednesday());
    EXPECT_EQ(static_cast<int>(request.ask), static_cast<int>(Ask::create_event)) << words;
    EXPECT_EQ(static_cast<int>(request.missing), static_cast<int>(Missing::nothing)) << words;
    EXPECT_EQ(request.when.reminder, minutes) << words;
    EXPECT_EQ(request.when.start, 15 * kMinutesOfHour) << words;
    EXPECT_EQ(request.when.length, std::nullopt) << words;
    EXPECT_EQ(request.name.title, title) << words;
  }
}

TEST(OfflineSentences, USE_2_HowMuchEarlierIsNoLengthOfAnEvent) {
  for (auto const* words :
       {"明天下午三点开会，提前10分钟到", "明天下午三点开会，10分钟前到场", "明天下午三点开会，提前通知大家",
        "明天下午三点开会，提前十五分钟通知大家", "明天下午三点开会，提前10分钟和两小时提醒我",
        "Meeting tomorrow at 3 pm, be there 10 minutes early"}) {
    auto const request = understand(words, wednesday());
    EXPECT_NE(static_cast<int>(request.ask), static_cast<int>(Ask::move_event)) << words;
    EXPECT_EQ(request.when.length, std::nullopt) << words;
    EXPECT_EQ(request.when.reminder, std::nullopt) << words;
  }
}

TEST(OfflineSentences, USE_2_OnlyACommandPutsOffAnEvent) {
  expect_ask(Ask::move_event,
             {"把明天的会推迟一小时", "明天的会推迟一小时", "把明天的会推迟一小时吧",
              "明天的例会提前半小时开始", "明天请把例会推迟一小时", "我们把例会推迟一小时吧",
              "把例会延后一天，谢谢", "请把明天的会延迟10分钟一下", "Put off lunch by 30 minutes",
              "Bring lunch forward by 30 minutes", "Push lunch back by an hour"});
  expect_no_change({"提前10分钟提醒我", "明天提前10分钟到公司", "飞机延迟两小时起飞", "推迟10分钟提醒我",
                    "明天下午三点通知大家会议推迟一小时", "午饭推迟半小时吃", "我想提前十分钟下班",
                    "明天下午三点的会推迟", "明天下午三点的会延期", "明天下午三点的例会改时间",
                    "明天下午三点的例会往后推半小时", "明天下午三点的例会延长半小时",
                    "把明天下午三点的会推迟一点", "Put off lunch tomorrow",
                    "Lunch tomorrow at 3 pm put off"});
}

TEST(OfflineSentences, USE_2_AReminderThatIsSpokenOfChangesNoEvent) {
  expect_no_change({"取消提前10分钟提醒我", "不用提前10分钟提醒我", "把明天下午三点的会提前10分钟提醒我",
                    "王伟提前10分钟提醒我明天下午三点开会",
                    "Wei will remind me 10 minutes before lunch tomorrow at 12:30",
                    "I set a reminder 10 minutes before lunch tomorrow at 12:30",
                    "Show me the reminder 10 minutes before lunch tomorrow at 12:30",
                    "Stop the call and remind me 10 minutes before lunch tomorrow at 12:30"});
  for (auto const* words :
       {"Cancel the reminder 10 minutes before lunch", "Move the reminder 10 minutes before lunch to 1 pm"}) {
    auto const terms = understand(words, wednesday()).words.terms;
    EXPECT_EQ(std::count(terms.begin(), terms.end(), "reminder"), 1) << words;
  }
}

TEST(OfflineSentences, USE_2_NegationsChangeNothing) {
  expect_no_change({"No meeting tomorrow at 10", "There will be no lunch tomorrow at 12:30",
                    "Skip lunch tomorrow at 12:30", "Skipping the standup tomorrow at 9:30",
                    "Lunch tomorrow at 12:30 without Ann", "Forget about lunch tomorrow at 12:30",
                    "Forget lunch tomorrow at 12:30", "Plan no meetings tomorrow at 10",
                    "Unable to attend the meeting tomorrow at 3", "Nobody has lunch tomorrow at 12:30",
                    "No 3 pm meeting tomorrow", "No, cancel lunch tomorrow", "Any meeting tomorrow at 3",
                    "明天上午十点无会议", "跳过明天上午十点的例会", "明天上午十点停课"});
}

TEST(OfflineSentences, USE_2_AWordLikeANegationIsNone) {
  expect_ask(Ask::create_event,
             {"Team meeting tomorrow at 3 pm in No. 5 room", "Team meeting in room no 5 tomorrow at 3 pm",
              "Skip-level meeting tomorrow at 3 pm", "Lunch with Wei tomorrow at 12:30, no rush",
              "Remind me to call Ann tomorrow at 3, no later", "明天下午三点改革座谈", "明天下午三点的会议",
              "明天下午三点的会在三号会议室", "明天下午三点和太太吃饭", "明天下午三点开会前提醒我带电脑",
              "明天下午三点准时提醒我开会", "Put off-site planning on Friday at 3 in my calendar",
              "Bring cake to the party tomorrow at 8", "Remind me to skip lunch tomorrow at 12:30"});
  expect_ask(Ask::find_contact, {"What is Ann's phone no.?"});
}

TEST(OfflineSentences, USE_2_ReportsChangeNothing) {
  expect_no_change({"The meeting at 3 pm went well",
                    "Lunch at 12 took too long",
                    "The call at 10 ran over",
                    "Dinner at 7 felt very long",
                    "The meeting at 3 pm got out of hand",
                    "The review at 4 began late",
                    "The party at 8 ended",
                    "Left the meeting at 3",
                    "Met Ann for lunch at 12",
                    "Book club at 7 pm was great",
                    "Thanks for lunch at 12",
                    "Running late for the meeting at 3 pm",
                    "Lunch tomorrow at 12:30 would be nice",
                    "The meeting two days ago at 3 pm",
                    "早上九点的会很无聊",
                    "上午十点的例会非常顺利",
                    "下午三点的会真烦",
                    "上次下午三点的例会",
                    "三天前下午三点开会",
                    "他明天下午三点开会",
                    "明天下午三点可能开会",
                    "希望明天下午三点开会",
                    "王伟提醒我明天下午三点开会",
                    "领导让我明天下午三点开会",
                    "Call me a bit before 3 pm",
                    "Just back from the gym at 6",
                    "去年12月3日生日",
                    "上个月3号下午三点开会",
                    "下午两点半的咖啡太苦",
                    "明天下午三点的例会王伟会迟到",
                    "明天下午三点的例会取消通知大家"});
}

TEST(OfflineSentences, USE_2_AMentionOfATimeThatHasPassedIsNoEventToCome) {
  auto const evening = moment_at("2026-11-18T20:00:00+08:00", "Asia/Shanghai");

  EXPECT_EQ(static_cast<int>(understand("Lunch with Wei at 12:30", evening).ask),
            static_cast<int>(Ask::nothing));
  EXPECT_EQ(static_cast<int>(understand("下午三点和王伟开会", evening).ask), static_cast<int>(Ask::nothing));
  EXPECT_EQ(static_cast<int>(understand("晚上九点和王伟开会", evening).ask),
            static_cast<int>(Ask::create_event));
  EXPECT_EQ(static_cast<int>(understand("安排下午三点和王伟开会", evening).ask),
            static_cast<int>(Ask::create_event));
}

TEST(OfflineSentences, USE_2_ALittleIsNoTime) {
  expect_no_change({"明天早一点提醒我开会", "提醒我早一点开会", "明天晚一点开会", "提醒我一点儿事",
                    "提醒我明天一点点开会", "明天有一点事要开会", "把明天的会推迟到晚一点",
                    "Move lunch a little later", "Remind me a bit earlier tomorrow"});
  EXPECT_NE(static_cast<int>(understand("记得买一点水果", wednesday()).ask),
            static_cast<int>(Ask::create_event));
}

TEST(OfflineSentences, USE_2_QuestionsAreNotRemembered) {
  for (auto const* words :
       {"你记得我吗", "你能记住我的名字吗？", "你记得我的生日吗", "你记得我喜欢喝茶吗？",
        "你能记得我喜欢喝茶吗", "记住我好吗", "Can you remember that?", "Remember this", "记住了吗？",
        "记住了", "Remember when we met?", "Remember when we met", "Can you remember my birthday?",
        "Could you remember what I like?", "Will you remember me?", "Remember me?", "Remember Ann?"}) {
    EXPECT_NE(static_cast<int>(understand(words, wednesday()).ask), static_cast<int>(Ask::remember)) << words;
  }
  expect_no_change({"Remind me what I have tomorrow at 3"});
}

TEST(OfflineSentences, USE_2_APoliteRequestIsRemembered) {
  for (auto const& [words, value] : std::vector<std::pair<char const*, char const*>>{
           {"你能帮我记住我喜欢喝茶吗？", "喝茶"},
           {"请记住我的生日是5月3日，好吗？", "我的生日是5月3日"},
           {"能帮我记一下我住在北京吗", "我住在北京"},
           {"记住我喜欢喝茶，好吗？", "喝茶"},
           {"Can you remember that I prefer mornings?", "mornings"},
           {"Could you remember my name is Ann?", "Ann"},
           {"Please remember my birthday", "my birthday"}}) {
    auto const request = understand(words, wednesday());
    EXPECT_EQ(static_cast<int>(request.ask), static_cast<int>(Ask::remember)) << words;
    EXPECT_EQ(request.note.value, value) << words;
  }
}

TEST(OfflineSentences, USE_2_MoreEverydaySentencesChangeNothing) {
  expect_no_change({"王伟没提醒我明天下午三点开会",
                    "你怎么不提前10分钟提醒我",
                    "昨天你提前10分钟提醒我了",
                    "明天下午三点开会，对吧",
                    "我记得明天下午三点开会",
                    "会议延期到下周，是真的吗",
                    "午饭晚一点吃",
                    "明天多睡一点",
                    "今天有一点累，不开会",
                    "Did you remind me 10 minutes before the meeting at 3?",
                    "Don't remind me 10 minutes before lunch tomorrow at 12:30",
                    "I forgot the meeting at 3 pm",
                    "Was the meeting at 3 pm postponed?",
                    "Lunch tomorrow at 12:30 got put off by an hour",
                    "Why was lunch moved to 1 pm?",
                    "Do you remember lunch at 12?",
                    "Slept a little at 3 pm after the call",
                    "Nothing planned for lunch tomorrow at 12",
                    "Neither lunch nor dinner tomorrow at 7",
                    "例会可能推迟一小时",
                    "王伟把例会推迟一小时",
                    "王伟把明天的会改到三点",
                    "王伟把明天的会取消",
                    "Worst meeting ever at 3 pm",
                    "例会被推迟了一小时"});
}

}  // namespace
}  // namespace runnel::model
