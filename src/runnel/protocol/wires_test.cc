#include "runnel/protocol/wires.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "runnel/core/testing/fact_samples.h"
#include "runnel/core/text/text.h"
#include "runnel/protocol/poll_envelope.h"
#include "runnel/protocol/testing/named_wires.h"

namespace runnel::protocol {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunNames const kNames{ThreadId{"t1"}, RunId{"r1"}};

std::string frame(Wire wire, Fact fact) {
  std::string out;
  encode(wire, kNames, {{1700, 5}, -1, 1'234'567, std::move(fact)}, out);
  return out;
}

// Whether `bytes` are exactly one frame: three lines with the right names, a blank line, and nothing else.
::testing::AssertionResult is_one_frame(std::string_view bytes, Position id) {
  auto const fail = [&] { return ::testing::AssertionFailure() << bytes; };
  if (!is_utf8(bytes) || bytes.find_first_of(std::string_view{"\r\0", 2}) != std::string_view::npos)
    return fail();
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    auto const end = bytes.find('\n', at);
    if (end == std::string_view::npos) return fail();
    lines.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() != 4 || !lines[3].empty() || lines[0] != "id: " + to_string(id)) return fail();
  if (!lines[1].starts_with("event: ") || !lines[2].starts_with("data: ")) return fail();
  auto const type = R"({"type":")" + std::string{lines[1].substr(7)} + "\",";
  auto const data = lines[2].substr(6);
  if (!data.starts_with(type) || !JsonText::parse(data)) return fail();
  return ::testing::AssertionSuccess();
}

// Whether `bytes` are one element of an array, on one line, and nothing else.
::testing::AssertionResult is_one_element(std::string_view bytes) {
  auto const fail = [&] { return ::testing::AssertionFailure() << bytes; };
  if (!bytes.ends_with(kPollSeparator)) return fail();
  auto const element = bytes.substr(0, bytes.size() - kPollSeparator.size());
  if (element.find('\n') != std::string_view::npos || !JsonText::parse(element)) return fail();
  return ::testing::AssertionSuccess();
}

// Whether `bytes` are one whole text message of RFC 6455 with a JSON object, and nothing else.
::testing::AssertionResult is_one_message(std::string_view bytes) {
  auto const fail = [&] { return ::testing::AssertionFailure() << bytes; };
  auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  if (bytes.size() < 4 || byte(0) != 0x81) return fail();
  std::size_t head = 2;
  std::size_t size = byte(1);
  if (size == 126) {
    head = 4;
    size = byte(2) * std::size_t{256} + byte(3);
    if (size <= 125) return fail();
  } else if (size == 127) {
    head = 10;
    size = 0;
    for (std::size_t i = 2; i < head; ++i)
      size = size * 256 + byte(i);
    if (size <= 0xFFFF) return fail();
  }
  if (bytes.size() != head + size || !is_utf8(bytes.substr(head))) return fail();
  if (!JsonText::parse(bytes.substr(head))) return fail();
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult is_one_event(Wire wire, std::string_view bytes, Position id) {
  switch (transport_of(wire)) {
    case Transport::sse:
      return is_one_frame(bytes, id);
    case Transport::poll:
      return is_one_element(bytes);
    case Transport::web_socket:
      return is_one_message(bytes);
  }
  return ::testing::AssertionFailure();
}

TEST(Wires, AreV2WhereTheClientNamesNone) {
  EXPECT_EQ(find_wire("", ""), kV2);
  EXPECT_EQ(find_wire("v2", "1.0"), kV2);
}

TEST(Wires, AGUI_1_TheTwoClientVersionsAreTwoWires) {
  EXPECT_NE(kAgUi1, kAgUi0);
  EXPECT_EQ(name_of(kAgUi1), "ag-ui-1.0");
  EXPECT_EQ(name_of(kAgUi0), "ag-ui-0.0");
}

TEST(Wires, NamesAndVersionsThatAreNotThereAreRefused) {
  EXPECT_EQ(find_wire("V2", ""), std::nullopt);
  EXPECT_EQ(find_wire("ag-ui", ""), std::nullopt);
  EXPECT_EQ(find_wire("ag-ui", "2.0"), std::nullopt);
  EXPECT_EQ(find_wire("tasks", ""), std::nullopt) << "no event stream has it";
}

TEST(Wires, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (auto const& row : all_wires())
    names.insert(row.name);
  EXPECT_EQ(names.size(), all_wires().size());
  EXPECT_THAT(dialect_names(), ::testing::ElementsAre("v2", "v1", "ag-ui"));
  EXPECT_THAT(dialect_versions(), ::testing::ElementsAre("1.0", "0.0"));
}

TEST(Encode, SSE_1_AFrameHasIdEventAndOneLineOfData) {
  EXPECT_EQ(frame(kV2, RunStarted{}),
            "id: 1700-5\nevent: RUN_STARTED\n"
            "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n");
}

TEST(Encode, WIRE_1_AFactGivesAtMostOneFrameInEachDialect) {
  for (auto const& record : fact_samples()) {
    for (auto const wire : every_wire()) {
      std::string out;
      encode(wire, kNames, record, out);
      if (out.empty()) continue;
      EXPECT_TRUE(is_one_event(wire, out, record.position)) << name_of(wire);
    }
  }
}

TEST(Encode, WIRE_1_AppendsToWhatIsThere) {
  std::string out = "before";
  encode(kV2, kNames, {{1700, 5}, -1, 0, RunStarted{}}, out);
  EXPECT_EQ(out, "before" + frame(kV2, RunStarted{}));
}

TEST(Encode, NoBytesOfATextMakeASecondFrameOrACarriageReturn) {
  std::mt19937 random{20240607};
  std::uniform_int_distribution<int> length{0, 24};
  std::uniform_int_distribution<int> choice{0, 3};
  std::uniform_int_distribution<int> any_byte{0, 255};
  std::string_view const nasty{"\r\n:\"\\\0\x1f\xe2\x80\xa8 {}", 13};
  std::uniform_int_distribution<std::size_t> nasty_byte{0, nasty.size() - 1};

  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = length(random); i > 0; --i) {
      text += choice(random) == 0 ? static_cast<char>(any_byte(random)) : nasty[nasty_byte(random)];
    }
    RunNames const names{ThreadId{text}, RunId{text}};
    for (auto const& record : fact_samples(text)) {
      for (auto const wire : every_wire()) {
        std::string out;
        encode(wire, names, record, out);
        if (out.empty()) continue;
        ASSERT_TRUE(is_one_event(wire, out, record.position)) << name_of(wire);
      }
    }
  }
}

TEST(EncodeV2, ShowsNoDeltasAndNoMessageThatIsNotTheAnswer) {
  for (auto const& record : fact_samples()) {
    auto const& fact = record.fact;
    if (is_delta(fact) || std::holds_alternative<TextStarted>(fact) ||
        std::holds_alternative<TextEnded>(fact)) {
      EXPECT_EQ(frame(kV2, fact), "");
    }
  }
}

TEST(EncodeV2, V2_1_NamesNeitherModelNorCostNorTheTokensOfEitherSide) {
  for (auto const& record : fact_samples()) {
    auto const bytes = frame(kV2, record.fact);
    for (auto const* key :
         {"inputTokens", "outputTokens", "\"cost\"", "latencyMs", "\"model\"", "ui_hints"}) {
      EXPECT_THAT(bytes, Not(HasSubstr(key)));
    }
  }
}

TEST(EncodeV2, AFailureWithoutACodeSaysNull) {
  EXPECT_THAT(frame(kV2, RunFailed{"runtime execution failed", std::nullopt, "e1", {}}),
              HasSubstr(R"("message":"runtime execution failed","code":null,"errorId":"e1"})"));
}

TEST(EncodeV2, RUN_4_ACanceledRunEndsInItsError) {
  EXPECT_THAT(frame(kV2, RunCanceled{}),
              HasSubstr(R"("runId":"r1","message":"run canceled by user","code":"RUN_CANCELED"})"));
}

TEST(EncodeV2, AResultWithoutACardHasNoUiSchema) {
  auto const bytes = frame(kV2, ToolResult{});
  EXPECT_THAT(bytes, Not(HasSubstr("ui_schema")));
  EXPECT_THAT(bytes, HasSubstr(R"("error":null)"));
}

TEST(EncodeV1, AResultIsATextAndHasNoCard) {
  ToolResult fact;
  fact.result = JsonText::parse(R"({"status":"success"})").value();
  fact.card = JsonText::parse(R"({"format":"a2ui"})").value();

  auto const bytes = frame(kV1, fact);

  EXPECT_THAT(bytes, HasSubstr(R"("result":"{\"status\":\"success\"}","error":null})"));
  EXPECT_THAT(bytes, Not(HasSubstr("ui_schema")));
}

TEST(EncodeV1, AnAnswerHasTheLastCardAndNoUsage) {
  AnswerCompleted fact;
  fact.key_points = {"booked"};
  fact.result_type = "execution_report";
  EXPECT_THAT(
      frame(kV1, fact),
      HasSubstr(
          R"("answer":"","key_points":["booked"],"result_type":"execution_report","suggested_actions":[],"error":null,"ui_schema":{}})"));

  fact.last_card = JsonText::parse(R"({"format":"a2ui"})").value();
  EXPECT_THAT(frame(kV1, fact), HasSubstr(R"("ui_schema":{"format":"a2ui"}})"));
}

TEST(EncodeV1, EverythingElseIsAsInV2) {
  for (auto const& record : fact_samples()) {
    bool const differs = std::holds_alternative<ToolResult>(record.fact) ||
                         std::holds_alternative<ClientCallClosed>(record.fact) ||
                         std::holds_alternative<AnswerCompleted>(record.fact);
    if (!differs) {
      EXPECT_EQ(frame(kV1, record.fact), frame(kV2, record.fact));
    }
  }
}

std::string task_event(Fact fact) {
  std::string out;
  encode(kPolled, kNames, {{1700, 5}, 12, 1'769'182'968'154'797, std::move(fact)}, out);
  return out;
}

TEST(EncodeTasks, TASK_3_AnEventHasItsNumberTypeDataAndTime) {
  EXPECT_EQ(
      task_event(TextDelta{MessageId{"m"}, "你好", 5, 3000}),
      "{\"idx\":12,\"type\":\"text_chunk\",\"data\":{\"content\":\"你好\",\"index\":5,\"elapsed\":0.003000},"
      "\"ts\":1769182968.154797},\n");
}

// The numbers have no gap, so a fact that has one must be shown, also if its text is empty.
TEST(EncodeTasks, TASK_3_ExactlyTheFactsWithANumberAreShown) {
  for (auto const& record : fact_samples("")) {
    EXPECT_EQ(!task_event(record.fact).empty(), has_task_event(record.fact)) << record.fact.index();
  }
}

TEST(EncodeTasks, TASK_6_ACallThatMayNotRunFailsWithItsOwnId) {
  ToolResult refused;
  refused.call = ToolCallId{"call-1"};
  refused.status = ToolStatus::failure;
  EXPECT_THAT(task_event(refused), HasSubstr(R"("data":{"id":"call-1","status":"failed")"));

  ApprovalChanged asked;
  asked.call = ToolCallId{"call-1"};
  asked.action_id = "tool_0_calendar.create_x";
  EXPECT_THAT(task_event(asked),
              HasSubstr(R"("data":{"id":"tool_0_calendar.create_x","status":"awaiting_approval")"));
}

TEST(EncodeTasks, TASK_6_ARunEndsAsItsStatusSays) {
  EXPECT_THAT(
      task_event(RunFinished{{}, 3, 2, 1}),
      HasSubstr(
          R"("type":"task_complete","data":{"total_iterations":3,"total_tool_calls":2,"auto_fix_attempts":1})"));
  EXPECT_THAT(task_event(RunFailed{"broken", std::nullopt, "e1", {}}),
              HasSubstr(R"("type":"error","data":{"message":"broken"})"));
  EXPECT_THAT(task_event(RunCanceled{}),
              HasSubstr(R"("type":"system_message","data":{"content":"run canceled by user"})"));
}

TEST(EncodeTasks, TASK_5_AWebSocketGetsTheSameEventAsAPoll) {
  for (std::size_t const size : {1U, 20U, 200U, 70'000U}) {
    Record const record{{1700, 5}, 12, 0, ReasoningDelta{MessageId{"m"}, std::string(size, 'x')}};
    std::string polled;
    std::string sent;
    encode(kPolled, kNames, record, polled);
    encode(kWebSocket, kNames, record, sent);
    polled.resize(polled.size() - kPollSeparator.size());
    EXPECT_TRUE(sent.ends_with(polled));
    EXPECT_TRUE(is_one_message(sent)) << size;
  }
}

TEST(EncodeAgUi, AGUI_1_OnlyTheNewClientIsToldTheVersion) {
  EXPECT_THAT(frame(kAgUi1, RunStarted{}), HasSubstr(R"("protocolVersion":"1.0")"));
  EXPECT_THAT(frame(kAgUi0, RunStarted{}), Not(HasSubstr("protocolVersion")));
}

TEST(EncodeAgUi, AGUI_3_CancelIsAnOutcomeOrForOldClientsAnError) {
  EXPECT_THAT(
      frame(kAgUi1, RunCanceled{}),
      HasSubstr(
          R"("type":"RUN_FINISHED","timestamp":1234,"threadId":"t1","runId":"r1","outcome":{"type":"cancelled"})"));
  EXPECT_THAT(frame(kAgUi0, RunCanceled{}), HasSubstr(R"("code":"RUN_CANCELED")"));
}

TEST(EncodeAgUi, AGUI_3_CostIsTheSumAsDecimalText) {
  Usage usage;
  usage.cost = Money{750'000'000'000};
  EXPECT_THAT(frame(kAgUi1, RunFinished{{usage, usage}, 0, 0, 0}),
              HasSubstr(R"("metadata":{"cost":"1.5","currency":"CNY","usageComplete":true}})"));
}

TEST(EncodeAgUi, AGUI_4_AResumedRunStartsUnderItsAlias) {
  EXPECT_THAT(frame(kAgUi1, RunResumed{RunId{"r1~2"}}), HasSubstr(R"("runId":"r1~2")"));
}

TEST(EncodeAgUi, AnEmptyDeltaGivesNoFrame) {
  EXPECT_EQ(frame(kAgUi1, TextDelta{MessageId{"m"}, "", 1, 0}), "");
  EXPECT_EQ(frame(kAgUi1, ReasoningDelta{MessageId{"m"}, ""}), "");
  EXPECT_EQ(frame(kAgUi1, ToolArgsDelta{ToolCallId{"c"}, ""}), "");
}

TEST(EncodeAgUi, ANewWriterAheadOfEverythingIsNotShown) {
  EXPECT_EQ(frame(kAgUi1, WriterChanged{1699, 0}), "");
  EXPECT_THAT(frame(kAgUi1, WriterChanged{1699, 4}),
              HasSubstr(R"("name":"runnel.writer_changed","value":{"afterId":"1699-4"})"));
}

TEST(EncodeAgUi, RUN_14_AReplacedMessageEndsAsSuperseded) {
  EXPECT_THAT(frame(kAgUi0, TextEnded{MessageId{"m"}, "worker", "x", TextOutcome::superseded}),
              HasSubstr(R"("metadata":{"stage":"worker","status":"superseded"})"));
}

TEST(EncodeAgUi, NothingIsNull) {
  std::vector<Fact> const bare{
      RunFinished{},     RunFailed{},       RunCanceled{}, RunPaused{{Interrupt{}}, {}},
      AnswerCompleted{}, ToolCallStarted{}, CardShown{}};
  for (auto const& fact : bare) {
    for (auto const wire : {kAgUi1, kAgUi0}) {
      EXPECT_THAT(frame(wire, fact), Not(HasSubstr(":null"))) << fact.index();
    }
  }
}

}  // namespace
}  // namespace runnel::protocol
