#include "runnel/model/builtin/offline_request.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runnel/model/builtin/offline_wording.h"
#include "runnel/model/testing/offline_moment.h"

namespace runnel::model {
namespace {

struct Understood {
  char const* words;
  Ask ask;
  Missing missing = Missing::nothing;
};

void expect_understood(std::vector<Understood> const& all) {
  for (auto const& each : all) {
    auto const request = understand(each.words, wednesday());
    EXPECT_EQ(static_cast<int>(request.ask), static_cast<int>(each.ask)) << each.words;
    EXPECT_EQ(static_cast<int>(request.missing), static_cast<int>(each.missing)) << each.words;
  }
}

TEST(OfflineRequest, USE_2_EventsToCome) {
  expect_understood({{"明天上午十点和王伟开会", Ask::create_event},
                     {"下周三下午3点到4点半 项目评审，在三号会议室", Ask::create_event},
                     {"后天休假一天", Ask::create_event},
                     {"请帮我安排明天下午两点的面试", Ask::create_event},
                     {"明天上午帮我安排一个会，十点", Ask::create_event},
                     {"提醒我明天八点喝水", Ask::create_event},
                     {"记得明天十点交报告", Ask::create_event},
                     {"每周一上午九点例会", Ask::create_event},
                     {"你能帮我约王伟明天三点见面吗？", Ask::create_event},
                     {"12月1日到3日出差", Ask::create_event},
                     {"两小时后开会", Ask::create_event},
                     {"Lunch with Wei tomorrow at 12:30 for 45 minutes", Ask::create_event},
                     {"Schedule a team meeting on 2026-12-01 from 3pm to 4pm", Ask::create_event},
                     {"Holiday on Friday, all day", Ask::create_event},
                     {"Could you book a table review for tomorrow at 9?", Ask::create_event},
                     {"Standup every weekday at 9:30", Ask::create_event},
                     {"Remind me to call Ann tomorrow at 5", Ask::create_event},
                     {"Please add dinner on Friday at 7 pm to my calendar", Ask::create_event}});
}

TEST(OfflineRequest, USE_2_QuestionsAboutTheCalendar) {
  expect_understood({{"今天有什么安排", Ask::read_events},
                     {"明天有什么会议？", Ask::read_events},
                     {"12月3日有会吗", Ask::read_events},
                     {"我这周忙吗？", Ask::read_events},
                     {"明天十点开会吗？", Ask::read_events},
                     {"看看下周的日程", Ask::read_events},
                     {"和王伟的会是什么时候？", Ask::find_event},
                     {"What do I have this week?", Ask::read_events},
                     {"What's on my Calendar?", Ask::read_events},
                     {"Am I free on Friday?", Ask::read_events},
                     {"Show my calendar for next week", Ask::read_events},
                     {"Do I have any meetings tomorrow?", Ask::read_events},
                     {"When is lunch with Wei?", Ask::find_event},
                     {"我有哪些邀请？", Ask::read_invites},
                     {"Do I have any invitations?", Ask::read_invites}});
}

TEST(OfflineRequest, USE_2_ChangesOfEvents) {
  expect_understood({{"把和王伟的会改到下午三点", Ask::move_event},
                     {"明天的例会推迟到四点", Ask::move_event},
                     {"把明天的例会推迟一小时", Ask::move_event},
                     {"请把周五的评审提前到周四", Ask::move_event},
                     {"Move lunch to 1pm tomorrow", Ask::move_event},
                     {"Can you reschedule the team meeting to Friday?", Ask::move_event},
                     {"Postpone lunch by 30 minutes", Ask::move_event},
                     {"Move the MEETING to 3 pm", Ask::move_event, Missing::event},
                     {"取消明天的例会", Ask::delete_event},
                     {"把明天的会取消了吧", Ask::delete_event},
                     {"能不能帮我删除周五的聚餐", Ask::delete_event},
                     {"Delete the team meeting", Ask::delete_event},
                     {"Please cancel lunch tomorrow", Ask::delete_event},
                     {"邀请王伟参加明天的会", Ask::share_event},
                     {"把明天的会分享给王伟", Ask::share_event},
                     {"Invite Wei to lunch", Ask::share_event},
                     {"Share tomorrow's lunch with Wei", Ask::share_event},
                     {"接受午饭的邀请", Ask::accept_invite},
                     {"接受邀请", Ask::accept_invite},
                     {"Accept the invitation to lunch", Ask::accept_invite},
                     {"拒绝王伟的邀请", Ask::reject_invite},
                     {"Decline the invitation", Ask::reject_invite}});
}

TEST(OfflineRequest, USE_2_ContactsAndMemory) {
  expect_understood({{"王伟的电话是多少", Ask::find_contact},
                     {"查一下张三的邮箱", Ask::find_contact},
                     {"Find Ann's e-mail", Ask::find_contact},
                     {"What is Ann's phone number?", Ask::find_contact},
                     {"记住我喜欢喝茶", Ask::remember},
                     {"请记住：我不喜欢咖啡", Ask::remember},
                     {"Remember that I prefer mornings", Ask::remember},
                     {"Remember that Ann's birthday is on May 3", Ask::remember},
                     {"记住我的密码是1234", Ask::remember, Missing::no_secret},
                     {"Remember my password is hunter2", Ask::remember, Missing::no_secret},
                     {"你记得我什么", Ask::recall},
                     {"你还记得我的哪些事？", Ask::recall},
                     {"What do you remember about me?", Ask::recall}});
}

TEST(OfflineRequest, USE_2_WhatIsMissingIsAskedFor) {
  expect_understood(
      {{"安排和王伟开会", Ask::create_event, Missing::time},
       {"提醒我喝水", Ask::create_event, Missing::time},
       {"Schedule lunch with Wei", Ask::create_event, Missing::time},
       {"明天下午和王伟开会，安排一下", Ask::nothing},
       {"安排明天下午和王伟开会", Ask::create_event, Missing::time},
       {"明天25点开会", Ask::create_event, Missing::possible_time},
       {"1000000000点开会", Ask::create_event, Missing::possible_time},
       {"Schedule lunch today at 8am", Ask::create_event, Missing::time_to_come},
       {"Schedule lunch tomorrow at 12 and Friday at 1pm", Ask::create_event, Missing::one_time},
       {"取消会议", Ask::delete_event, Missing::event},
       {"Cancel it", Ask::delete_event, Missing::event},
       {"Move lunch", Ask::move_event, Missing::time},
       {"邀请王伟", Ask::share_event, Missing::event},
       {"Find the phone number", Ask::find_contact, Missing::person}});
}

TEST(OfflineRequest, USE_2_NothingIsDoneForOtherSentences) {
  for (auto const* words : {"Hello, who are you?",
                            "hello",
                            "I had lunch yesterday",
                            "I have a meeting tomorrow at 10",
                            "what is a calendar?",
                            "What is an invitation?",
                            "How do I delete an event?",
                            "How do I schedule a meeting?",
                            "Don't cancel the meeting",
                            "Do not move lunch to 1pm",
                            "Never invite Wei to lunch",
                            "Cancel the meeting if it rains tomorrow",
                            "Wei cancelled the meeting tomorrow at 3pm",
                            "The meeting was moved to 3pm",
                            "Translate 'lunch tomorrow at 12' into German",
                            "Write a poem about lunch tomorrow at 12",
                            "Is there a meeting room called Mars?",
                            "Make me laugh",
                            "Book recommendations please",
                            "Add 2 and 3",
                            "Change the world",
                            "Tell me a joke",
                            "prevent it",
                            "contactless",
                            "你好",
                            "你是谁？",
                            "什么是日历？",
                            "日历是什么",
                            "怎么取消会议？",
                            "不要取消会议",
                            "别把明天的会改到三点",
                            "明天十点不开会",
                            "我昨天和王伟开会了",
                            "昨天上午十点和王伟开会",
                            "王伟取消了明天的会",
                            "会议已经取消",
                            "如果下雨就取消明天的会",
                            "王伟说明天十点开会",
                            "我明天上午十点有个会",
                            "翻译：明天上午十点开会",
                            "王伟接受了邀请",
                            "现在几点？",
                            "今天有什么新闻？",
                            "今天天气怎么样",
                            "不要邀请王伟参加明天的会",
                            "你会说英语吗",
                            "What is the number of planets?",
                            "Note that I already told you",
                            "12345",
                            "2026",
                            "...",
                            "?",
                            ""}) {
    EXPECT_EQ(static_cast<int>(understand(words, wednesday()).ask), static_cast<int>(Ask::nothing)) << words;
  }
}

TEST(OfflineRequest, USE_2_NewEventsHaveTitleAndPlace) {
  struct Named {
    char const* words;
    char const* title;
    char const* location;
  };
  for (auto const& [words, title, location] :
       std::vector<Named>{{"明天上午十点和王伟开会", "和王伟开会", ""},
                          {"下周三下午3点到4点半 项目评审，在三号会议室", "项目评审", "三号会议室"},
                          {"明天下午三点在三号会议室和王伟开会", "和王伟开会", "三号会议室"},
                          {"后天休假一天", "休假", ""},
                          {"每周一上午九点例会", "例会", ""},
                          {"请帮我安排明天下午两点的面试", "面试", ""},
                          {"提醒我明天八点喝水", "喝水", ""},
                          {"明天十点在线会议", "在线会议", ""},
                          {"Lunch with Wei tomorrow at 12:30 for 45 minutes", "Lunch with Wei", ""},
                          {"Schedule a team meeting on 2026-12-01 from 3pm to 4pm", "Team meeting", ""},
                          {"Team meeting tomorrow at 3pm in room 3", "Team meeting", "room 3"},
                          {"Holiday on Friday, all day", "Holiday", ""},
                          {"Please add dinner on Friday at 7 pm to my calendar", "Dinner", ""},
                          {"Remind me to call Ann tomorrow at 5", "Call Ann", ""}}) {
    auto const name = understand(words, wednesday()).name;
    EXPECT_EQ(name.title, title) << words;
    EXPECT_EQ(name.location, location) << words;
  }
}

TEST(OfflineRequest, USE_2_PeopleAreNamedWithoutTheWordsAroundThem) {
  for (auto const& [words, person] :
       std::vector<std::pair<char const*, char const*>>{{"王伟的电话是多少", "王伟"},
                                                        {"帮我查一下张三的邮箱", "张三"},
                                                        {"Find Ann's e-mail", "Ann"},
                                                        {"What is Wang Wei's phone number?", "Wang Wei"},
                                                        {"邀请王伟参加明天的会", "王伟"},
                                                        {"把明天的会分享给王伟", "王伟"},
                                                        {"Invite Wei to lunch", "Wei"},
                                                        {"Share tomorrow's lunch with Ann Lee", "Ann Lee"}}) {
    EXPECT_EQ(understand(words, wednesday()).person, person) << words;
  }
}

TEST(OfflineRequest, USE_2_NotesGoToTheFieldThatFits) {
  struct Noted {
    char const* words;
    char const* kind;
    char const* field;
    char const* value;
  };
  for (auto const& [words, kind, field, value] : std::vector<Noted>{
           {"记住我喜欢喝茶", "user", "likes", "喝茶"},
           {"请记住：我不喜欢咖啡。", "user", "dislikes", "咖啡"},
           {"记住我叫王伟", "user", "preferred_name", "王伟"},
           {"记住我在示例公司工作", "work_profile", "organization", "示例公司"},
           {"记住周五穿正装", "user", "notes", "周五穿正装"},
           {"Remember that I prefer mornings", "user", "likes", "mornings"},
           {"remember I don't like early meetings.", "user", "dislikes", "early meetings"},
           {"Please remember that my name is Ann", "user", "preferred_name", "Ann"},
           {"Remember that I work as a designer", "work_profile", "role", "designer"},
           {"Remember that the spare key is at Ann's", "user", "notes", "the spare key is at Ann's"}}) {
    auto const note = understand(words, wednesday()).note;
    EXPECT_EQ(note.kind, kind) << words;
    EXPECT_EQ(note.field, field) << words;
    EXPECT_EQ(note.value, value) << words;
  }
}

TEST(OfflineRequest, USE_2_EverythingThatIsSuggestedIsUnderstood) {
  for (auto const ask :
       {Ask::nothing, Ask::create_event, Ask::read_events, Ask::find_event, Ask::read_invites,
        Ask::move_event, Ask::delete_event, Ask::share_event, Ask::accept_invite, Ask::reject_invite,
        Ask::find_contact, Ask::remember, Ask::recall}) {
    for (bool const chinese : {false, true}) {
      auto all = suggestions(ask, chinese);
      EXPECT_EQ(all.size(), ask == Ask::nothing ? 3U : 2U);
      all.push_back(example_of(ask, chinese));
      for (auto const& words : all) {
        auto const request = understand(words, wednesday());
        EXPECT_NE(static_cast<int>(request.ask), static_cast<int>(Ask::nothing)) << words;
        EXPECT_EQ(static_cast<int>(request.missing), static_cast<int>(Missing::nothing)) << words;
        EXPECT_EQ(request.chinese, chinese) << words;
      }
    }
  }
}

TEST(OfflineRequest, USE_2_HostileTextAsksForNothing) {
  std::string const long_text(300'000, '9');
  std::string many_words;
  for (int i = 0; i < 50'000; ++i)
    many_words += "取消";
  for (auto const& words : {long_text, many_words, std::string{"\xff\xfe\x80 cancel"},
                            std::string(400, '\xe5'), std::string{"\0\0", 2}, std::string(390, ':')})
    EXPECT_EQ(static_cast<int>(understand(words, wednesday()).ask), static_cast<int>(Ask::nothing));
  EXPECT_EQ(static_cast<int>(understand(std::string(399, '9') + "点", wednesday()).ask),
            static_cast<int>(Ask::nothing));
}

}  // namespace
}  // namespace runnel::model
