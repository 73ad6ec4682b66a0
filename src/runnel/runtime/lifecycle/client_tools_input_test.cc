#include "runnel/runtime/lifecycle/client_tools_input.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "runnel/runtime/lifecycle/run_input.h"

namespace runnel::runtime {
namespace {

namespace json = boost::json;

std::variant<RunInput, Refusal> parse_client_input(std::string const& body) {
  return parse_run_input(json::parse(body));
}

std::string with_tools(std::string const& tools) {
  return R"({"messages":[{"role":"user","content":"hi"}],"tools":)" + tools + "}";
}
std::string with_messages(std::string const& messages) {
  return R"({"threadId":"t","messages":[)" + messages + "]}";
}

RunInput taken_input(std::string const& body) {
  auto parsed = parse_client_input(body);
  auto const* const refusal = std::get_if<Refusal>(&parsed);
  EXPECT_EQ(refusal, nullptr) << refusal->message;
  return refusal == nullptr ? std::get<RunInput>(std::move(parsed)) : RunInput{};
}

// The words of the refusal. Empty if the body was accepted.
std::string refusal_of_input(std::string const& body) {
  auto const parsed = parse_client_input(body);
  auto const* const refusal = std::get_if<Refusal>(&parsed);
  if (refusal != nullptr) EXPECT_EQ(refusal->code, "INVALID_REQUEST");
  return refusal != nullptr ? refusal->message : "";
}

constexpr char kUserMessage[] = R"({"id":"u1","role":"user","content":"ask"})";
constexpr char kCallMessage[] = R"({"id":"a1","role":"assistant","toolCalls":[]})";
constexpr char kToolMessage[] = R"({"id":"x1","role":"tool","toolCallId":"c1","content":"42"})";

TEST(ClientTools, AGUI_6_ToolsAreReadWithTheirSchemas) {
  auto const input = taken_input(with_tools(
      R"([{"name":"set-Color_1","description":"Sets it.","parameters":{"type":"object","properties":{"c":{}}}},
          {"name":"bare"},{"name":"open","description":null,"parameters":{"properties":{}},"metadata":{"k":1}}])"));

  ASSERT_EQ(input.client.tools.size(), 3U);
  EXPECT_EQ(input.client.tools[0].name, "set-Color_1");
  EXPECT_EQ(input.client.tools[0].description, "Sets it.");
  EXPECT_EQ(input.client.tools[0].parameters, R"({"type":"object","properties":{"c":{}}})");
  EXPECT_EQ(input.client.tools[1].parameters, R"({"type":"object","properties":{}})");
  EXPECT_EQ(input.client.tools[2].parameters, R"({"type":"object","properties":{}})");
  EXPECT_TRUE(taken_input(with_tools("[]")).client.tools.empty());
  EXPECT_TRUE(taken_input(with_tools("null")).client.tools.empty());
  EXPECT_FALSE(input.client.is_reply);
}

TEST(ClientTools, AGUI_6_ToolsThatNoModelCouldUseAreRefused) {
  EXPECT_NE(refusal_of_input(with_tools("{}")).find("a list"), std::string::npos);
  EXPECT_NE(refusal_of_input(with_tools("[7]")).find("item 1"), std::string::npos);
  for (auto const* const name : {"", "a b", "日程", "a.b", "a/b"})
    EXPECT_NE(refusal_of_input(with_tools(R"([{"name":"ok"},{"name":")" + std::string{name} + R"("}])"))
                  .find("item 2"),
              std::string::npos)
        << name;
  EXPECT_NE(refusal_of_input(with_tools(R"([{"name":")" + std::string(65, 'a') + R"("}])")), "");
  EXPECT_EQ(refusal_of_input(with_tools(R"([{"name":")" + std::string(64, 'a') + R"("}])")), "");
  EXPECT_NE(refusal_of_input(with_tools(R"([{"name":"a"},{"name":"a"}])")).find("also called 'a'"),
            std::string::npos);
  EXPECT_NE(refusal_of_input(with_tools(R"([{"name":"a","description":7}])")), "");
  EXPECT_NE(refusal_of_input(with_tools(R"([{"name":"a","parameters":[]}])")), "");
  EXPECT_NE(refusal_of_input(with_tools(R"([{"name":"a","parameters":{"type":"string"}}])")), "");
}

TEST(ClientTools, AGUI_6_ToolsAreBoundedInNumberAndBytes) {
  json::array many;
  for (int i = 0; i < 129; ++i)
    many.push_back({{"name", "t" + std::to_string(i)}});
  EXPECT_NE(refusal_of_input(with_tools(json::serialize(many))).find("129"), std::string::npos);
  many.pop_back();
  EXPECT_EQ(refusal_of_input(with_tools(json::serialize(many))), "");
  json::array const large{{{"name", "t"}, {"description", std::string(65 * 1024, 'd')}}};
  EXPECT_NE(refusal_of_input(with_tools(json::serialize(large))).find("65536"), std::string::npos);
}

TEST(ClientTools, AGUI_6_MessagesThatEndWithToolMessagesAreAReply) {
  auto const input =
      taken_input(with_messages(std::string{kUserMessage} + "," + kCallMessage + "," + kToolMessage +
                                R"(,{"role":"tool","toolCallId":"c2","content":[{"type":"text","text":"4"},
                                               {"type":"text","text":"3"}],"error":"no","id":"a b"})"));

  EXPECT_TRUE(input.client.is_reply);
  EXPECT_EQ(input.text, "ask");
  ASSERT_EQ(input.client.answers.size(), 2U);
  EXPECT_EQ(input.client.answers[0], (ClientAnswer{ToolCallId{"c1"}, "x1", "42", "", true}));
  EXPECT_EQ(input.client.answers[1], (ClientAnswer{ToolCallId{"c2"}, "", "43", "no", true}));
  EXPECT_TRUE(taken_input(with_messages(kToolMessage)).client.is_reply);
  EXPECT_EQ(taken_input(with_messages(kToolMessage)).text, "");
  EXPECT_TRUE(
      taken_input(with_messages(std::string{kToolMessage} + R"(,{"role":"reasoning","content":"hm"})"))
          .client.is_reply);
}

TEST(ClientTools, AGUI_6_OnlyTheLastToolMessagesMustBeAnswers) {
  auto const input = taken_input(with_messages(std::string{kToolMessage} + "," + kUserMessage +
                                               R"(,{"role":"tool","toolCallId":"old","content":"1"},)" +
                                               kCallMessage + "," + kToolMessage));

  ASSERT_EQ(input.client.answers.size(), 2U);
  EXPECT_EQ(input.client.answers[0].call.text, "old");
  EXPECT_FALSE(input.client.answers[0].last);
  EXPECT_TRUE(input.client.answers[1].last);
}

TEST(ClientTools, AGUI_6_AnswersThatComeWithAUserMessageAreRead) {
  auto const input =
      taken_input(with_messages(std::string{kUserMessage} + "," + kCallMessage + "," + kToolMessage +
                                R"(,{"role":"tool","content":7},{"role":"user","content":"next"})"));

  EXPECT_FALSE(input.client.is_reply);
  EXPECT_EQ(input.text, "next");
  ASSERT_EQ(input.client.answers.size(), 1U);
  EXPECT_FALSE(input.client.answers[0].last);
}

TEST(ClientTools, AGUI_6_ToolMessagesThatCannotBeReadAreRefused) {
  EXPECT_NE(refusal_of_input(with_messages(R"({"role":"tool","content":"x"})")).find("toolCallId"),
            std::string::npos);
  EXPECT_NE(refusal_of_input(with_messages(R"({"role":"tool","toolCallId":"c"})")).find("content"),
            std::string::npos);
  EXPECT_NE(refusal_of_input(with_messages(R"({"role":"tool","toolCallId":"c","content":"x","error":7})")),
            "");
  EXPECT_NE(refusal_of_input(with_messages(
                R"({"role":"tool","toolCallId":"c","content":[{"type":"image","source":{}}]})")),
            "");
  EXPECT_EQ(
      refusal_of_input(with_messages(R"({"role":"tool","toolCallId":"c","content":"","error":"it broke"})")),
      "");
  EXPECT_NE(refusal_of_input(with_messages(R"({"role":"assistant","content":"x"})")), "");
}

TEST(ClientTools, AGUI_6_TheStoredFormIsReadBack) {
  auto input =
      taken_input(with_messages(std::string{kUserMessage} + "," + kCallMessage + "," + kToolMessage));
  input.client.tools = {{"a", "b", R"({"type":"object"})"}};
  auto const read = from_stored(to_stored(input)).value();

  EXPECT_TRUE(read.client.is_reply);
  EXPECT_EQ(read.client.answers, input.client.answers);
  ASSERT_EQ(read.client.tools.size(), 1U);
  EXPECT_EQ(read.client.tools[0].name, "a");
  EXPECT_EQ(read.client.tools[0].description, "b");
  EXPECT_EQ(read.client.tools[0].parameters, R"({"type":"object"})");
}

TEST(ClientTools, AGUI_6_AnInputThatAnEarlierVersionStoredIsRead) {
  auto const read = from_stored(R"({"messageId":"m","text":"hi","flow":"chat","model":""})").value();

  EXPECT_EQ(read.text, "hi");
  EXPECT_TRUE(read.client.tools.empty());
  EXPECT_FALSE(read.client.is_reply);
  EXPECT_FALSE(
      from_stored(R"({"messageId":"m","text":"","flow":"","model":"","answers":[{"content":"x"}]})"));
  EXPECT_FALSE(from_stored(R"({"messageId":"m","text":"","flow":"","model":"","tools":[7]})"));
}

TEST(ClientTools, RUN_2_ToolsAndAnswersAreComparedWhereTheyArePresent) {
  auto const plain = taken_input(with_tools("null"));
  EXPECT_EQ(to_stored(plain), R"({"messageId":"","text":"hi","flow":"","model":""})");
  EXPECT_EQ(hash_of(plain), hash_of(taken_input(with_tools("[]"))));
  auto const tool = taken_input(with_tools(R"([{"name":"a"}])"));
  EXPECT_NE(hash_of(plain), hash_of(tool));
  EXPECT_NE(hash_of(tool), hash_of(taken_input(with_tools(R"([{"name":"a","description":"b"}])"))));

  auto const answer = taken_input(with_messages(kToolMessage));
  EXPECT_EQ(hash_of(answer), hash_of(taken_input(with_messages(kToolMessage))));
  EXPECT_NE(
      hash_of(answer),
      hash_of(taken_input(with_messages(R"({"id":"x1","role":"tool","toolCallId":"c1","content":"43"})"))));
  // What a client repeats of its history is no part of the input.
  EXPECT_EQ(hash_of(taken_input(with_messages(kUserMessage))),
            hash_of(taken_input(with_messages(std::string{kToolMessage} + "," + kUserMessage))));
}

}  // namespace
}  // namespace runnel::runtime
