#include "runnel/protocol/ag_ui.h"

#include <algorithm>

#include "runnel/protocol/json_parts.h"
#include "runnel/protocol/sse_frame.h"

namespace runnel::protocol {
namespace {

// --- Usage: AG-UI has no field for money, so it stands in `metadata` ---

void append_usage(std::string& out, std::vector<Usage> const& usage) {
  out += '[';
  for (auto const& entry : usage) {
    if (&entry != &usage.front()) out += ',';
    JsonObject object{out};
    object.text("provider", entry.provider)
        .text("model", entry.model)
        .number("inputTokens", entry.input_tokens)
        .number("outputTokens", entry.output_tokens)
        .number("totalTokens", entry.total_tokens)
        .number("reasoningTokens", entry.reasoning_tokens)
        .number("cachedInputTokens", entry.cached_prompt_tokens);
    object.close();
  }
  out += ']';
}

std::optional<Money> total_cost(std::vector<Usage> const& usage) {
  std::optional<Money> total = Money{};
  for (auto const& entry : usage) {
    if (total) total = checked_add(*total, entry.cost);
  }
  return total;
}

void add_cost(JsonObject& metadata, std::vector<Usage> const& usage) {
  if (auto const cost = total_cost(usage)) metadata.text("cost", to_decimal(*cost)).text("currency", "CNY");
  metadata.boolean("usageComplete",
                   std::all_of(usage.begin(), usage.end(), [](auto const& u) { return u.complete; }));
}

void add_usage(JsonObject& event, std::vector<Usage> const& usage) {
  if (usage.empty()) return;
  append_usage(event.key("usage"), usage);
  JsonObject metadata{event.key("metadata")};
  add_cost(metadata, usage);
  metadata.close();
}

void append_interrupts(std::string& out, std::vector<Interrupt> const& interrupts) {
  out += '[';
  for (auto const& interrupt : interrupts) {
    if (&interrupt != &interrupts.front()) out += ',';
    JsonObject object{out};
    object.text("id", interrupt.id).text("reason", "tool_call");
    if (!interrupt.message.empty()) object.text("message", interrupt.message);
    object.text("toolCallId", interrupt.call.text);
    if (interrupt.response_schema.is_object()) object.raw("responseSchema", interrupt.response_schema.str());
    if (!interrupt.expires_at.empty()) object.text("expiresAt", interrupt.expires_at);
    object.close();
  }
  out += ']';
}

void add_stage(JsonObject& event, std::string const& stage) {
  JsonObject metadata{event.key("metadata")};
  metadata.text("stage", stage);
  metadata.close();
}

// An overload for each fact, so that a new one is not left out by accident.
struct AgUiEncoder {
  AgUiVersion version;
  RunNames const& names;
  Record const& record;
  std::string& out;

  [[nodiscard]] SseFrame begin(std::string_view type) const {
    SseFrame frame{out, record.position, type};
    frame.json.number("timestamp", record.time_us / 1000);  // Milliseconds; 1.0 takes integers only.
    return frame;
  }
  [[nodiscard]] SseFrame begin_run_event(std::string_view type, RunId const& run) const {
    auto frame = begin(type);
    frame.json.text("threadId", names.thread.text).text("runId", run.text);
    return frame;
  }

  void run_started(RunId const& run) const {
    auto frame = begin_run_event("RUN_STARTED", run);
    if (version == AgUiVersion::v1_0) frame.json.text("protocolVersion", "1.0");
    frame.end();
  }
  void step(std::string_view type, std::string const& stage) const {
    auto frame = begin(type);
    frame.json.text("stepName", stage);
    frame.end();
  }
  void message_event(std::string_view type, MessageId const& message) const {
    auto frame = begin(type);
    frame.json.text("messageId", message.text);
    frame.end();
  }
  void message_start(std::string_view type, MessageId const& message, std::string_view role) const {
    auto frame = begin(type);
    frame.json.text("messageId", message.text).text("role", role);
    frame.end();
  }
  void delta(std::string_view type, std::string_view key, std::string const& id,
             std::string const& text) const {
    if (text.empty()) return;
    auto frame = begin(type);
    frame.json.text(key, id).text("delta", text);
    frame.end();
  }

  // --- The life of the run ---

  void operator()(RunStarted const&) const { run_started(names.run); }
  // Before the first fact there is nothing to void, and the verifier takes nothing ahead of RUN_STARTED.
  void operator()(WriterChanged const& fact) const {
    if (fact.after_n == 0) return;
    auto frame = begin("CUSTOM");
    frame.json.text("name", "runnel.writer_changed");
    JsonObject value{frame.json.key("value")};
    auto& text = value.key("afterId");
    text += '"';
    append_position(text, {fact.previous_epoch, fact.after_n});
    text += '"';
    value.close();
    frame.end();
  }
  void operator()(StepStarted const& fact) const { step("STEP_STARTED", fact.stage); }
  void operator()(StepFinished const& fact) const { step("STEP_FINISHED", fact.stage); }
  void operator()(RunFinished const& fact) const {
    auto frame = begin_run_event("RUN_FINISHED", names.run);
    add_usage(frame.json, fact.usage);
    frame.end();
  }
  void operator()(RunFailed const& fact) const {
    auto frame = begin("RUN_ERROR");
    frame.json.text("message", fact.message);
    if (fact.code) frame.json.text("code", *fact.code);
    if (!fact.usage.empty()) append_usage(frame.json.key("usage"), fact.usage);
    JsonObject metadata{frame.json.key("metadata")};
    metadata.text("errorId", fact.error_id);
    if (!fact.usage.empty()) add_cost(metadata, fact.usage);
    metadata.close();
    frame.end();
  }
  // Only 1.0 knows the outcome; to its predecessors it is fatal.
  void operator()(RunCanceled const& fact) const {
    bool const knows_outcome = version == AgUiVersion::v1_0;
    auto frame = knows_outcome ? begin_run_event("RUN_FINISHED", names.run) : begin("RUN_ERROR");
    if (knows_outcome) {
      frame.json.raw("outcome", R"({"type":"cancelled"})");
    } else {
      frame.json.text("message", kCanceledMessage).text("code", kCanceledCode);
    }
    add_usage(frame.json, fact.usage);
    frame.end();
  }

  // --- Pauses: to AG-UI a run ends at an interrupt, and another goes on (AGUI-4) ---

  void operator()(StepPaused const& fact) const { step("STEP_FINISHED", fact.stage); }
  void operator()(RunPaused const& fact) const {
    auto frame = begin_run_event("RUN_FINISHED", names.run);
    JsonObject outcome{frame.json.key("outcome")};
    outcome.text("type", "interrupt");
    append_interrupts(outcome.key("interrupts"), fact.interrupts);
    outcome.close();
    add_usage(frame.json, fact.usage);
    frame.end();
  }
  void operator()(RunResumed const& fact) const { run_started(fact.alias); }
  void operator()(StepResumed const& fact) const { step("STEP_STARTED", fact.stage); }

  // --- Words ---

  void operator()(ReplyStarted const&) const {}
  void operator()(ReasoningOpened const& fact) const { message_event("REASONING_START", fact.message); }
  void operator()(ReasoningStarted const& fact) const {
    message_start("REASONING_MESSAGE_START", fact.message, "reasoning");
  }
  void operator()(ReasoningDelta const& fact) const {
    delta("REASONING_MESSAGE_CONTENT", "messageId", fact.message.text, fact.text);
  }
  void operator()(ReasoningEnded const& fact) const { message_event("REASONING_MESSAGE_END", fact.message); }
  void operator()(ReasoningClosed const& fact) const { message_event("REASONING_END", fact.message); }
  void operator()(TextStarted const& fact) const {
    message_start("TEXT_MESSAGE_START", fact.message, "assistant");
  }
  void operator()(TextDelta const& fact) const {
    delta("TEXT_MESSAGE_CONTENT", "messageId", fact.message.text, fact.text);
  }
  void operator()(TextEnded const& fact) const {
    auto frame = begin("TEXT_MESSAGE_END");
    frame.json.text("messageId", fact.message.text);
    JsonObject metadata{frame.json.key("metadata")};
    metadata.text("stage", fact.stage).text("status", to_string(fact.outcome));
    metadata.close();
    frame.end();
  }
  void operator()(AnswerCompleted const& fact) const {
    auto frame = begin("TEXT_MESSAGE_END");
    frame.json.text("messageId", fact.message.text);
    JsonObject metadata{frame.json.key("metadata")};
    metadata.text("stage", fact.stage).text("status", to_string(fact.status));
    if (!fact.suggested_actions.empty()) {
      append_strings(metadata.key("suggested_actions"), fact.suggested_actions);
    }
    if (fact.error) metadata.raw("error", fact.error->str());
    metadata.close();
    frame.end();
  }

  // --- Tools ---

  void operator()(ToolHint const&) const {}
  void operator()(ToolPreparing const&) const {}
  void operator()(ToolIntent const&) const {}
  void operator()(ToolCallStarted const& fact) const {
    auto frame = begin("TOOL_CALL_START");
    frame.json.text("toolCallId", fact.call.text).text("toolCallName", fact.tool);
    // The client names its message after it: the id under which history has the call.
    if (!fact.message.empty()) frame.json.text("parentMessageId", fact.message.text);
    add_stage(frame.json, fact.stage);
    frame.end();
  }
  void operator()(ToolArgsDelta const& fact) const {
    delta("TOOL_CALL_ARGS", "toolCallId", fact.call.text, fact.text);
  }
  void operator()(ToolArgs const&) const {}
  void operator()(ToolCallEnded const& fact) const {
    auto frame = begin("TOOL_CALL_END");
    frame.json.text("toolCallId", fact.call.text);
    frame.end();
  }
  void operator()(ToolStarted const&) const {}
  void operator()(ToolProgress const&) const {}
  void operator()(ToolResult const& fact) const {
    auto frame = begin("TOOL_CALL_RESULT");
    frame.json.text("messageId", fact.message.text)
        .text("toolCallId", fact.call.text)
        .text("role", "tool")
        .text("content", fact.result.str());
    JsonObject metadata{frame.json.key("metadata")};
    metadata.text("tool_name", fact.tool).text("status", to_string(fact.status)).text("stage", fact.stage);
    if (fact.card) metadata.raw("ui_schema", fact.card->str());
    metadata.close();
    frame.end();
  }
  void operator()(CardShown const& fact) const {
    if (!fact.card.is_object()) return;
    auto frame = begin("ACTIVITY_SNAPSHOT");
    frame.json.text("messageId", fact.message.text)
        .text("activityType", "a2ui-surface")
        .raw("content", fact.card.str());
    frame.end();
  }
  void operator()(ApprovalChanged const&) const {}  // Shown as an interrupt: RunPaused.

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

void encode_ag_ui(AgUiVersion version, RunNames const& names, Record const& record, std::string& out) {
  std::visit(AgUiEncoder{version, names, record, out}, record.fact);
}

}  // namespace runnel::protocol
