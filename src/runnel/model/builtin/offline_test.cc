#include "runnel/model/builtin/offline.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runnel/core/json/parse.h"
#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_words.h"
#include "runnel/model/testing/offline_moment.h"
#include "tests/support/model_request.h"
#include "tests/support/run_async.h"

namespace runnel::model {
namespace {

struct Said {
  std::string text;
  std::vector<ToolCallPiece> pieces;
  CallFinished end;
};

boost::asio::awaitable<Said> read_all(CallRequest request, OfflineOptions options) {
  OfflineProvider provider{options};
  auto const call = provider.call(std::move(request));
  Said all;
  auto const cancel = std::make_shared<base::Cancel>();
  for (;;) {
    auto const events = co_await call->next(cancel);
    for (auto const& event : events.value()) {
      if (auto const* text = std::get_if<TextPiece>(&event)) all.text += text->text;
      if (auto const* piece = std::get_if<ToolCallPiece>(&event)) all.pieces.push_back(*piece);
      if (auto const* finished = std::get_if<CallFinished>(&event)) {
        all.end = *finished;
        co_return all;
      }
    }
  }
}

Said say(CallRequest request) {
  OfflineOptions options;
  options.word_delay = std::chrono::microseconds{0};
  return run_async(read_all(std::move(request), options));
}

CallRequest offline_question(std::string contract, std::string text) {
  auto request = ask("offline", "the task, which is not the user's");
  request.user_text = std::move(text);
  request.contract = std::move(contract);
  request.now_ms = wednesday().now_ms;
  request.timezone = "Asia/Shanghai";
  request.opening_messages = request.messages.size();
  return request;
}

CallRequest with_tool(CallRequest request) {
  request.tools.push_back({"project_cli", "calls methods", "{}"});
  return request;
}

// The model's call of a tool and what it gave.
void add_result(CallRequest& request, ToolCall const& call, std::string result) {
  request.messages.emplace_back().speaker = Speaker::assistant;
  request.messages.back().tool_calls.push_back(call);
  request.messages.emplace_back().speaker = Speaker::tool;
  request.messages.back().tool_call_id = call.id;
  request.messages.back().text = std::move(result);
}

std::string output_for(std::string contract, std::string text, OfflineOptions const& options = {}) {
  return std::get<std::string>(
      offline_output(offline_question(std::move(contract), std::move(text)), options));
}

boost::json::object object_for(std::string contract, std::string text, OfflineOptions const& options = {}) {
  return boost::json::parse(output_for(std::move(contract), std::move(text), options)).as_object();
}

bool has(boost::json::value const& text, std::string_view part) {
  return std::string_view{text.as_string()}.find(part) != std::string_view::npos;
}

TEST(OfflineModel, USE_2_SaysWhatItIsInTheLanguageOfTheMessage) {
  EXPECT_NE(output_for("", "Who are you?").find("built-in offline model"), std::string::npos);
  EXPECT_NE(output_for("", "Who are you?").find("not a language model"), std::string::npos);
  EXPECT_NE(output_for("", "你是谁?").find("内置的离线模型"), std::string::npos);
}

TEST(OfflineModel, PiecesAreWordsAndWholeCharacters) {
  for (auto const* message : {"hello world", "你好 world", "a\nb  c", "🙂🙂", ""}) {
    auto const pieces = split_words(output_for("", message));
    EXPECT_GT(pieces.size(), 20U) << message;
    for (auto const& piece : pieces)
      EXPECT_TRUE(is_utf8(piece)) << message;
  }
}

TEST(OfflineModel, TokensAreTheWordsThatATextIsSplitInto) {
  struct Counted {
    std::string text;
    std::int64_t tokens;
  };
  for (auto const& [text, tokens] :
       std::vector<Counted>{{"", 0},
                            {"one", 1},
                            {"three small words", 3},
                            {"  a\n\nb  ", 3},
                            {" \n", 1},
                            {"你好 world", 3},
                            {"a你b", 3},
                            {"🙂 é\t日", 3},
                            {"\xff \xe5\xe5 \x80", 3},
                            {std::string(1'000, 'x') + " " + std::string(1'000, 'y'), 2}}) {
    EXPECT_EQ(count_offline_tokens(text), tokens) << text;
    EXPECT_EQ(static_cast<std::int64_t>(split_words(text).size()), tokens) << text;
    std::string joined;
    for (auto const& word : split_words(text))
      joined += word;
    EXPECT_EQ(joined, text);
  }
}

TEST(OfflineModel, SameMessageSameAnswer) {
  EXPECT_EQ(output_for("", "again"), output_for("", "again"));
}

TEST(OfflineModel, PadsToTheWantedNumberOfWords) {
  OfflineOptions options;
  options.words = 500;
  EXPECT_EQ(split_words(output_for("", "long", options)).size(), 500U);
}

TEST(OfflineModel, USE_2_AnswersWhatTheUserSaid) {
  EXPECT_EQ(output_for("", "hi"), output_for("OwnContract", "hi"));

  auto request = ask("offline", "question");
  request.messages.emplace_back().speaker = Speaker::tool;
  EXPECT_EQ(std::get<std::string>(offline_output(request, {})), output_for("", "question"));
  request.messages.clear();
  EXPECT_NE(std::get<std::string>(offline_output(request, {})).find("(0 characters)"), std::string::npos);
}

TEST(OfflineModel, FLOW_4_RouterResult) {
  EXPECT_EQ(output_for("RouterResult", "hi \"you\""),
            R"({"intent_summary":"The user wrote “hi \"you\"”","route":"NEEDS_EXECUTION",)"
            R"("execution_brief":"Answer the user.","safety_flags":[]})");
  EXPECT_EQ(output_for("RouterResult", "明天有什么会议？"),
            R"({"intent_summary":"关于日历的请求：「明天有什么会议？」","route":"NEEDS_EXECUTION",)"
            R"("execution_brief":"处理关于日历的请求。","safety_flags":[]})");
  EXPECT_TRUE(
      has(object_for("RouterResult", "find Ann's phone number").at("intent_summary"), "about the contacts"));
  EXPECT_TRUE(has(object_for("RouterResult", "记住我喜欢茶").at("intent_summary"), "关于记忆"));
}

TEST(OfflineModel, FLOW_4_IntentResultIsDirectWhereNoToolIsNeeded) {
  EXPECT_EQ(output_for("IntentResult", "What's on my Calendar?"),
            R"({"route":"NEEDS_EXECUTION","intent_summary":"A request about the calendar: )"
            R"(“What's on my Calendar?”","safety_flags":[],)"
            R"("execution_brief":"Serve the request about the calendar."})");
  auto const hello = object_for("IntentResult", "hi");
  EXPECT_EQ(hello.at("route"), "DIRECT_EXECUTION");
  EXPECT_EQ(hello.at("assistant_text"), boost::json::string{output_for("", "hi")});
  // Nothing but the time is missing, which no tool knows.
  auto const asks = object_for("IntentResult", "Schedule lunch with Wei");
  EXPECT_EQ(asks.at("route"), "DIRECT_EXECUTION");
  EXPECT_TRUE(has(asks.at("assistant_text"), "When shall it be?"));
}

TEST(OfflineModel, USE_2_WithoutToolsItSaysThatNothingWasDone) {
  for (auto const* contract : {"", "WorkerResult", "ExecutionResult", "OrganizationResult"}) {
    EXPECT_NE(
        output_for(contract, "What's on my calendar?").find("I have no tools here, so nothing was looked up"),
        std::string::npos)
        << contract;
    EXPECT_NE(output_for(contract, "明天有什么会议？").find("我在这里没有工具"), std::string::npos)
        << contract;
  }
  EXPECT_EQ(object_for("ExecutionResult", "What's on my calendar?").at("status"), "PARTIAL");
  EXPECT_EQ(object_for("WorkerResult", "What's on my calendar?").at("status"), "PARTIAL");
}

TEST(OfflineModel, FLOW_4_WorkerResult) {
  auto const hello = object_for("WorkerResult", "hi");
  EXPECT_EQ(hello.at("status"), "SUCCESS");
  EXPECT_EQ(hello.at("result_type"), "unknown");
  EXPECT_EQ(hello.at("suggested_actions").as_array().size(), 3U);
  EXPECT_EQ(hello.at("answer"), boost::json::string{output_for("", "hi")});

  auto const asks = object_for("WorkerResult", "取消会议");
  EXPECT_EQ(asks.at("result_type"), "clarification");
  EXPECT_TRUE(has(asks.at("answer"), "您指的是哪个日程"));
}

TEST(OfflineModel, FLOW_4_OrganizationSaysWhatExecutionHasFound) {
  auto request = offline_question("OrganizationResult", "What's on my calendar?");
  request.earlier_results = {
      R"({"route":"NEEDS_EXECUTION","intent_summary":"x"})",
      R"({"status":"SUCCESS","execution_summary":"Nothing is planned.","report_brief":"b"})"};

  EXPECT_EQ(std::get<std::string>(offline_output(request, {})),
            R"({"response_metadata":{},"assistant_text":"Nothing is planned."})");
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
      auto const object = object_for(contract, text, options);
      EXPECT_EQ((object.end() - 1)->key(), field);
      EXPECT_EQ(count_offline_tokens(std::string{object.at(field).as_string()}), 300) << contract;
    }
  }
}

TEST(OfflineModel, FLOW_4_CallStreamsTheObjectInWords) {
  auto const expected = output_for("WorkerResult", "hi");

  auto const said = say(offline_question("WorkerResult", "hi"));

  EXPECT_EQ(said.text, expected);
  EXPECT_EQ(said.end.finish, Finish::stop);
  EXPECT_EQ(said.end.usage.output_tokens, count_offline_tokens(expected));
}

TEST(OfflineModel, CallStreamsTheAnswerAndCountsItsTokens) {
  auto const said = say(ask("offline", "three small words"));

  auto const& usage = said.end.usage;
  EXPECT_EQ(said.text, output_for("", "three small words"));
  EXPECT_EQ(usage.input_tokens, 3);
  EXPECT_EQ(usage.output_tokens, count_offline_tokens(said.text));
  EXPECT_EQ(usage.total_tokens, *usage.input_tokens + *usage.output_tokens);
  EXPECT_EQ(usage.cost, std::nullopt);
  EXPECT_EQ(OfflineProvider{OfflineOptions{}}.name(), "offline");
}

TEST(OfflineModel, USE_2_AToolCallStreamsInPieces) {
  auto const said = say(with_tool(offline_question("WorkerResult", "明天上午十点和王伟开会")));

  ASSERT_GT(said.pieces.size(), 3U);
  EXPECT_FALSE(said.pieces[0].id.empty());
  EXPECT_EQ(said.pieces[0].name, "project_cli");
  std::string arguments;
  for (auto const& piece : said.pieces) {
    EXPECT_TRUE(is_utf8(piece.arguments));
    arguments += piece.arguments;
  }
  EXPECT_EQ(
      arguments,
      R"({"module":"calendar","method":"create","input":{"title":"和王伟开会",)"
      R"("start_at":"2026-11-19T10:00:00+08:00","end_at":"2026-11-19T11:00:00+08:00"},"intent":"创建日程"})");
  EXPECT_TRUE(said.text.empty());
  EXPECT_EQ(said.end.finish, Finish::tool_calls);
  ASSERT_EQ(said.end.tool_calls.size(), 1U);
  EXPECT_EQ(said.end.tool_calls[0], (ToolCall{said.pieces[0].id, "project_cli", arguments}));
  EXPECT_GT(said.end.usage.output_tokens, 5);
}

TEST(OfflineModel, USE_2_ToolsAreCalledOnlyWhereTheyAreOffered) {
  auto request = with_tool(offline_question("WorkerResult", "明天上午十点和王伟开会"));
  request.tool_choice = ToolChoice::none;
  EXPECT_TRUE(std::holds_alternative<std::string>(offline_output(request, {})));

  request = offline_question("WorkerResult", "明天上午十点和王伟开会");
  request.tools.push_back({"clock", "tells the time", "{}"});
  EXPECT_TRUE(std::holds_alternative<std::string>(offline_output(request, {})));
}

TEST(OfflineModel, USE_2_ResultsOfEarlierRunsAreNoneOfThisStage) {
  auto request = with_tool(offline_question("WorkerResult", "What do I have tomorrow?"));
  auto const first = std::get<ToolCall>(offline_output(request, {}));
  auto const empty =
      R"({"status":"success","module":"calendar","method":"read","data":{"items":[],"count":0}})";

  auto earlier = request;
  add_result(earlier, first, empty);
  earlier.opening_messages = earlier.messages.size();
  EXPECT_EQ(std::get<ToolCall>(offline_output(earlier, {})), first);

  add_result(request, first, empty);
  EXPECT_NE(std::get<std::string>(offline_output(request, {})).find("Nothing is planned"), std::string::npos);
}

TEST(OfflineModel, USE_2_AnUnknownZoneIsTheDefaultOne) {
  auto request = with_tool(offline_question("", "What do I have tomorrow?"));
  auto const expected = offline_output(request, {});

  request.timezone = "Mars/Olympus";

  EXPECT_EQ(std::get<ToolCall>(offline_output(request, {})), std::get<ToolCall>(expected));
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
