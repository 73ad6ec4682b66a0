#include "runnel/protocol/ag_ui.h"

#include <algorithm>

#include "runnel/protocol/json_parts.h"

namespace runnel::protocol {
namespace {

// --- Usage: AG-UI has no field for costs, so they are in `metadata` ---

void append_usage(std::string& out, std::vector<Usage> const& usage) {
  append_json_array(out, usage, [](std::string& into, Usage const& entry) {
    JsonObject{into}
        .text("provider", entry.provider)
        .text("model", entry.model)
        .number("inputTokens", entry.tokens.input)
        .number("outputTokens", entry.tokens.output)
        .number("totalTokens", entry.tokens.total)
        .number("reasoningTokens", entry.tokens.reasoning)
        .number("cachedInputTokens", entry.tokens.cached)
        .close();
  });
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
                   std::all_of(usage.begin(), usage.end(), [](auto const& u) { return u.tokens.complete; }));
}

void add_usage(JsonObject& event, std::vector<Usage> const& usage) {
  if (usage.empty()) return;
  append_usage(event.key("usage"), usage);
  JsonObject metadata{event.key("metadata")};
  add_cost(metadata, usage);
  metadata.close();
}

void append_interrupts(std::string& out, std::vector<Interrupt> const& interrupts) {
  append_json_array(out, interrupts, [](std::string& into, Interrupt const& interrupt) {
    JsonObject object{into};
    object.text("id", interrupt.id).text("reason", "tool_call");
    if (!interrupt.message.empty()) object.text("message", interrupt.message);
    object.text("toolCallId", interrupt.call.text);
    if (interrupt.response_schema.is_object()) object.raw("responseSchema", interrupt.response_schema.str());
    if (!interrupt.expires_at.empty()) object.text("expiresAt", interrupt.expires_at);
    object.close();
  });
}

void add_stage(JsonObject& event, std::string const& stage) {
  JsonObject metadata{event.key("metadata")};
  metadata.text("stage", stage);
  metadata.close();
}

enum class AgUiVersion { v0_0, v1_0 };

// There is an overload for each fact, so that a new fact cannot be forgotten.
struct AgUiEncoder {
  AgUiVersion version;
  RunNames const& names;
  Record const& record;
  Envelope const& envelope;
  std::string& out;

  [[nodiscard]] Event begin(std::string_view type) const {
    Event event{envelope, out, record, type};
    event.json.text("type", type)
        .number("timestamp", record.time_us / 1000);  // Milliseconds; version 1.0 accepts only integers.
    return event;
  }
  [[nodiscard]] Event begin_run_event(std::string_view type, RunId const& run) const {
    auto event = begin(type);
    event.json.text("threadId", names.thread.text).text("runId", run.text);
    return event;
  }

  // The run id under which the client knows the run.
  [[nodiscard]] RunId const& known_as(RunId const& alias) const { return alias.empty() ? names.run : alias; }

  void run_started(RunId const& run, std::optional<JsonText> const& answers = {}) const {
    auto event = begin_run_event("RUN_STARTED", run);
    if (version == AgUiVersion::v1_0) event.json.text("protocolVersion", "1.0");
    if (answers) add_input(event.json, run, *answers);
    event.end();
  }
  // A client adds the messages that it does not have: the one that sent them has them under the same ids, and
  // any other one learns of them here.
  void add_input(JsonObject& event, RunId const& run, JsonText const& messages) const {
    JsonObject input{event.key("input")};
    input.text("threadId", names.thread.text).text("runId", run.text).raw("state", "{}");
    input.raw("messages", messages.str()).raw("tools", "[]").raw("context", "[]").raw("forwardedProps", "{}");
    input.close();
  }
  void step(std::string_view type, std::string const& stage) const {
    auto event = begin(type);
    event.json.text("stepName", stage);
    event.end();
  }
  void message_event(std::string_view type, MessageId const& message) const {
    auto event = begin(type);
    event.json.text("messageId", message.text);
    event.end();
  }
  void message_start(std::string_view type, MessageId const& message, std::string_view role) const {
    auto event = begin(type);
    event.json.text("messageId", message.text).text("role", role);
    event.end();
  }
  void delta(std::string_view type, std::string_view key, std::string const& id,
             std::string const& text) const {
    if (text.empty()) return;
    auto event = begin(type);
    event.json.text(key, id).text("delta", text);
    event.end();
  }

  // --- The life of the run ---

  void operator()(RunStarted const& fact) const { run_started(names.run, fact.answers); }
  // Before the first fact there is nothing to invalidate, and the client's verifier accepts nothing before
  // RUN_STARTED, neither the first one nor the one after a pause.
  void operator()(WriterChanged const& fact) const {
    if (fact.after_n == 0 || fact.after_pause) return;
    auto event = begin("CUSTOM");
    event.json.text("name", "runnel.writer_changed");
    JsonObject value{event.json.key("value")};
    auto& text = value.key("afterId");
    text += '"';
    append_position(text, {fact.previous_epoch, fact.after_n});
    text += '"';
    value.close();
    event.end();
  }
  void operator()(StepStarted const& fact) const { step("STEP_STARTED", fact.stage); }
  void operator()(StepFinished const& fact) const { step("STEP_FINISHED", fact.stage); }
  // The field for pending calls is fatal to predecessors of version 1.0. They find them without it: calls
  // of tools of their own that have no result.
  void operator()(RunFinished const& fact) const {
    auto event = begin_run_event("RUN_FINISHED", known_as(fact.alias));
    if (version == AgUiVersion::v1_0 && !fact.pending_calls.empty()) {
      JsonObject outcome{event.json.key("outcome")};
      outcome.text("type", "success");
      append_json_array(outcome.key("pendingToolCallIds"), fact.pending_calls,
                        [](std::string& into, ToolCallId const& id) { append_json_string(into, id.text); });
      outcome.close();
    }
    add_usage(event.json, fact.usage);
    event.end();
  }
  void operator()(RunFailed const& fact) const {
    auto event = begin("RUN_ERROR");
    event.json.text("message", fact.message);
    if (fact.code) event.json.text("code", *fact.code);
    if (!fact.usage.empty()) append_usage(event.json.key("usage"), fact.usage);
    JsonObject metadata{event.json.key("metadata")};
    metadata.text("errorId", fact.error_id);
    if (!fact.usage.empty()) add_cost(metadata, fact.usage);
    metadata.close();
    event.end();
  }
  // Only version 1.0 knows this outcome; it is fatal to its predecessors.
  void operator()(RunCanceled const& fact) const {
    bool const knows_outcome = version == AgUiVersion::v1_0;
    auto event = knows_outcome ? begin_run_event("RUN_FINISHED", known_as(fact.alias)) : begin("RUN_ERROR");
    if (knows_outcome) {
      event.json.raw("outcome", R"({"type":"cancelled"})");
    } else {
      event.json.text("message", kCanceledMessage).text("code", kCanceledCode);
    }
    add_usage(event.json, fact.usage);
    event.end();
  }

  // --- Pauses: for AG-UI, a run ends at an interrupt and another run continues it (AGUI-4) ---

  void operator()(StepPaused const& fact) const { step("STEP_FINISHED", fact.stage); }
  void operator()(RunPaused const& fact) const {
    auto event = begin_run_event("RUN_FINISHED", known_as(fact.alias));
    JsonObject outcome{event.json.key("outcome")};
    outcome.text("type", "interrupt");
    append_interrupts(outcome.key("interrupts"), fact.interrupts);
    outcome.close();
    add_usage(event.json, fact.usage);
    event.end();
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
    auto event = begin("TEXT_MESSAGE_END");
    event.json.text("messageId", fact.message.text);
    JsonObject metadata{event.json.key("metadata")};
    metadata.text("stage", fact.stage).text("status", to_string(fact.outcome));
    metadata.close();
    event.end();
  }
  void operator()(AnswerCompleted const& fact) const {
    auto event = begin("TEXT_MESSAGE_END");
    event.json.text("messageId", fact.message.text);
    JsonObject metadata{event.json.key("metadata")};
    metadata.text("stage", fact.stage).text("status", to_string(fact.status));
    if (!fact.suggested_actions.empty()) {
      append_strings(metadata.key("suggested_actions"), fact.suggested_actions);
    }
    if (fact.error) metadata.raw("error", fact.error->str());
    metadata.close();
    event.end();
  }

  // --- Tools ---

  void operator()(ToolHint const&) const {}
  void operator()(ToolPreparing const&) const {}
  void operator()(ToolIntent const&) const {}
  void operator()(ToolCallStarted const& fact) const {
    auto event = begin("TOOL_CALL_START");
    event.json.text("toolCallId", fact.call.text).text("toolCallName", fact.tool);
    // The client uses it as the id of its message, and the history has the call under the same id.
    if (!fact.message.empty()) event.json.text("parentMessageId", fact.message.text);
    add_stage(event.json, fact.stage);
    event.end();
  }
  void operator()(ToolArgsDelta const& fact) const {
    delta("TOOL_CALL_ARGS", "toolCallId", fact.call.text, fact.text);
  }
  void operator()(ToolArgs const&) const {}
  void operator()(ToolCallEnded const& fact) const {
    auto event = begin("TOOL_CALL_END");
    event.json.text("toolCallId", fact.call.text);
    event.end();
  }
  void operator()(ToolStarted const&) const {}
  void operator()(ToolProgress const&) const {}
  void operator()(ToolResult const& fact) const {
    auto event = begin("TOOL_CALL_RESULT");
    event.json.text("messageId", fact.message.text)
        .text("toolCallId", fact.call.text)
        .text("role", "tool")
        .text("content", fact.result.str());
    JsonObject metadata{event.json.key("metadata")};
    metadata.text("tool_name", fact.tool).text("status", to_string(fact.status)).text("stage", fact.stage);
    if (fact.card) metadata.raw("ui_schema", fact.card->str());
    metadata.close();
    event.end();
  }
  // An answer came from a client, whose message it is; RUN_STARTED shows it to others.
  void operator()(ClientCallClosed const& fact) const {
    if (fact.answered) return;
    auto event = begin("TOOL_CALL_RESULT");
    event.json.text("messageId", fact.message.text)
        .text("toolCallId", fact.call.text)
        .text("role", "tool")
        .text("content", fact.content);
    JsonObject metadata{event.json.key("metadata")};
    metadata.text("tool_name", fact.tool).text("status", to_string(fact.status)).text("stage", fact.stage);
    metadata.close();
    event.end();
  }
  void operator()(CardShown const& fact) const {
    if (!fact.card.is_object()) return;
    auto event = begin("ACTIVITY_SNAPSHOT");
    event.json.text("messageId", fact.message.text)
        .text("activityType", "a2ui-surface")
        .raw("content", fact.card.str());
    event.end();
  }
  void operator()(ApprovalChanged const&) const {}  // RunPaused shows it as an interrupt.

  // --- Outside the conversation ---

  void operator()(UsageRecorded const&) const {}
  void operator()(SystemNote const&) const {}
  void operator()(StateSnapshot const& fact) const {
    auto event = begin("STATE_SNAPSHOT");
    event.json.raw("snapshot", fact.snapshot.str());
    event.end();
  }
  void messages_snapshot(JsonText const& messages) const {
    auto event = begin("MESSAGES_SNAPSHOT");
    event.json.raw("messages", messages.str());
    event.end();
  }
  void operator()(MessagesSnapshot const& fact) const { messages_snapshot(fact.messages); }
  void operator()(MessageSuperseded const& fact) const {
    if (fact.messages) return messages_snapshot(*fact.messages);
    auto event = begin("CUSTOM");
    event.json.text("name", "runnel.superseded");
    JsonObject{event.json.key("value")}.text("messageId", fact.message.text).close();
    event.end();
  }
};

}  // namespace

void encode_ag_ui_1_0(RunNames const& names, Record const& record, Envelope const& envelope,
                      std::string& out) {
  std::visit(AgUiEncoder{AgUiVersion::v1_0, names, record, envelope, out}, record.fact);
}

void encode_ag_ui_0_0(RunNames const& names, Record const& record, Envelope const& envelope,
                      std::string& out) {
  std::visit(AgUiEncoder{AgUiVersion::v0_0, names, record, envelope, out}, record.fact);
}

}  // namespace runnel::protocol
