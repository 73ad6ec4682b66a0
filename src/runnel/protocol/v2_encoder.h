#pragma once

#include <string>
#include <string_view>

#include "runnel/core/fact/run_names.h"
#include "runnel/protocol/envelope.h"
#include "runnel/protocol/json_parts.h"

namespace runnel::protocol {

// The dialect v2. There is an overload for each fact, so that a new fact cannot be forgotten. v1 is this with
// other members in two events.
struct V2Encoder {
  RunNames const& names;
  Record const& record;
  Envelope const& envelope;
  std::string& out;

  [[nodiscard]] Event begin(std::string_view type) const {
    Event event{envelope, out, record, type};
    event.json.text("type", type).text("threadId", names.thread.text).text("runId", names.run.text);
    return event;
  }

  void step(std::string_view type, std::string const& stage) const {
    auto event = begin(type);
    event.json.text("stepName", stage);
    event.end();
  }

  // The members that START, ARGS, END and APPROVAL have in common.
  template <class ToolFact>
  [[nodiscard]] Event begin_call(std::string_view type, ToolFact const& fact) const {
    auto event = begin(type);
    event.json.text("messageId", fact.message.text)
        .text("toolCallId", fact.call.text)
        .text("toolCallName", fact.tool)
        .text("stage", fact.stage);
    return event;
  }

  // --- The life of the run ---

  void operator()(RunStarted const&) const { begin("RUN_STARTED").end(); }
  void operator()(WriterChanged const&) const {}
  void operator()(StepStarted const& fact) const { step("STEP_STARTED", fact.stage); }
  void operator()(StepFinished const& fact) const { step("STEP_FINISHED", fact.stage); }
  void operator()(RunFinished const&) const { begin("RUN_FINISHED").end(); }
  void operator()(RunFailed const& fact) const {
    auto event = begin("RUN_ERROR");
    event.json.text("message", fact.message);
    if (fact.code) {
      event.json.text("code", *fact.code);
    } else {
      event.json.null("code");
    }
    event.json.text("errorId", fact.error_id);
    event.end();
  }
  void operator()(RunCanceled const&) const {
    auto event = begin("RUN_ERROR");
    event.json.text("message", kCanceledMessage).text("code", kCanceledCode);
    event.end();
  }
  void operator()(StepPaused const&) const {}
  void operator()(RunPaused const&) const {}
  void operator()(RunResumed const&) const {}
  void operator()(StepResumed const&) const {}

  // --- Words: only the finished answer ---

  void operator()(ReplyStarted const&) const {}
  void operator()(ReasoningOpened const&) const {}
  void operator()(ReasoningStarted const&) const {}
  void operator()(ReasoningDelta const&) const {}
  void operator()(ReasoningEnded const&) const {}
  void operator()(ReasoningClosed const&) const {}
  void operator()(TextStarted const&) const {}
  void operator()(TextDelta const&) const {}
  void operator()(TextEnded const&) const {}
  [[nodiscard]] Event begin_answer(AnswerCompleted const& fact) const {
    auto event = begin("TEXT_MESSAGE_END");
    event.json.text("messageId", fact.message.text)
        .text("role", "assistant")
        .text("stage", fact.stage)
        .text("status", to_string(fact.status))
        .text("answer", fact.answer);
    return event;
  }
  void operator()(AnswerCompleted const& fact) const {
    auto event = begin_answer(fact);
    append_strings(event.json.key("suggested_actions"), fact.suggested_actions);
    append_or_null(event.json, "error", fact.error);
    // V2-1: no other usage number may appear here.
    event.json.number("totalTokens", fact.usage.tokens.total)
        .number("cachedPromptTokens", fact.usage.tokens.cached)
        .number("promptCacheHitTokens", fact.usage.tokens.cache_hit)
        .number("promptCacheMissTokens", fact.usage.tokens.cache_miss)
        .number("reasoningTokens", fact.usage.tokens.reasoning)
        .text("costSource", to_string(fact.usage.cost_source))
        .boolean("usageComplete", fact.usage.tokens.complete);
    event.end();
  }

  // --- Tools (V2-2): the contract requires this mix of naming styles ---

  void operator()(ToolHint const&) const {}
  void operator()(ToolPreparing const&) const {}
  void operator()(ToolIntent const&) const {}
  void operator()(ToolCallStarted const& fact) const { begin_call("TOOL_CALL_START", fact).end(); }
  void operator()(ToolArgsDelta const&) const {}
  void operator()(ToolArgs const& fact) const {
    auto event = begin_call("TOOL_CALL_ARGS", fact);
    event.json.raw("args", fact.args.str());
    event.end();
  }
  void operator()(ToolCallEnded const& fact) const { begin_call("TOOL_CALL_END", fact).end(); }
  void operator()(ToolStarted const&) const {}
  void operator()(ToolProgress const&) const {}
  template <class ResultFact>
  [[nodiscard]] Event begin_result(ResultFact const& fact) const {
    auto event = begin("TOOL_CALL_RESULT");
    event.json.text("messageId", fact.message.text)
        .text("role", "tool")
        .text("stage", fact.stage)
        .text("tool_name", fact.tool)
        .text("tool_call_id", fact.call.text)
        .raw("tool_call_args", fact.args.str())
        .text("status", to_string(fact.status));
    return event;
  }
  void operator()(ToolResult const& fact) const {
    auto event = begin_result(fact);
    event.json.raw("result", fact.result.str());
    append_or_null(event.json, "error", fact.error);
    if (fact.card) event.json.raw("ui_schema", fact.card->str());
    event.end();
  }
  void operator()(ClientCallClosed const& fact) const {
    auto event = begin_result(fact);
    event.json.raw("result", fact.result.str());
    append_or_null(event.json, "error", fact.error);
    event.end();
  }
  void operator()(CardShown const&) const {}
  void operator()(ApprovalChanged const& fact) const {
    auto event = begin_call("TOOL_CALL_APPROVAL", fact);
    event.json.raw("args", fact.args.str()).text("status", to_string(fact.status));
    event.end();
  }

  // --- Outside the conversation ---

  void operator()(UsageRecorded const&) const {}
  void operator()(SystemNote const&) const {}
  void operator()(StateSnapshot const& fact) const {
    auto event = begin("STATE_SNAPSHOT");
    event.json.raw("snapshot", fact.snapshot.str());
    event.end();
  }
  void operator()(MessageSuperseded const&) const {}
  void operator()(MessagesSnapshot const& fact) const {
    auto event = begin("MESSAGES_SNAPSHOT");
    event.json.raw("messages", fact.messages.str());
    event.end();
  }
};

}  // namespace runnel::protocol
