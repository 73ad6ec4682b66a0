#include "runnel/runtime/lifecycle/run_input.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/core/json/parse.h"

namespace runnel::runtime {
namespace {

RunInput accepted(std::string_view body) {
  auto parsed = parse_run_input(std::get<0>(parse_json(body)));
  auto const* refusal = std::get_if<Refusal>(&parsed);
  EXPECT_EQ(refusal, nullptr) << (refusal != nullptr ? refusal->message : "");
  return refusal != nullptr ? RunInput{} : std::get<RunInput>(parsed);
}

std::string refusal_of(std::string_view body) {
  auto const parsed = parse_run_input(std::get<0>(parse_json(body)));
  auto const* refusal = std::get_if<Refusal>(&parsed);
  return refusal != nullptr ? refusal->message : "accepted";
}

TEST(RunInput, RUN_1_TakesTheNewestUserMessage) {
  auto const input =
      accepted(R"({"threadId":"t","runId":"r","protocolVersion":"1.0","state":{},"tools":[],"context":[],
    "messages":[{"id":"1","role":"user","content":"old"},{"id":"2","role":"assistant","content":"ok"},
                {"id":"3","role":"user","content":"new"}],
    "forwardedProps":{"flow":"chat","model":"offline","onBusy":"enqueue","anything":1},"surprise":true})");
  EXPECT_EQ(input.thread, ThreadId{"t"});
  EXPECT_EQ(input.run, RunId{"r"});
  EXPECT_EQ(input.message_id, "3");
  EXPECT_EQ(input.text, "new");
  EXPECT_EQ(input.flow, "chat");
  EXPECT_EQ(input.model, "offline");
  EXPECT_EQ(input.on_busy, store::OnBusy::enqueue);
  EXPECT_EQ(input.agui_version, "1.0");
}

TEST(RunInput, HTTP_1_UnknownKeysAreCounted) {
  EXPECT_EQ(accepted(R"({"threadId":"t","runId":"r","parentRunId":"p","protocolVersion":"1.0","state":{"x":1},
    "tools":[],"context":[],"resume":[],"messages":[{"id":"1","role":"user","content":"a","extra":1}],
    "forwardedProps":{"anything":1}})")
                .ignored_keys,
            0);
  EXPECT_EQ(
      accepted(R"({"messages":[{"role":"user","content":"a"}],"one":1,"two":{"three":3}})").ignored_keys, 2);
}

TEST(RunInput, RUN_1_JoinsTextParts) {
  EXPECT_EQ(
      accepted(
          R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]})")
          .text,
      "ab");
}

TEST(RunInput, OldClientsSayNoVersion) {
  EXPECT_EQ(accepted(R"({"messages":[{"role":"user","content":"x"}]})").agui_version, "0.0");
}

TEST(RunInput, BadInputIsRefusedWithWhatIsWrong) {
  EXPECT_EQ(refusal_of("[]"), "the body must be a JSON object");
  EXPECT_EQ(refusal_of("{}"), "'messages' must be a list with a user message");
  EXPECT_EQ(refusal_of(R"({"messages":[]})"), "'messages' has no message with role 'user'");
  EXPECT_EQ(refusal_of(R"({"messages":[1]})"), "each message must be an object with a 'role'");
  EXPECT_EQ(refusal_of(R"({"messages":[{"role":"user","content":""}]})"), "the newest user message is empty");
  EXPECT_EQ(refusal_of(R"({"messages":[{"role":"user","content":[{"type":"image"}]}]})"),
            "only content parts of type 'text' are supported");
  EXPECT_EQ(refusal_of(R"({"threadId":7,"messages":[{"role":"user","content":"x"}]})"),
            "'threadId' must be a string");
  EXPECT_EQ(refusal_of(R"({"runId":"a b","messages":[{"role":"user","content":"x"}]})"),
            "'threadId' and 'runId' must be 1 to 128 visible ASCII characters without spaces");
  EXPECT_EQ(refusal_of(R"({"messages":[{"role":"user","content":"x"}],"forwardedProps":{"onBusy":"queue"}})"),
            "'forwardedProps.onBusy' must be one of reject, enqueue, interrupt, rollback");
}

TEST(RunInput, RUN_2_SameInputSameHash) {
  auto const body = R"({"threadId":"t","messages":[{"id":"1","role":"user","content":"x"}]})";
  auto const other = R"({"threadId":"t","messages":[{"id":"1","role":"user","content":"y"}]})";
  auto const elsewhere = R"({"threadId":"u","messages":[{"id":"1","role":"user","content":"x"}]})";
  EXPECT_EQ(hash_of(accepted(body)), hash_of(accepted(body)));
  EXPECT_NE(hash_of(accepted(body)), hash_of(accepted(other)));
  EXPECT_NE(hash_of(accepted(body)), hash_of(accepted(elsewhere)));
}

TEST(RunInput, StoredFormComesBack) {
  RunInput input;
  input.message_id = "m";
  input.text = "line\nwith \"quotes\" 你好";
  input.flow = "chat";
  input.model = "offline";
  auto const back = from_stored(to_stored(input));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->text, input.text);
  EXPECT_EQ(back->message_id, "m");
  EXPECT_FALSE(from_stored("{}"));
  EXPECT_FALSE(from_stored("nonsense"));
}

}  // namespace
}  // namespace runnel::runtime
