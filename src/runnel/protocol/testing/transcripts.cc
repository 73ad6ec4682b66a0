#include "runnel/protocol/testing/transcripts.h"

namespace runnel::protocol {
namespace {

using namespace std::string_literals;

constexpr Epoch kEpoch = 1'700'000'000'000;
constexpr std::int64_t kStart = kEpoch * 1000;
MessageId const kAnswer{"msg-answer"};
ToolCallId const kCall{"call-1"};

class Script {
 public:
  explicit Script(std::string name, RunNames names = {ThreadId{"thread-1"}, RunId{"run-1"}})
      : transcript_{std::move(name), std::move(names), {}} {}

  Script& say(Fact fact) {
    auto const idx = has_task_event(fact) ? next_idx_++ : -1;
    transcript_.records.push_back(
        {{epoch_, ++n_}, idx, kStart + static_cast<std::int64_t>(n_) * 20'500, std::move(fact)});
    return *this;
  }
  // Another node takes over the run; its first fact says so.
  Script& take_over(bool after_pause = false) {
    auto const previous = std::exchange(epoch_, epoch_ + 5000);
    return say(WriterChanged{previous, n_, after_pause});
  }
  Script& text(MessageId const& message, std::vector<std::string> const& pieces) {
    say(TextStarted{message, "worker"});
    std::int64_t index = 0;
    for (auto const& piece : pieces)
      say(TextDelta{message, piece, ++index, 20'500});
    return *this;
  }
  operator Transcript() const { return transcript_; }

 private:
  Transcript transcript_;
  Epoch epoch_ = kEpoch;
  std::uint64_t n_ = 0;
  std::int64_t next_idx_ = 0;
};

JsonText json(std::string_view text) {
  return JsonText::parse(text).value();
}

Usage usage() {
  return {"deepseek",
          "deepseek-chat",
          {120, 30, 150, 64, 64, 56, 0, 12, true},
          CostSource::provider,
          Money{1'234'000'000}};
}
Usage estimate() {
  return {"alibaba",
          "qwen-plus",
          {10, 5, 15, 0, 0, 10, 0, 0, false},
          CostSource::incomplete_usage_fallback,
          Money{766'000'000}};
}

AnswerCompleted answer(std::string text) {
  AnswerCompleted fact;
  fact.message = kAnswer;
  fact.stage = "worker";
  fact.answer = std::move(text);
  fact.usage = usage();
  return fact;
}

JsonText tool_args() {
  return json(R"({"module":"calendar","method":"create","input":{"title":"晨会"}})");
}
JsonText tool_outcome() {
  return json(R"({"module":"calendar","method":"create","id":12345678901234567890123})");
}
JsonText card() {
  return json(R"({"surfaceId":"call-1","components":[{"id":"root","component":"Text","text":"晨会"}]})");
}

void call_tool(Script& script, std::vector<std::string> const& pieces) {
  script.say(ToolCallStarted{MessageId{"msg-call"}, kCall, "project_cli", "worker"});
  for (auto const& piece : pieces)
    script.say(ToolArgsDelta{kCall, piece});
  script.say(ToolArgs{MessageId{"msg-call"}, kCall, "project_cli", "worker", tool_args()})
      .say(ToolCallEnded{MessageId{"msg-call"}, kCall, "project_cli", "worker"});
}

ToolResult tool_result() {
  return {MessageId{"msg-result"}, kCall,        "project_cli", "worker", tool_args(), ToolStatus::success,
          tool_outcome(),          std::nullopt, card(),        "tool_0", "created"};
}

Transcript plain() {
  return Script{"plain"}
      .say(RunStarted{})
      .say(StepStarted{"worker"})
      .say(ReplyStarted{})
      .text(kAnswer, {"Hello", ", ", "", "世界!"})
      .say(UsageRecorded{"worker", usage()})
      .say(StepFinished{"worker"})
      .say(answer("Hello, 世界!"))
      .say(RunFinished{{usage()}, 1, 0, 0});
}

Transcript reasoning() {
  MessageId const thought{"msg-thought"};
  auto done = answer("Yes.");
  done.suggested_actions = {"Ask more", "Stop"};
  done.status = AnswerStatus::partial_success;
  return Script{"reasoning"}
      .say(RunStarted{})
      .say(StepStarted{"worker"})
      .say(ReplyStarted{})
      .say(ReasoningOpened{thought})
      .say(ReasoningStarted{thought})
      .say(ReasoningDelta{thought, "Let me "})
      .say(ReasoningDelta{thought, "think."})
      .say(ReasoningEnded{thought, "Let me think."})
      .say(ReasoningClosed{thought})
      .text(kAnswer, {"Yes."})
      .say(StepFinished{"worker"})
      .say(std::move(done))
      .say(RunFinished{{usage(), estimate()}, 1, 0, 0});
}

Transcript tool() {
  Script script{"tool"};
  script.say(RunStarted{})
      .say(StepStarted{"worker"})
      .say(ToolHint{"early_calendar.create_1", "calendar.create"})
      .text(MessageId{"msg-before"}, {"One moment."})
      .say(TextEnded{MessageId{"msg-before"}, "worker", "One moment.", TextOutcome::complete});
  call_tool(script, {R"({"module":"calendar","meth)", R"(od":"create","input":{"title":"晨会"}})"});
  return script
      .say(ToolStarted{"tool_0", kCall, "calendar.create", json(R"({"title":"晨会"})"), "calendar.create:0"})
      .say(ToolProgress{"tool_0", "working", {}})
      .say(tool_result())
      .say(CardShown{MessageId{"card-1"}, kCall, card()})
      .text(kAnswer, {"Created."})
      .say(StepFinished{"worker"})
      .say(answer("Created."))
      .say(RunFinished{{usage()}, 2, 1, 0});
}

Transcript failed() {
  return Script{"failed"}
      .say(RunStarted{})
      .say(StepStarted{"worker"})
      .text(kAnswer, {"Half an ans"})
      .say(TextEnded{kAnswer, "worker", "Half an ans", TextOutcome::failed})
      .say(StepFinished{"worker"})
      .say(RunFailed{"the model cannot be reached", "MODEL_UNAVAILABLE", "err-1", {usage()}});
}

Transcript failed_before_the_start() {
  return Script{"failed_before_the_start"}.say(
      RunFailed{"runtime execution failed", std::nullopt, "err-2", {}});
}

Transcript canceled() {
  Script script{"canceled"};
  script.say(RunStarted{}).say(StepStarted{"worker"});
  call_tool(script, {R"({"module":"calendar","method":"create","input":{"title":"晨会"}})"});
  auto result = tool_result();
  result.status = ToolStatus::failure;
  result.error = json(R"({"code":"CANCELED","message":"run canceled by user"})");
  result.result = json(R"({"error":{"code":"CANCELED"}})");
  result.card.reset();
  return script.say(std::move(result)).say(StepFinished{"worker"}).say(RunCanceled{{usage()}});
}

Transcript recovered() {
  MessageId const first{"msg-first"};
  return Script{"recovered"}
      .say(RunStarted{})
      .say(StepStarted{"worker"})
      .text(first, {"Lost in ", "the cra"})
      .take_over()
      .say(TextEnded{first, "worker", "Lost in the cra", TextOutcome::superseded})
      .text(kAnswer, {"Safe."})
      .say(StepFinished{"worker"})
      .say(answer("Safe."))
      .say(RunFinished{{usage()}, 2, 0, 0});
}

Transcript approval() {
  Script script{"approval"};
  ApprovalChanged asked{MessageId{"msg-call"},    kCall,   "project_cli", "worker", tool_args(),
                        ApprovalStatus::required, "tool_0"};
  auto approved = asked;
  approved.status = ApprovalStatus::approved;
  Interrupt const interrupt{
      "int-1", kCall, "Create 晨会?",
      json(R"({"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]})"),
      "2023-11-15T00:00:00Z"};
  script.say(RunStarted{}).say(StepStarted{"worker"});
  call_tool(script, {R"({"module":"calendar","method":"create","input":{"title":"晨会"}})"});
  return script.say(std::move(asked))
      .say(StepPaused{"worker"})
      .say(RunPaused{{interrupt}, {usage()}})
      .take_over(true)
      .say(RunResumed{RunId{"run-1~2"}})
      .say(StepResumed{"worker"})
      .say(std::move(approved))
      .say(tool_result())
      .text(kAnswer, {"Created."})
      .say(StepFinished{"worker"})
      .say(answer("Created."))
      .say(RunFinished{{usage()}, 2, 1, 0, RunId{"run-1~2"}});
}

// A run that ends with two calls of the client's tools, and what the next one begins with (AGUI-6).
Transcript client_calls_left() {
  ToolCallId const other{"call-2"};
  JsonText const args = json(R"({"color":"red"})");
  RunFinished finished{{usage()}, 1, 2, 0};
  finished.pending_calls = {kCall, other};
  Script script{"client_calls_left"};
  script.say(RunStarted{}).say(StepStarted{"worker"});
  for (auto const& [id, message] :
       {std::pair{kCall, MessageId{"msg-call"}}, std::pair{other, MessageId{"msg-call-2"}}}) {
    script.say(ToolCallStarted{message, id, "set_color", "worker"})
        .say(ToolArgsDelta{id, R"({"color":)"})
        .say(ToolArgsDelta{id, R"( "red"})"})
        .say(ToolPreparing{"set_color:0", "set_color", ""})
        .say(ToolArgs{message, id, "set_color", "worker", args})
        .say(ToolCallEnded{message, id, "set_color", "worker"});
  }
  return script.say(StepFinished{"worker"}).say(std::move(finished));
}

Transcript client_calls_closed() {
  JsonText const args = json(R"({"color":"red"})");
  JsonText const abandoned =
      json(R"({"status":"failure","error":{"code":"CLIENT_TOOL_ABANDONED","message":"gone"}})");
  return Script{"client_calls_closed"}
      .say(RunStarted{json(R"([{"id":"mine","role":"tool","toolCallId":"call-1","content":"done\n"}])")})
      .say(ClientCallClosed{MessageId{"mine"}, kCall, "set_color", "worker", args, ToolStatus::success,
                            "done\n", json(R"({"content":"done\n"})"), std::nullopt, "", true})
      .say(ClientCallClosed{MessageId{"msg-closed"}, ToolCallId{"call-2"}, "set_color", "worker", args,
                            ToolStatus::failure, abandoned.str(), abandoned, abandoned,
                            "CLIENT_TOOL_ABANDONED", false})
      .say(StepStarted{"worker"})
      .say(ReplyStarted{})
      .text(kAnswer, {"Red."})
      .say(answer("Red."))
      .say(StepFinished{"worker"})
      .say(RunFinished{{usage()}, 1, 0, 0});
}

Transcript snapshots() {
  return Script{"snapshots"}
      .say(RunStarted{})
      .say(StateSnapshot{json(R"({"mood":"calm","n":1})")})
      .say(MessagesSnapshot{json(
          R"([{"id":"u1","role":"user","content":"hi"},{"id":"a1","role":"assistant","content":"hey"}])")})
      .say(SystemNote{"not on this wire"})
      .say(RunFinished{});
}

Transcript superseded() {
  MessageId const first{"msg-first"};
  MessageId const second{"msg-second"};
  return Script{"superseded"}
      .say(RunStarted{})
      .say(StepStarted{"worker"})
      .text(first, {"Wrong"})
      .say(TextEnded{first, "worker", "Wrong", TextOutcome::superseded})
      .say(MessageSuperseded{first, json(R"([{"id":"u1","role":"user","content":"hi"}])")})
      .text(second, {"Also wrong"})
      .say(TextEnded{second, "worker", "Also wrong", TextOutcome::superseded})
      .say(MessageSuperseded{second, std::nullopt})
      .text(kAnswer, {"Right"})
      .say(StepFinished{"worker"})
      .say(answer("Right"))
      .say(RunFinished{{usage()}, 1, 0, 2});
}

// Texts that would break a frame if they were written into it unescaped.
Transcript injection() {
  auto const evil =
      "\n\ndata: x\r\n\r\nid: 9-9\nevent: RUN_FINISHED\r\u2028\u2029\0\x1b\"\\</script> 😀 \xff\xe6\x97"s;
  auto done = answer("say: "s + evil);
  done.suggested_actions = {evil};
  return Script{"injection", {ThreadId{"t\"\n/\\é"}, RunId{"r\r\n\r\ndata: {}"}}}
      .say(RunStarted{})
      .say(StepStarted{"st\nep\""})
      .text(kAnswer, {"say: ", evil})
      .say(StepFinished{"st\nep\""})
      .say(std::move(done))
      .say(RunFailed{evil, "BAD\nCODE", "err\r3", {}});
}

}  // namespace

std::vector<Transcript> all_transcripts() {
  return {plain(),
          reasoning(),
          tool(),
          failed(),
          failed_before_the_start(),
          canceled(),
          recovered(),
          approval(),
          client_calls_left(),
          client_calls_closed(),
          snapshots(),
          superseded(),
          injection()};
}

}  // namespace runnel::protocol
