#include "runnel/protocol/tasks.h"

#include <array>
#include <charconv>

#include "runnel/protocol/json_parts.h"

namespace runnel::protocol {
namespace {

// Writes microseconds as seconds, with all six decimals: 1769182968.154797.
void append_seconds(std::string& out, std::int64_t us) {
  constexpr std::int64_t kPerSecond = 1'000'000;
  append_json_number(out, us / kPerSecond);
  std::array<char, 7> decimals{};
  // The first digit stands for the point, so that zeros in front are kept.
  std::to_chars(decimals.begin(), decimals.end(), kPerSecond + us % kPerSecond);
  decimals[0] = '.';
  out.append(decimals.data(), decimals.size());
}

// What the card of a tool call says when the call has ended.
std::string_view ended_text(ToolStatus status) {
  switch (status) {
    case ToolStatus::success:
      return "执行完成";
    case ToolStatus::partial:
      return "部分完成";
    case ToolStatus::failure:
      break;
  }
  return "执行失败";
}

struct ActionState {
  std::string_view status;
  std::string_view message;
};

ActionState state_of(ApprovalStatus status) {
  switch (status) {
    case ApprovalStatus::required:
      return {"awaiting_approval", "等待批准"};
    case ApprovalStatus::approved:
      return {"running", "已批准"};
    case ApprovalStatus::rejected:
      return {"failed", "已拒绝"};
    case ApprovalStatus::expired:
      break;
  }
  return {"failed", "批准已超时"};
}

// A fact's event: an object with the members idx, type, data and ts. Exactly the facts that have an idx
// (has_task_event) give one. There is an overload for each fact, so that a new fact cannot be forgotten.
class TasksEncoder {
 public:
  TasksEncoder(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out)
      : names_{names}, record_{record}, envelope_{envelope}, out_{out} {}

  // --- The life of the run ---

  void operator()(RunStarted const&) const {}
  void operator()(WriterChanged const&) const {}
  void operator()(StepStarted const&) const {}
  void operator()(StepFinished const&) const {}
  void operator()(RunFinished const& fact) const {
    event("task_complete", [&](JsonObject& data) {
      data.number("total_iterations", fact.model_calls)
          .number("total_tool_calls", fact.tool_calls)
          .number("auto_fix_attempts", fact.repairs);
    });
  }
  void operator()(RunFailed const& fact) const { one_text("error", "message", fact.message); }
  void operator()(RunCanceled const&) const { one_text("system_message", "content", kCanceledMessage); }
  void operator()(StepPaused const&) const {}
  void operator()(RunPaused const&) const {}
  void operator()(RunResumed const&) const {}
  void operator()(StepResumed const&) const {}

  // --- Words ---

  void operator()(ReplyStarted const&) const { empty("ai_message_start"); }
  void operator()(ReasoningOpened const&) const {}
  void operator()(ReasoningStarted const&) const { empty("thinking_start"); }
  void operator()(ReasoningDelta const& fact) const { one_text("thinking_chunk", "content", fact.text); }
  void operator()(ReasoningEnded const& fact) const { one_text("thinking_end", "full_content", fact.text); }
  void operator()(ReasoningClosed const&) const {}
  void operator()(TextStarted const&) const { empty("text_start"); }
  void operator()(TextDelta const& fact) const {
    event("text_chunk", [&](JsonObject& data) {
      data.text("content", fact.text).number("index", fact.index);
      append_seconds(data.key("elapsed"), fact.elapsed_us);
    });
  }
  void operator()(TextEnded const& fact) const { one_text("text_end", "full_content", fact.text); }
  void operator()(AnswerCompleted const& fact) const { one_text("text_end", "full_content", fact.answer); }

  // --- Tools ---

  void operator()(ToolHint const& fact) const {
    event("tool_hint", [&](JsonObject& data) {
      data.text("id", fact.hint_id).text("name", fact.name);
      data.text("message", "检测到可能需要调用 " + fact.name + "...").text("confidence", "low");
      add_conversation(data);
    });
  }
  void operator()(ToolPreparing const& fact) const {
    event("tool_preparing", [&](JsonObject& data) {
      data.text("id", fact.preparing_id).text("name", fact.name);
      data.text("message", "准备调用 " + fact.name + "...").text("intent", fact.intent);
      add_conversation(data);
    });
  }
  void operator()(ToolIntent const& fact) const {
    event("tool_intent", [&](JsonObject& data) {
      data.text("id", fact.preparing_id).text("name", fact.name).text("intent", fact.intent);
      add_conversation(data);
    });
  }
  void operator()(ToolCallStarted const&) const {}
  void operator()(ToolArgsDelta const&) const {}
  void operator()(ToolArgs const&) const {}
  void operator()(ToolCallEnded const&) const {}
  void operator()(ToolStarted const& fact) const {
    event("tool_start", [&](JsonObject& data) {
      data.text("id", fact.action_id).text("name", fact.name).raw("arguments", fact.input.str());
      data.text("preparing_id", fact.preparing_id).null("monitor_snapshot");
      add_conversation(data);
    });
  }
  void operator()(ToolProgress const& fact) const {
    event("update_action", [&](JsonObject& data) {
      data.text("id", fact.action_id).text("status", "running").text("message", fact.message);
      if (fact.snapshot.is_object()) data.raw("monitor_snapshot", fact.snapshot.str());
    });
  }
  void operator()(ToolResult const& fact) const {
    event("update_action", [&](JsonObject& data) {
      // A call that was refused before it started has no action.
      data.text("id", fact.action_id.empty() ? fact.call.text : fact.action_id);
      data.text("status", fact.status == ToolStatus::failure ? "failed" : "completed");
      data.text("message", ended_text(fact.status)).raw("result", fact.result.str());
      data.text("summary", fact.summary);
    });
  }
  // The call was another run's, and no action of the server's.
  void operator()(ClientCallClosed const& fact) const {
    event("update_action", [&](JsonObject& data) {
      data.text("id", fact.call.text);
      data.text("status", fact.status == ToolStatus::failure ? "failed" : "completed");
      data.text("message", ended_text(fact.status)).raw("result", fact.result.str());
      data.text("summary", fact.summary);
    });
  }
  void operator()(CardShown const&) const {}
  void operator()(ApprovalChanged const& fact) const {
    event("update_action", [&](JsonObject& data) {
      auto const state = state_of(fact.status);
      data.text("id", fact.action_id).text("status", state.status).text("message", state.message);
      // By this id the user's decision is sent (RUN-13).
      data.text("tool_call_id", fact.call.text);
    });
  }

  // --- Outside the conversation ---

  void operator()(UsageRecorded const&) const {}
  void operator()(SystemNote const& fact) const { one_text("system_message", "content", fact.text); }
  void operator()(StateSnapshot const&) const {}
  void operator()(MessagesSnapshot const&) const {}
  void operator()(MessageSuperseded const&) const {}

 private:
  template <class AddData>
  void event(std::string_view type, AddData const& add_data) const {
    Event event{envelope_, out_, record_, type};
    event.json.number("idx", record_.idx).text("type", type);
    JsonObject data{event.json.key("data")};
    add_data(data);
    data.close();
    append_seconds(event.json.key("ts"), record_.time_us);
    event.end();
  }
  void empty(std::string_view type) const {
    event(type, [](JsonObject&) {});
  }
  void one_text(std::string_view type, std::string_view key, std::string_view text) const {
    event(type, [&](JsonObject& data) { data.text(key, text); });
  }
  void add_conversation(JsonObject& data) const { data.text("conversation_id", names_.thread.text); }

  RunNames const& names_;
  Record const& record_;
  Envelope const& envelope_;
  std::string& out_;
};

}  // namespace

void encode_tasks(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out) {
  std::visit(TasksEncoder{names, record, envelope, out}, record.fact);
}

}  // namespace runnel::protocol
