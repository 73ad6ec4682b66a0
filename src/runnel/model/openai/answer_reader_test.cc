#include "runnel/model/openai/answer_reader.h"

#include <gtest/gtest.h>

#include "runnel/core/text/text.h"
#include "tests/support/call_answer.h"

namespace runnel::model {
namespace {

std::string event(std::string const& data) {
  return "data: " + data + "\n\n";
}
std::string delta(std::string const& members, std::string const& rest = "") {
  return event(R"({"choices":[{"index":0,"delta":{)" + members + "}" + rest + "}]}");
}
std::string finish(std::string const& reason) {
  return delta("", R"(,"finish_reason":")" + reason + "\"");
}
std::string const kDone = "data: [DONE]\n\n";
std::string const kUsageEvent = event(R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}})");

CallAnswer read_answer(std::string const& body, std::string const& vendor = "deepseek") {
  AnswerReader reader{std::make_shared<ProviderOptions const>(options_for(vendor))};
  std::vector<CallEvent> events;
  for (auto const c : body)
    reader.feed({&c, 1}, events);
  reader.finish(events);
  reader.end(events);
  CallAnswer answer;
  for (auto const& each : events) {
    EXPECT_FALSE(answer.has_end());
    answer.take(each);
  }
  EXPECT_TRUE(answer.has_end());
  return answer;
}

TEST(AnswerReader, USE_1_TextReasoningAndUsage) {
  auto const answer = read_answer(delta(R"("role":"assistant","content":"")") +
                                  delta(R"("reasoning_content":"why")") + delta(R"("content":"be")") +
                                  delta(R"("content":"cause")") + finish("stop") + kUsageEvent + kDone);

  EXPECT_EQ(answer.reasoning, "why");
  EXPECT_EQ(answer.text, "because");
  ASSERT_TRUE(answer.finished);
  EXPECT_EQ(answer.finished->finish, Finish::stop);
  EXPECT_EQ(answer.finished->usage.input_tokens, 1);
  EXPECT_EQ(answer.finished->usage.output_tokens, 2);
}

TEST(AnswerReader, USE_10_LastUsageStands) {
  auto const with_usage = [](int tokens, std::string const& rest) {
    return event(R"({"choices":[{"delta":{"content":"x"})" + rest + R"(}],"usage":{"completion_tokens":)" +
                 std::to_string(tokens) + "}}");
  };
  auto const answer = read_answer(with_usage(1, "") + with_usage(2, R"(,"finish_reason":"stop")") +
                                  event(R"({"choices":[],"usage":null})") + kDone);
  EXPECT_EQ(answer.finished->usage.output_tokens, 2);
}

TEST(AnswerReader, USE_10_AbsentUsageIsNotZero) {
  EXPECT_EQ(read_answer(delta(R"("content":"x")") + finish("stop") + kDone).finished->usage, ReportedUsage{});
}

TEST(AnswerReader, USE_10_FinishWithoutDoneIsAnEnd) {
  EXPECT_TRUE(read_answer(delta(R"("content":"x")") + finish("stop")).finished);
  EXPECT_TRUE(read_answer(delta(R"("content":"x")") + kDone).finished);
  EXPECT_TRUE(read_answer(delta(R"("content":"x")") + "data: [DONE] and more\n\nrubbish").finished);
}

TEST(AnswerReader, USE_10_NeitherFinishNorDoneIsACut) {
  auto const answer = read_answer(delta(R"("content":"x")") + kUsageEvent);
  ASSERT_TRUE(answer.failed);
  EXPECT_EQ(answer.failed->failure, Failure::cut);
  EXPECT_TRUE(answer.failed->retryable) << "the reader does not know whether anything was shown";
  EXPECT_EQ(answer.failed->usage.output_tokens, 2);
  EXPECT_EQ(answer.text, "x");

  EXPECT_TRUE(read_answer("").failed->retryable);
  EXPECT_TRUE(read_answer(delta(R"("role":"assistant")")).failed->retryable);
}

TEST(AnswerReader, USE_10_ACharacterThatIsSplitOverTwoEventsIsJoined) {
  auto const answer = read_answer(
      delta(R"("reasoning_content":"a\ud83d")") + delta(R"("reasoning_content":"\ude00b")") +
      delta(R"("content":"c\uD83D")") + delta(R"("content":"\uDE01d")") +
      delta(R"("tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{\"x\":\"\ud83d"}}])") +
      delta(R"("tool_calls":[{"index":0,"function":{"arguments":"\ude02\"}"}}])") + finish("tool_calls") +
      kDone);

  EXPECT_EQ(answer.reasoning, "a😀b");
  EXPECT_EQ(answer.text, "c😁d");
  ASSERT_TRUE(answer.finished);
  EXPECT_EQ(answer.finished->tool_calls, (std::vector<ToolCall>{{"i", "f", R"({"x":"😂"})"}}));
}

TEST(AnswerReader, USE_10_HalfACharacterIsTheReplacementCharacter) {
  auto const answer = read_answer(
      delta(R"("reasoning_content":"a\ud83d")") + delta(R"("content":"\ude00c\ud83d")") +
      delta(R"("content":"d\ud83d")") +
      delta(R"("tool_calls":[{"index":0,"id":"i\ud83d","function":{"name":"f","arguments":"\ud83d"}}])") +
      finish("tool_calls") + kDone);

  EXPECT_EQ(answer.reasoning, "a\uFFFD");
  EXPECT_EQ(answer.text, "\uFFFDc\uFFFDd\uFFFD");
  ASSERT_EQ(answer.finished->tool_calls.size(), 1U);
  EXPECT_EQ(answer.finished->tool_calls[0].arguments, "\uFFFD");
  EXPECT_TRUE(is_utf8(answer.finished->tool_calls[0].id));
}

TEST(AnswerReader, USE_10_HasToolCallsCountsMoreThanTheFinishReason) {
  auto const call = delta(R"("tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}])");
  for (auto const* reason : {"stop", "tool_calls", "function_call", "anything"}) {
    auto const answer = read_answer(call + finish(reason) + kDone);
    EXPECT_EQ(answer.finished->finish, Finish::tool_calls) << reason;
    EXPECT_EQ(answer.finished->tool_calls, (std::vector<ToolCall>{{"a", "f", "{}"}})) << reason;
  }
  EXPECT_EQ(read_answer(finish("tool_calls") + kDone).finished->finish, Finish::stop);
}

TEST(AnswerReader, USE_10_ToolCallsThatWereCutShortAreNotToBeExecuted) {
  auto const call =
      delta(R"("tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}])");
  for (auto const& [reason, expected] :
       {std::pair{"length", Finish::length}, {"content_filter", Finish::content_filter}}) {
    auto const answer = read_answer(call + finish(reason) + kDone);
    EXPECT_EQ(answer.finished->finish, expected);
    EXPECT_TRUE(answer.finished->tool_calls.empty());
  }
  EXPECT_TRUE(read_answer(call).failed);
}

TEST(AnswerReader, USE_10_FinishThatTellsOfAFailure) {
  auto const exhausted = read_answer(finish("insufficient_system_resource") + kDone);
  EXPECT_EQ(exhausted.failed->failure, Failure::overloaded);
  EXPECT_TRUE(exhausted.failed->retryable);
  EXPECT_EQ(read_answer(finish("abort") + kDone).failed->failure, Failure::cut);
}

TEST(AnswerReader, USE_10_ErrorObjectInTheStream) {
  auto const answer =
      read_answer(delta(R"("content":"x")") +
                  event(R"({"error":{"message":"broke","type":"server_error","code":500}})") + kDone);
  EXPECT_EQ(answer.failed->failure, Failure::reported);
  EXPECT_EQ(answer.failed->message, "error in the stream: 500: broke");
  EXPECT_TRUE(answer.failed->retryable);
  EXPECT_EQ(answer.text, "x");

  EXPECT_TRUE(read_answer(event(R"({"error":{"message":"broke","code":500}})")).failed->retryable);
}

TEST(AnswerReader, USE_10_WhatIsNoStreamIsABadAnswer) {
  EXPECT_EQ(read_answer("\n<html>x</html>").failed->failure, Failure::bad_answer);
  EXPECT_EQ(read_answer(R"({"choices":[{"message":{"content":"x"}}]})").failed->failure, Failure::bad_answer);
  EXPECT_EQ(read_answer(R"({"error":{"message":"broke"}})").failed->failure, Failure::reported);
  EXPECT_EQ(read_answer(event("{\"choices\":[{]}")).failed->failure, Failure::bad_answer);
  EXPECT_EQ(read_answer(event("hello")).failed->failure, Failure::bad_answer);
}

TEST(AnswerReader, USE_10_EventWithoutEndIsABadAnswer) {
  AnswerReader reader{std::make_shared<ProviderOptions const>(options_for("openai"))};
  std::vector<CallEvent> events;
  std::string const piece(64 * 1024, 'x');
  reader.feed(delta(R"("content":"before")") + "data: ", events);
  for (std::size_t sent = 0; sent < 10'000'000 && !reader.is_over(); sent += piece.size())
    reader.feed(piece, events);
  reader.end(events);

  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<TextPiece>(events[0]).text, "before");
  EXPECT_EQ(std::get<CallFailed>(events[1]).failure, Failure::bad_answer);
}

TEST(AnswerReader, USE_10_EmptyEventsAndCommentsAreNothing) {
  auto const answer =
      read_answer(": keep-alive\n\n:\n\ndata:\n\n\r\n" + delta(R"("content":"x")") + finish("stop") + kDone);
  EXPECT_EQ(answer.text, "x");
  EXPECT_TRUE(answer.finished);
}

TEST(AnswerReader, USE_10_ThinkTagsAreReasoningOfLocalServersOnly) {
  auto const body =
      delta(R"("content":"<think>why</think>")") + delta(R"("content":"\n\nso")") + finish("stop");
  EXPECT_EQ(read_answer(body, "local").reasoning, "why");
  EXPECT_EQ(read_answer(body, "local").text, "so");
  EXPECT_EQ(read_answer(body, "openai").text, "<think>why</think>\n\nso");

  auto const with_field = delta(R"("reasoning":"r")") + body;
  EXPECT_EQ(read_answer(with_field, "local").reasoning, "r");
  EXPECT_EQ(read_answer(with_field, "local").text, "<think>why</think>\n\nso");
}

TEST(AnswerReader, USE_10_HeldBackTextComesAtTheEnd) {
  EXPECT_EQ(read_answer(delta(R"("content":"<thi")") + finish("stop"), "local").text, "<thi");
}

TEST(AnswerReader, USE_10_ArgumentsOfAnUnnamedCallAreABadAnswer) {
  auto const answer =
      read_answer(delta(R"("tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}])") +
                  finish("tool_calls") + kDone);
  EXPECT_EQ(answer.failed->failure, Failure::bad_answer);
}

}  // namespace
}  // namespace runnel::model
