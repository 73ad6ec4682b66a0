#include "runnel/flow/output/live_text.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "runnel/core/text/text.h"
#include "runnel/flow/output/contract.h"
#include "runnel/flow/testing/random_output.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

bool always(json::object const& /*fields*/) {
  return true;
}

// What is shown of an output that comes in pieces of `size` bytes, and whether that was prose.
struct Shown {
  std::string text;
  bool is_prose = false;
};

Shown show(std::string_view output, std::size_t size, bool prose = false, LiveText::Gate gate = always) {
  LiveText live{"answer", std::move(gate), prose};
  Shown shown;
  for (std::size_t at = 0; at < output.size(); at += size) {
    auto const piece = live.feed(output.substr(at, size));
    EXPECT_TRUE(is_utf8(piece)) << output;
    shown.text += piece;
  }
  shown.text += live.finish();
  shown.is_prose = live.is_prose();
  return shown;
}

// The text that is shown, which must be the same however the output is cut.
std::string show(std::string_view output) {
  auto const text = show(output, 1).text;
  EXPECT_EQ(show(output, 2).text, text) << output;
  EXPECT_EQ(show(output, 3).text, text) << output;
  EXPECT_EQ(show(output, output.size() + 1).text, text) << output;
  return text;
}

TEST(LiveText, FLOW_4_ShowsTheFieldWhereverItStands) {
  for (std::string_view const output : {
           R"({"answer":"Hi"})",
           " \n{ \"answer\" :\t\"Hi\" } ",
           "\xEF\xBB\xBF{\"answer\":\"Hi\"}",
           "```json\n{\"answer\":\"Hi\"}\n```",
           "Of the form {x}, {\"x\"} or {\"answer\": ...}:\n```\n{\"answer\":\"Hi\"}",
           R"({"a":{"answer":"no"},"b":["answer",{"answer":"no"}],"c":"\"answer\":\"no\"","answer":"Hi"})",
           R"({"answer":"Hi","a":{"answer":"no"}} {"answer":"no"})",
           R"({"n":-1.5e3,"t":true,"f":false,"z":null,"s":"","o":{},"l":[],"answer":"Hi"})",
           R"({"\u0061nsw\u0065r":"H\u0069"})",
           R"({"answer":"H)"
           R"(i)",
       }) {
    EXPECT_EQ(show(output), "Hi") << output;
  }
}

TEST(LiveText, FLOW_4_EscapesAreReadAsTheyAreMeant) {
  EXPECT_EQ(show(R"({"answer":"\"\\\/\b\f\n\r\t"})"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(show(R"({"answer":"\u00e9\u00E9\u65e5\uD83D\ude00\uFFFF\u0001"})"), "éé日😀\uFFFF\x01");
  EXPECT_EQ(show("{\"answer\":\"é日😀\x7f\"}"), "é日😀\x7f");
  EXPECT_EQ(show(R"({"answer":""})"), "");
}

TEST(LiveText, FLOW_4_WhatIsNoReasonForARepairIsNoneToFallSilent) {
  EXPECT_EQ(show(R"({"answer":"ab\u0000cd"})"), "ab\uFFFDcd");
  EXPECT_EQ(show(R"({"answer":"ab\ud800cd"})"), "ab\uFFFDcd");
  EXPECT_EQ(show(R"({"answer":"ab\ud800\ncd"})"), "ab\uFFFD\ncd");
  EXPECT_EQ(show(R"({"answer":"ab\ud800\ud800cd"})"), "ab\uFFFD\uFFFDcd");
  EXPECT_EQ(show(R"({"answer":"ab\ud83d\ud83d\ude00cd"})"), "ab\uFFFD😀cd");
  EXPECT_EQ(show(R"({"answer":"ab\ud800é"})"), "ab\uFFFDé");
  EXPECT_EQ(show(R"({"answer":"ab\udc00cd"})"), "ab\uFFFDcd");
  EXPECT_EQ(show(R"({"answer":"ab\ud800"})"), "ab\uFFFD");
  for (auto const* before :
       {R"("a":1,"a":2)", R"("a":1,"\u0061":2)", R"("a":{"b":1,"b":2})", R"("a":99999999999999999999)",
        R"("a":1e999)", R"("a":"\u0000")", R"("a":"\ud83d")", R"("\ud83d":1)"})
    EXPECT_EQ(show(std::string{"{"} + before + R"(,"answer":"cd"})"), "cd") << before;
}

TEST(LiveText, FLOW_4_FromTheFirstWrongByteOnNothingIsShown) {
  struct Case {
    std::string_view output;
    std::string_view shown;
  };
  using namespace std::string_view_literals;
  Case const cases[] = {
      {R"({"answer":"ab\x41cd"})", "ab"},
      {R"({"answer":"ab\u12g4cd"})", "ab"},
      {"{\"answer\":\"ab\ncd\"}", "ab"},
      {"{\"answer\":\"ab\0cd\"}"sv, "ab"},
      {"{\"answer\":\"ab\xff cd\"}", "ab"},
      {"{\"answer\":\"ab\xc3\"}", "ab"},
      {"{\"answer\":\"ab\xed\xa0\x80 cd\"}", "ab"},
      {"{\"answer\":\"ab\xc0\x80 cd\"}", "ab"},
      {R"({"answer":"ab"cd"})", "ab"},
      {R"({"answer":"ab","answer":"cd"})", "ab"},
      {R"({"answer":1,"answer":"cd"})", ""},
      {R"({"a":01,"answer":"cd"})", ""},
      {R"({"a":tru,"answer":"cd"})", ""},
      {R"({"a":[1},"answer":"cd"})", ""},
      {R"({"a":1 "answer":"cd"})", ""},
      {R"({"a":1,,"answer":"cd"})", ""},
      {R"({"a":"b";"answer":"cd"})", ""},
      {R"({"a" "b","answer":"cd"})", ""},
      {R"({"a":"b",answer:"cd"})", ""},
      {R"({"answer":null,"b":"cd"})", ""},
      {R"({"answer":["cd"]})", ""},
      {R"({"a":1}{"answer":"cd"})", ""},
      {R"([{"answer":"cd"}])", ""},
      {R"({}{"answer":"cd"})", ""},
      {"no JSON", ""},
      {"", ""},
  };
  for (auto const& c : cases)
    EXPECT_EQ(show(c.output), c.shown) << c.output;
}

TEST(LiveText, FLOW_4_NestingIsAsDeepAsThatOfTheWholeDocument) {
  auto const nested = [](std::size_t levels) {
    return R"({"a":)" + std::string(levels, '[') + std::string(levels, ']') + R"(,"answer":"Hi"})";
  };
  EXPECT_EQ(show(nested(63)), "Hi");
  EXPECT_EQ(show(nested(64)), "");
}

TEST(LiveText, FLOW_4_TheTextIsHeldUntilTheGateIsOpen) {
  auto const direct = [](json::object const& fields) {
    EXPECT_FALSE(fields.contains("answer"));
    auto const* route = fields.if_contains("route");
    return route != nullptr && *route == "DIRECT";
  };
  LiveText late{"answer", direct, false};
  EXPECT_EQ(late.feed(R"({"answer":"Hello, wor)"), "");
  EXPECT_EQ(late.feed(R"(ld","flags":[],"route":"DIRECT)"), "");
  EXPECT_EQ(late.feed(R"(")"), "Hello, world");
  EXPECT_EQ(late.feed(R"(,"more":1})"), "");
  EXPECT_EQ(late.finish(), "");

  LiveText early{"answer", direct, false};
  EXPECT_EQ(early.feed(R"({"route":"DIRECT","answer":")"), "");
  EXPECT_EQ(early.feed("H"), "H");
  EXPECT_EQ(early.feed("el"), "el");
  EXPECT_EQ(early.feed("lo\"}"), "lo");

  EXPECT_EQ(show(R"({"route":"NEEDS","answer":"Hello","x":1})", 1, false, direct).text, "");
  EXPECT_EQ(show(R"({"answer":"He\q,"route":"DIRECT"})", 1, false, direct).text, "")
      << "it is broken by then";
}

TEST(LiveText, FLOW_4_TheGateIsAskedFromTheTextsBeginningUntilItSaysYes) {
  std::vector<std::string> asked;
  auto const gate = [&](json::object const& fields) {
    asked.push_back(json::serialize(fields));
    return fields.size() == 3;
  };
  EXPECT_EQ(show(R"({"a":1,"answer":"Hi","b":2,"c":3,"d":4})", 1, false, gate).text, "Hi");
  EXPECT_EQ(asked, (std::vector<std::string>{R"({"a":1})", R"({"a":1,"b":2})", R"({"a":1,"b":2,"c":3})"}));
}

TEST(LiveText, FLOW_4_AMillionFieldsDoNotAskTheGateAMillionTimes) {
  std::string output = R"({"answer":"Hi")";
  for (int i = 0; i < 1000; ++i)
    output += ",\"f" + std::to_string(i) + "\":1";
  std::size_t asked = 0;
  auto const never = [&](json::object const& /*fields*/) {
    ++asked;
    return false;
  };
  EXPECT_EQ(show(output, 7, false, never).text, "");
  EXPECT_EQ(asked, LiveText::kMostAsked);
}

TEST(LiveText, FLOW_4_WordsAreTheTextWhereProseIsAllowed) {
  std::string const words(LiveText::kProseBytes, 'w');
  for (std::string const& output : {
           std::string{"Hello, 日本."},
           " \n" + words + " {\"answer\":\"no\"} and more\n",
           std::string{"int main() { return 0; }"},
           std::string{"```python\nprint()\n```"},
           std::string{"["},
           "a {brace} among " + words + words,
           "```c\n" + words + "{ }" + words,
       }) {
    for (std::size_t const size : {1, 2, 7, 1000}) {
      auto const shown = show(output, size, true);
      EXPECT_EQ(shown.text, output);
      EXPECT_TRUE(shown.is_prose) << output;
    }
    EXPECT_EQ(show(output, 1).text.find(words), std::string::npos) << "not allowed";
  }
}

TEST(LiveText, FLOW_4_AnObjectIsNoProse) {
  std::string const words(LiveText::kProseBytes - 4, 'w');
  for (std::string const& output : {
           std::string{R"({"answer":"Hi"})"},
           std::string{"Sure:\n```json\n{\"answer\":\"Hi\"}\n```"},
           words + R"(: {"answer":"Hi"} )" + words,
           "```\n" + words + words + R"({"answer":"Hi"})",
           words + words.substr(0, 2) + "{" + std::string(1000, ' ') + R"("answer":"Hi"})",
       }) {
    for (std::size_t const size : {1, 2, 7, 10000}) {
      auto const shown = show(output, size, true);
      EXPECT_EQ(shown.text, "Hi") << output;
      EXPECT_FALSE(shown.is_prose) << output;
    }
  }
  for (std::string_view const output :
       {"", " \n\t", "{", "{\"ans", "{}", "[{\"answer\":\"Hi\"}]", "words {\"ans"}) {
    auto const shown = show(output, 1, true);
    EXPECT_EQ(shown.text, "") << output;
    EXPECT_FALSE(shown.is_prose) << output;
  }
}

TEST(LiveText, FLOW_4_ProseStreamsOnceItIsSure) {
  std::string const words(LiveText::kProseBytes - 1, 'w');
  LiveText live{"answer", always, true};

  EXPECT_EQ(live.feed("  "), "");
  EXPECT_EQ(live.feed(words), "");
  EXPECT_EQ(live.feed("\xe6"), "  " + words);
  EXPECT_EQ(live.feed("\x97"), "");
  EXPECT_EQ(live.feed("\xa5 "), "日 ");
  EXPECT_EQ(live.feed("{\"answer\":"), "{\"answer\":");
  EXPECT_TRUE(live.is_prose());
  EXPECT_EQ(live.feed("a\xff..."), "a");
  EXPECT_EQ(live.feed("more"), "");
  EXPECT_EQ(live.finish(), "");

  EXPECT_EQ(show({"ab\0cd", 5}, 1, true).text, "ab") << "U+0000 cannot be stored";
}

TEST(LiveText, FLOW_4_TimeIsLinearInWhateverIsWritten) {
  for (std::string_view const shape :
       {"{", "{\"", "{ \"", "{\"{ \"", "{\"a\" ", "{\"\\\"", "{\"a\":\"", "{\"a\":[", "``` {", "x"}) {
    std::string output = "{\"a\":{";
    while (output.size() < 200'000)
      output += shape;

    auto const begin = std::chrono::steady_clock::now();
    show(std::string_view{output}.substr(6), 1, true);
    show(output, 1, true);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5}) << shape;
  }
}

Contract worker_contract() {
  auto schema = json::parse(R"({"type":"object","required":["answer","status"],"properties":{
    "status":{"enum":["SUCCESS","PARTIAL","FAILED"]},"answer":{"type":"string"}}})");
  return Contract::make("Worker", std::move(schema.get_object()), {}).value();
}

// Feeds an output, and remembers after how many bytes the first character was seen.
struct Viewer {
  Viewer() : live{"answer", always, false} {}

  void feed(std::string_view piece) {
    auto const shown = live.feed(piece);
    fed += piece.size();
    if (text.empty() && !shown.empty()) first_seen = fed;
    text += shown;
    all_whole = all_whole && is_utf8(shown);
  }

  LiveText live;
  std::string text;
  std::size_t fed = 0;
  std::size_t first_seen = 0;
  bool all_whole = true;
};

TEST(LiveText, FLOW_4_TenThousandRandomAnswersComeOutAsTheyWereMeant) {
  auto const contract = worker_contract();
  RandomOutput random{20261116};
  for (int i = 0; i < 10'000; ++i) {
    auto const output = random.next();
    SCOPED_TRACE(::testing::Message() << "output " << i << ": " << output.text);
    auto const reading = read_output(contract, output.text);
    ASSERT_EQ(reading.problems, std::vector<std::string>{});
    ASSERT_EQ(reading.value.at("answer"), json::value(output.answer.c_str()));

    Viewer bytes;
    for (char const c : output.text)
      bytes.feed({&c, 1});
    ASSERT_EQ(bytes.text + bytes.live.finish(), output.answer);
    ASSERT_TRUE(bytes.all_whole);
    bool const in_time = bytes.first_seen < output.visible_before;
    ASSERT_TRUE(in_time || count_code_points(output.answer) < 2);

    Viewer pieces;
    for (std::string_view rest = output.text; !rest.empty();) {
      auto const size = std::min<std::size_t>(random.below(40), rest.size());
      pieces.feed(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    ASSERT_EQ(pieces.text + pieces.live.finish(), output.answer);
    ASSERT_TRUE(pieces.all_whole);
  }
}

TEST(LiveText, FLOW_4_WhatIsShownOfADamagedOutputIsThePrefixOfItsAnswer) {
  auto const contract = worker_contract();
  RandomOutput random{4};
  for (int i = 0; i < 10'000; ++i) {
    auto const output = random.next();
    auto damaged = output.text.substr(0, random.below(output.text.size() + 1));
    Viewer cut;
    cut.feed(damaged);
    ASSERT_TRUE(output.answer.starts_with(cut.text)) << damaged;

    damaged = output.text;
    damaged.erase(random.below(damaged.size()), 1 + random.below(3));
    auto const reading = read_output(contract, damaged);
    Viewer holed;
    holed.feed(damaged);
    bool const is_valid = reading.problems.empty();
    ASSERT_TRUE(!is_valid || reading.value.at("answer") == json::value(holed.text.c_str())) << damaged;
  }
}

}  // namespace
}  // namespace runnel::flow
