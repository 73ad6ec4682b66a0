#include "runnel/protocol/v2.h"

#include "runnel/protocol/json_parts.h"
#include "runnel/protocol/sse_frame.h"

namespace runnel::protocol {
namespace {

// An overload for each fact, so that a new one is not left out by accident.
struct V2Encoder {
  RunNames const& names;
  Position position;
  std::string& out;

  [[nodiscard]] SseFrame begin(std::string_view type) const {
    SseFrame frame{out, position, type};
    frame.json.text("threadId", names.thread.text).text("runId", names.run.text);
    return frame;
  }

  void step(std::string_view type, std::string const& stage) const {
    auto frame = begin(type);
    frame.json.text("stepName", stage);
    frame.end();
  }

  // What START, ARGS, END and APPROVAL have in common.
  template <class ToolFact>
  [[nodiscard]] SseFrame begin_call(std::string_view type, ToolFact const& fact) const {
    auto frame = begin(type);
    frame.json.text("messageId", fact.message.text)
        .text("toolCallId", fact.call.text)
        .text("toolCallName", fact.tool)
        .text("stage", fact.stage);
    return frame;
  }

  // --- The life of the run ---

  void operator()(RunStarted const&) const { begin("RUN_STARTED").end(); }
  void operator()(WriterChanged const&) const {}
  void operator()(StepStarted const& fact) const { step("STEP_STARTED", fact.stage); }
  void operator()(StepFinished const& fact) const { step("STEP_FINISHED", fact.stage); }
  void operator()(RunFinished const&) const { begin("RUN_FINISHED").end(); }
  void operator()(RunFailed const& fact) const {
    auto frame = begin("RUN_ERROR");
    frame.json.text("message", fact.message);
    if (fact.code) {
      frame.json.text("code", *fact.code);
    } else {
      frame.json.null("code");
    }
    frame.json.text("errorId", fact.error_id);
    frame.end();
  }
  void operator()(RunCanceled const&) const {
    auto frame = begin("RUN_ERROR");
    frame.json.text("message", kCanceledMessage).text("code", kCanceledCode);
    frame.end();
  }
  void operator()(StepPaused const&) const {}
  void operator()(RunPaused const&) const {}
  void operator()(RunResumed const&) const {}
  void operator()(StepResumed const&) const {}

  // --- Words: the finished answer only ---

  void operator()(ReplyStarted const&) const {}
  void operator()(ReasoningOpened const&) const {}
  void operator()(ReasoningStarted const&) const {}
  void operator()(ReasoningDelta const&) const {}
  void operator()(ReasoningEnded const&) const {}
  void operator()(ReasoningClosed const&) const {}
  void operator()(TextStarted const&) const {}
  void operator()(TextDelta const&) const {}
  void operator()(TextEnded const&) const {}
  void operator()(AnswerCompleted const& fact) const {
    auto frame = begin("TEXT_MESSAGE_END");
    frame.json.text("messageId", fact.message.text)
        .text("role", "assistant")
        .text("stage", fact.stage)
        .text("status", to_string(fact.status))
        .text("answer", fact.answer);
    append_strings(frame.json.key("suggested_actions"), fact.suggested_actions);
    append_or_null(frame.json, "error", fact.error);
    // V2-1: no other number of the usage may appear here.
    frame.json.number("totalTokens", fact.usage.total_tokens)
        .number("cachedPromptTokens", fact.usage.cached_prompt_tokens)
        .number("promptCacheHitTokens", fact.usage.cache_hit_tokens)
        .number("promptCacheMissTokens", fact.usage.cache_miss_tokens)
        .number("reasoningTokens", fact.usage.reasoning_tokens)
        .text("costSource", to_string(fact.usage.cost_source))
        .boolean("usageComplete", fact.usage.complete);
    frame.end();
  }

  // --- Tools: V2-2, the mixed naming is the contract ---

  void operator()(ToolHint const&) const {}
  void operator()(ToolPreparing const&) const {}
  void operator()(ToolIntent const&) const {}
  void operator()(ToolCallStarted const& fact) const { begin_call("TOOL_CALL_START", fact).end(); }
  void operator()(ToolArgsDelta const&) const {}
  void operator()(ToolArgs const& fact) const {
    auto frame = begin_call("TOOL_CALL_ARGS", fact);
    frame.json.raw("args", fact.args.str());
    frame.end();
  }
  void operator()(ToolCallEnded const& fact) const { begin_call("TOOL_CALL_END", fact).end(); }
  void operator()(ToolStarted const&) const {}
  void operator()(ToolProgress const&) const {}
  void operator()(ToolResult const& fact) const {
    auto frame = begin("TOOL_CALL_RESULT");
    frame.json.text("messageId", fact.message.text)
        .text("role", "tool")
        .text("stage", fact.stage)
        .text("tool_name", fact.tool)
        .text("tool_call_id", fact.call.text)
        .raw("tool_call_args", fact.args.str())
        .text("status", to_string(fact.status))
        .raw("result", fact.result.str());
    append_or_null(frame.json, "error", fact.error);
    if (fact.card) frame.json.raw("ui_schema", fact.card->str());
    frame.end();
  }
  void operator()(CardShown const&) const {}
  void operator()(ApprovalChanged const& fact) const {
    auto frame = begin_call("TOOL_CALL_APPROVAL", fact);
    frame.json.raw("args", fact.args.str()).text("status", to_string(fact.status));
    frame.end();
  }

  // --- Beside the conversation ---

  void operator()(UsageRecorded const&) const {}
  void operator()(SystemNote const&) const {}
  void operator()(StateSnapshot const& fact) const {
    auto frame = begin("STATE_SNAPSHOT");
    frame.json.raw("snapshot", fact.snapshot.str());
    frame.end();
  }
  void operator()(MessagesSnapshot const& fact) const {
    auto frame = begin("MESSAGES_SNAPSHOT");
    frame.json.raw("messages", fact.messages.str());
    frame.end();
  }
};

}  // namespace

void encode_v2(RunNames const& names, Record const& record, std::string& out) {
  std::visit(V2Encoder{names, record.position, out}, record.fact);
}

}  // namespace runnel::protocol
