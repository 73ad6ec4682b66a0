#include "runnel/model/builtin/offline.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <numeric>

#include "runnel/core/json/parse.h"
#include "runnel/core/text/text.h"
#include "tests/support/model_request.h"
#include "tests/support/run_async.h"

namespace runnel::model {
namespace {

std::string joined(std::vector<std::string> const& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::string{});
}

TEST(OfflineModel, USE_2_SaysWhatItIsInTheLanguageOfTheMessage) {
  EXPECT_NE(joined(offline_answer("Who are you?", {})).find("built-in offline model"), std::string::npos);
  EXPECT_NE(joined(offline_answer("你是谁?", {})).find("内置的离线模型"), std::string::npos);
}

TEST(OfflineModel, PiecesAreWordsAndWholeCharacters) {
  for (auto const* message : {"hello world", "你好 world", "a\nb  c", "🙂🙂", ""}) {
    auto const pieces = offline_answer(message, {});
    EXPECT_GT(pieces.size(), 20U) << message;
    for (auto const& piece : pieces)
      EXPECT_TRUE(is_utf8(piece)) << message;
  }
}

TEST(OfflineModel, SameMessageSameAnswer) {
  EXPECT_EQ(offline_answer("again", {}), offline_answer("again", {}));
}

TEST(OfflineModel, PadsToTheWantedNumberOfWords) {
  OfflineOptions options;
  options.words = 500;
  EXPECT_EQ(offline_answer("long", options).size(), 500U);
}

boost::asio::awaitable<std::pair<std::string, ReportedUsage>> read_all(OfflineProvider& provider,
                                                                       CallRequest request) {
  auto const call = provider.call(std::move(request));
  std::pair<std::string, ReportedUsage> all;
  auto const cancel = std::make_shared<base::Cancel>();
  for (;;) {
    auto const events = co_await call->next(cancel);
    for (auto const& event : events.value()) {
      if (auto const* text = std::get_if<TextPiece>(&event)) all.first += text->text;
      if (auto const* finished = std::get_if<CallFinished>(&event)) {
        all.second = finished->usage;
        co_return all;
      }
    }
  }
}

CallRequest offline_question(std::string contract, std::string text) {
  auto request = ask("offline", "the task, which is not the user's");
  request.user_text = std::move(text);
  request.contract = std::move(contract);
  return request;
}

std::string output_for(std::string contract, std::string text, OfflineOptions const& options = {}) {
  return joined(offline_output(offline_question(std::move(contract), std::move(text)), options));
}

TEST(OfflineModel, USE_2_AnswersWhatTheUserSaid) {
  EXPECT_EQ(output_for("", "hi"), joined(offline_answer("hi", {})));
  EXPECT_EQ(output_for("OwnContract", "hi"), joined(offline_answer("hi", {})));

  auto request = ask("offline", "question");
  request.messages.emplace_back().speaker = Speaker::tool;
  EXPECT_EQ(offline_output(request, {}), offline_answer("question", {}));
  request.messages.clear();
  EXPECT_EQ(offline_output(request, {}), offline_answer("", {}));
}

TEST(OfflineModel, FLOW_4_RouterResult) {
  EXPECT_EQ(output_for("RouterResult", "hi \"you\""),
            R"({"intent_summary":"The user wrote “hi \"you\"”","route":"NEEDS_EXECUTION",)"
            R"("execution_brief":"Answer the user.","safety_flags":[]})");
  EXPECT_EQ(output_for("RouterResult", "明天有什么会议？"),
            R"({"intent_summary":"关于日历的请求：「明天有什么会议？」","route":"NEEDS_EXECUTION",)"
            R"("execution_brief":"处理关于日历的请求。","safety_flags":[]})");
}

TEST(OfflineModel, FLOW_4_IntentResultIsDirectWhereNoToolIsNeeded) {
  EXPECT_EQ(output_for("IntentResult", "hi"),
            R"({"route":"DIRECT_EXECUTION","intent_summary":"The user wrote “hi”","safety_flags":[],)"
            R"("assistant_text":")" +
                joined(offline_answer("hi", {})) + R"("})");
  EXPECT_EQ(output_for("IntentResult", "What's on my Calendar?"),
            R"({"route":"NEEDS_EXECUTION","intent_summary":"A request about the calendar: )"
            R"(“What's on my Calendar?”","safety_flags":[],)"
            R"("execution_brief":"Serve the request about the calendar."})");
}

TEST(OfflineModel, USE_2_KnowsWhatTheDemosToolsAreFor) {
  auto const topic_of = [](std::string const& text) -> std::string {
    auto const output = output_for("RouterResult", text);
    for (auto const* topic : {"about the calendar", "about the contacts", "about the memory", "关于日历",
                              "关于联系人", "关于记忆"}) {
      if (output.find(topic) != std::string::npos) return topic;
    }
    return "";
  };
  EXPECT_EQ(topic_of("Move the MEETING to 3 pm"), "about the calendar");
  EXPECT_EQ(topic_of("find Ann's phone number"), "about the contacts");
  EXPECT_EQ(topic_of("Remember: I like tea"), "about the memory");
  EXPECT_EQ(topic_of("提醒我喝水"), "关于日历");
  EXPECT_EQ(topic_of("查一下张三的电话"), "关于联系人");
  EXPECT_EQ(topic_of("记住我喜欢茶"), "关于记忆");
  for (auto const* text : {"", "hello", "prevent it", "contactless", "你好", "\xff\xfe"})
    EXPECT_EQ(topic_of(text), "") << text;
}

TEST(OfflineModel, FLOW_4_ExecutionResultSaysThatNothingWasDone) {
  EXPECT_EQ(
      output_for("ExecutionResult", "my calendar"),
      R"({"status":"PARTIAL","execution_summary":"I have no tools, so nothing was looked up or changed.",)"
      R"("execution_data":{},"report_brief":"Say that nothing was done, and why."})");
  EXPECT_EQ(output_for("ExecutionResult", "日历"),
            R"({"status":"PARTIAL","execution_summary":"我没有工具，所以没有查询或更改任何内容。",)"
            R"("execution_data":{},"report_brief":"说明没有执行任何操作及其原因。"})");
}

TEST(OfflineModel, FLOW_4_OrganizationResult) {
  EXPECT_EQ(output_for("OrganizationResult", "my calendar"),
            R"({"response_metadata":{},"assistant_text":")" + joined(offline_answer("my calendar", {})) +
                R"( I have no tools, so nothing was looked up or changed."})");
}

TEST(OfflineModel, FLOW_4_WorkerResult) {
  EXPECT_EQ(output_for("WorkerResult", "hi"),
            R"({"status":"SUCCESS","suggested_actions":["Cut the connection and resume",)"
            R"("Look at this run's history","Connect a real model"],"key_points":[],"result_type":"unknown",)"
            R"("answer":")" +
                joined(offline_answer("hi", {})) + R"("})");
  EXPECT_EQ(
      output_for("WorkerResult", "日历"),
      R"({"status":"PARTIAL","suggested_actions":["断开连接后继续读取","查看这次运行的历史","接入真正的模型"],)"
      R"("key_points":[],"result_type":"execution_report","answer":")" +
          joined(offline_answer("日历", {})) + R"(我没有工具，所以没有查询或更改任何内容。"})");
}

TEST(OfflineModel, FLOW_4_ObjectsAreValidAndTheTextIsPadded) {
  OfflineOptions options;
  options.words = 300;
  std::pair<char const*, char const*> const texts[] = {{"WorkerResult", "answer"},
                                                       {"IntentResult", "assistant_text"},
                                                       {"OrganizationResult", "assistant_text"}};
  for (auto const* text : {"hi", "a \"b\"\\\n\x01", "日 é 🙂"}) {
    for (auto const* contract : {"RouterResult", "ExecutionResult"})
      EXPECT_FALSE(check_json_text(output_for(contract, text, options))) << contract;
    for (auto const& [contract, field] : texts) {
      auto const object = boost::json::parse(output_for(contract, text, options)).as_object();
      EXPECT_EQ((object.end() - 1)->key(), field);
      EXPECT_EQ(count_offline_tokens(std::string{object.at(field).as_string()}), 300) << contract;
    }
  }
}

TEST(OfflineModel, FLOW_4_CallStreamsTheObjectInWords) {
  OfflineProvider provider{{std::chrono::microseconds{0}, 0}};
  auto const pieces = offline_output(offline_question("WorkerResult", "hi"), {});

  auto const [text, usage] = run_async(read_all(provider, offline_question("WorkerResult", "hi")));

  EXPECT_GT(pieces.size(), 40U);
  EXPECT_EQ(text, joined(pieces));
  EXPECT_EQ(usage.output_tokens, static_cast<std::int64_t>(pieces.size()));
}

TEST(OfflineModel, CallStreamsTheAnswerAndCountsItsTokens) {
  OfflineProvider provider{{std::chrono::microseconds{0}, 0}};

  auto const [text, usage] = run_async(read_all(provider, ask("offline", "three small words")));

  EXPECT_EQ(text, joined(offline_answer("three small words", {})));
  EXPECT_EQ(usage.input_tokens, 3);
  EXPECT_EQ(usage.output_tokens, static_cast<std::int64_t>(offline_answer("three small words", {}).size()));
  EXPECT_EQ(usage.total_tokens, *usage.input_tokens + *usage.output_tokens);
  EXPECT_EQ(usage.cost, std::nullopt);
  EXPECT_EQ(provider.name(), "offline");
}

boost::asio::awaitable<Errc> next_when_canceled(OfflineProvider& provider) {
  auto const call = provider.call(ask("offline", "x"));
  auto const cancel = std::make_shared<base::Cancel>();
  cancel->request(base::CancelReason::user);
  auto const events = co_await call->next(cancel);
  co_return events.error().code;
}

TEST(OfflineModel, CanceledCallStops) {
  OfflineProvider provider{{std::chrono::hours{1}, 0}};
  EXPECT_EQ(run_async(next_when_canceled(provider)), Errc::canceled);
}

}  // namespace
}  // namespace runnel::model
