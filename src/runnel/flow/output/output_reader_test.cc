#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "runnel/flow/output/contract.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

Contract answer_contract() {
  auto schema =
      json::parse(R"({"type":"object","required":["answer"],"properties":{"answer":{"type":"string"}}})");
  return Contract::make("Answer", std::move(schema.get_object()), {}).value();
}

// The answer, or the first problem with a prefix that says whether the output held JSON or only words.
std::string read(std::string_view output) {
  static auto const contract = answer_contract();
  auto const reading = read_output(contract, output);
  if (reading.problems.empty()) return std::string{reading.value.at("answer").get_string()};
  EXPECT_TRUE(reading.value.empty());
  return (reading.is_json ? "JSON: " : "words: ") + reading.problems.front();
}

std::string const kNone = "words: the output must be one JSON object, and it holds none";
std::string const kList = "JSON: the output must be one JSON object, not a list";
std::string const kCutOff =
    "JSON: the JSON object is cut off: the output ends before the object's closing brace";

TEST(OutputReader, FLOW_4_FindsTheObjectWhereverItStands) {
  for (std::string_view const output : {
           R"({"answer":"x"})",
           " \r\n\t{ \"answer\" : \"x\" } \n",
           "\xEF\xBB\xBF{\"answer\":\"x\"}",
           "```json\n{\"answer\":\"x\"}\n```",
           "```\n{\"answer\":\"x\"}\n```\n",
           "```JSON\r\n{\"answer\":\"x\"}",
           "Sure! Here it is:\n\n```json\n{\"answer\":\"x\"}\n```\n\nAnything else {or not}?",
           R"(The answer: {"answer":"x"} and that is all.)",
           R"(Of the form {x} or {} or { "x" } or {"answer": ...} or {"answer": <text>}: {"answer":"x"})",
           R"({{"answer":"x"}})",
           R"({"some words {"answer":"x"})",
           R"({"some words { "answer":"x"})",
           "{\"two\nlines\": {\"answer\":\"x\"}",
           R"([Note] {"answer":"x"})",
           R"(Look: [{"answer":"x"}])",
           R"({"answer":"x"}{"answer":"y"})",
           R"({"answer":"x"}, {"answer": broken)",
           R"({"braces":"}{","list":[{"a":"]"}],"answer":"x"})",
           R"({"\u0061nswer":"\u0078"})",
       }) {
    EXPECT_EQ(read(output), "x") << output;
  }
}

TEST(OutputReader, FLOW_4_WordsAreNoJson) {
  for (std::string_view const output : {
           "",
           "  \n",
           "Hello.",
           "42",
           "null",
           R"("a text")",
           "[1,2]",
           R"(["a","b"])",
           "[]",
           "int main() {}",
           R"(use {"x"} or {x: 1})",
           "an open brace {",
           "{x} {}",
           "```\ncode\n```",
           "[",
       }) {
    EXPECT_EQ(read(output), kNone) << output;
  }
}

TEST(OutputReader, FLOW_4_AnotherKindOfDocumentIsAProblem) {
  EXPECT_EQ(read(R"([{"answer":"x"}])"), kList);
  EXPECT_EQ(read("```json\n[ {\"answer\":\"x\"}, 1 ]\n```"), kList);
  EXPECT_EQ(read("{}"), "JSON: /answer: is required");
  EXPECT_EQ(read("```json\n{ }\n```"), "JSON: /answer: is required");
  EXPECT_EQ(read("\xEF\xBB\xBF{}"), "JSON: /answer: is required");
  EXPECT_EQ(read(R"({"answer":1})"), "JSON: /answer: must be a string; it is 1");
}

TEST(OutputReader, FLOW_4_TheFirstObjectCounts) {
  EXPECT_EQ(read(R"({"a":1} {"answer":"x"})"), "JSON: /answer: is required");
}

TEST(OutputReader, FLOW_4_ACutOffObjectIsToldSo) {
  std::string const whole = R"({"list":[1,{"a":"\u00e9"}],"answer":"x\ny"})";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    EXPECT_EQ(read(whole.substr(0, length)), kCutOff) << length;
    EXPECT_EQ(read("```json\n" + whole.substr(0, length)), kCutOff) << length;
  }
  EXPECT_EQ(read(R"(Look: {"ans)"), kCutOff);
}

TEST(OutputReader, FLOW_4_ABrokenObjectIsShownWhereItBreaks) {
  struct Case {
    char const* output;
    char const* problem;
  };
  Case const cases[] = {
      {R"({"answer":"he said "no" to it"})",
       R"(line 1, column 21: not valid JSON; near: {"answer":"he said "no" to it"})"},
      {"ok:\n{\n  \"answer\": \"日本語\",\n  \"日本\": tru\n}",
       "line 3, column 9: not valid JSON; near: 日本語\",   \"日本\": tru }"},
      {R"({"answer":"x",})", R"(line 1, column 15: not valid JSON; near: {"answer":"x",})"},
      {"{\"answer\":\"x\"\n```", "line 2, column 1: not valid JSON; near: {\"answer\":\"x\" ```"},
  };
  for (auto const& c : cases)
    EXPECT_EQ(read(c.output), std::string{"JSON: the JSON object is broken at "} + c.problem) << c.output;
}

TEST(OutputReader, FLOW_4_WhatNoRequestMayHoldIsNoReasonForARepair) {
  EXPECT_EQ(read(R"({"answer":"x","answer":"y"})"), "y");
  EXPECT_EQ(read(R"({"more":123456789012345678901234567890,"answer":"y"})"), "y");
  EXPECT_EQ(read(R"({"more":{"id":1,"id":2,"n":1e999},"answer":"y"})"), "y");
  EXPECT_EQ(read(R"({"answer":"x\u0000"})"), "x\uFFFD");
  EXPECT_EQ(read(R"({"answer":"\udc00"})"), "\uFFFD");

  auto const reading =
      read_output(answer_contract(), R"({"answer":"x","id":123456789012345678901234567890})");
  EXPECT_EQ(json::serialize(reading.value), R"({"answer":"x","id":"123456789012345678901234567890"})");
}

TEST(OutputReader, FLOW_4_AProblemIsShortAndIsText) {
  auto const problem =
      read("{\"answer\":" + std::string(100'000, '9') + "\xff\xfe" + std::string(100'000, ' ') + "}");
  EXPECT_LT(problem.size(), 300U) << problem;

  auto const deep = read(R"({"answer":)" + std::string(100, '[') + std::string(100, ']') + "}");
  EXPECT_NE(deep.find("nested deeper than 64 levels"), std::string::npos) << deep;
}

// With each of these shapes, a reader that goes back to try again would take hours.
TEST(OutputReader, FLOW_4_TimeIsLinearInWhateverIsWritten) {
  for (std::string_view const shape :
       {"{", "{\"", "{ \"", "{\"{", "{\"{ \"", "{\"a\":", "{\"a\" ", "[{", "{{ ", "{\"\\\"",
        "{\"a\":{\"a\":x", "{\"{ \" ", "``` {", "{\"a\":\"}", "{\"a\":1}"}) {
    std::string output;
    while (output.size() < 1'000'000)
      output += shape;

    auto const begin = std::chrono::steady_clock::now();
    read(output);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5}) << shape;
  }
}

}  // namespace
}  // namespace runnel::flow
