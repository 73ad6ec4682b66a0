#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runnel/core/fact/position.h"
#include "runnel/core/ids.h"
#include "runnel/core/json/text.h"
#include "runnel/core/money/usage.h"

// Everything that can happen in a run. A fact is immutable and carries all that any dialect shows of it,
// computed when it is appended (WIRE-1). Something that needs two frames in some dialect is two facts. Facts
// do not serialise themselves: fact_json.h defines their form in the log, and the room `protocol` their forms
// on the wire.
namespace runnel {

// --- The life of the run ---

struct RunStarted {
  // The input's answers to calls of the client's tools, as an array of AG-UI messages. Empty if there are
  // none.
  std::optional<JsonText> answers{};
  bool operator==(RunStarted const&) const = default;
};

// The first fact of every epoch except the run's first one. The epoch continues after fact `after_n`, which
// epoch `previous_epoch` wrote. Deltas of older epochs with larger numbers were shown but are not durable:
// they are void.
//
// `after_pause`: the run was waiting and had no writer, so nothing is void. The dialect whose runs end at a
// pause shows no frame for it.
struct WriterChanged {
  Epoch previous_epoch = 0;
  std::uint64_t after_n = 0;
  bool after_pause = false;
  bool operator==(WriterChanged const&) const = default;
};

struct StepStarted {
  std::string stage;
  bool operator==(StepStarted const&) const = default;
};
struct StepFinished {
  std::string stage;
  bool operator==(StepFinished const&) const = default;
};

// The three ends of a run. `usage` has one entry per model. `alias` is the run id of the last RunResumed,
// under which AG-UI clients know the run since then; empty if it was never paused. `pending_calls` are the
// calls of the client's tools with which the run ends: the thread's next run closes them (AGUI-6).
struct RunFinished {
  std::vector<Usage> usage;
  std::int64_t model_calls = 0;  // In the tool loop.
  std::int64_t tool_calls = 0;
  std::int64_t repairs = 0;  // Outputs sent back to the model (FLOW-4).
  RunId alias{};
  std::vector<ToolCallId> pending_calls{};
  bool operator==(RunFinished const&) const = default;
};
struct RunFailed {
  std::string message;
  std::optional<std::string> code;
  std::string error_id;  // Also in the log line.
  std::vector<Usage> usage;
  bool operator==(RunFailed const&) const = default;
};
struct RunCanceled {
  std::vector<Usage> usage;
  RunId alias{};
  bool operator==(RunCanceled const&) const = default;
};

// --- Pauses, for the dialect whose runs end at an interrupt ---

struct Interrupt {
  std::string id;
  ToolCallId call;
  std::string message;
  JsonText response_schema;
  std::string expires_at;  // RFC 3339. Empty if it never expires.
  bool operator==(Interrupt const&) const = default;
};
struct StepPaused {
  std::string stage;
  bool operator==(StepPaused const&) const = default;
};
struct RunPaused {
  std::vector<Interrupt> interrupts;
  std::vector<Usage> usage;
  RunId alias{};  // As in the ends of a run.
  bool operator==(RunPaused const&) const = default;
};
struct RunResumed {
  RunId alias;  // The run id under which the client continues.
  bool operator==(RunResumed const&) const = default;
};
struct StepResumed {
  std::string stage;
  bool operator==(StepResumed const&) const = default;
};

// --- Words ---

// Comes before the run's first reasoning or text.
struct ReplyStarted {
  bool operator==(ReplyStarted const&) const = default;
};

// A span of reasoning, from ReasoningOpened to ReasoningClosed, holds one message of reasoning.
struct ReasoningOpened {
  MessageId message;
  bool operator==(ReasoningOpened const&) const = default;
};
struct ReasoningStarted {
  MessageId message;
  bool operator==(ReasoningStarted const&) const = default;
};
struct ReasoningDelta {
  MessageId message;
  std::string text;
  bool operator==(ReasoningDelta const&) const = default;
};
struct ReasoningEnded {
  MessageId message;
  std::string text;  // The whole text.
  bool operator==(ReasoningEnded const&) const = default;
};
struct ReasoningClosed {
  MessageId message;
  bool operator==(ReasoningClosed const&) const = default;
};

struct TextStarted {
  MessageId message;
  std::string stage;
  bool operator==(TextStarted const&) const = default;
};
struct TextDelta {
  MessageId message;
  std::string text;
  std::int64_t index = 0;       // Starts at 1 in each message.
  std::int64_t elapsed_us = 0;  // Since the previous chunk, or for the first one since TextStarted.
  bool operator==(TextDelta const&) const = default;
};

// Why a message ended without being the answer.
enum class TextOutcome {
  complete,    // A tool call follows.
  superseded,  // A repair or a recovery replaces it (RUN-14).
  canceled,
  failed,
};
struct TextEnded {
  MessageId message;
  std::string stage;
  std::string text;  // The whole text, as it is durable.
  TextOutcome outcome = TextOutcome::complete;
  bool operator==(TextEnded const&) const = default;
};

enum class AnswerStatus { success, partial_success, failed };

// Ends the message that is the answer. It comes at most once per run, after the answering stage is complete.
struct AnswerCompleted {
  MessageId message;
  std::string stage;
  AnswerStatus status = AnswerStatus::success;
  std::string answer;
  std::vector<std::string> suggested_actions;
  std::optional<JsonText> error;
  std::vector<std::string> key_points;
  std::string result_type = "unknown";
  std::optional<JsonText> last_card;
  Usage usage;  // The usage of the message's own row.
  bool operator==(AnswerCompleted const&) const = default;
};

// --- Tools ---

struct ToolHint {
  std::string hint_id;
  std::string name;  // module.method
  bool operator==(ToolHint const&) const = default;
};
struct ToolPreparing {
  std::string preparing_id;
  std::string name;  // module.method
  std::string intent;
  bool operator==(ToolPreparing const&) const = default;
};
struct ToolIntent {
  std::string preparing_id;
  std::string name;
  std::string intent;
  bool operator==(ToolIntent const&) const = default;
};
struct ToolCallStarted {
  MessageId message;
  ToolCallId call;
  std::string tool;
  std::string stage;
  bool operator==(ToolCallStarted const&) const = default;
};
// A piece of the arguments as the model wrote them.
struct ToolArgsDelta {
  ToolCallId call;
  std::string text;
  bool operator==(ToolArgsDelta const&) const = default;
};
struct ToolArgs {
  MessageId message;
  ToolCallId call;
  std::string tool;
  std::string stage;
  JsonText args;
  bool operator==(ToolArgs const&) const = default;
};
struct ToolCallEnded {
  MessageId message;
  ToolCallId call;
  std::string tool;
  std::string stage;
  bool operator==(ToolCallEnded const&) const = default;
};
// The tool's process is about to start; its record is durable.
struct ToolStarted {
  std::string action_id;
  ToolCallId call;
  std::string name;  // module.method
  JsonText input;
  std::string preparing_id;
  bool operator==(ToolStarted const&) const = default;
};
struct ToolProgress {
  std::string action_id;
  std::string message;
  JsonText snapshot;
  bool operator==(ToolProgress const&) const = default;
};
enum class ToolStatus { success, failure, partial };
struct ToolResult {
  MessageId message;
  ToolCallId call;
  std::string tool;
  std::string stage;
  JsonText args;
  ToolStatus status = ToolStatus::success;
  JsonText result;
  std::optional<JsonText> error;
  std::optional<JsonText> card;
  std::string action_id;
  std::string summary;
  bool operator==(ToolResult const&) const = default;
};
// A call of an earlier run to a tool of the client is closed: by the client's answer, which is this run's
// input, or because the input has no answer to it (AGUI-6).
struct ClientCallClosed {
  MessageId message;
  ToolCallId call;
  std::string tool;
  std::string stage;
  JsonText args;
  ToolStatus status = ToolStatus::success;
  std::string content;  // What the model reads: the client's own words.
  JsonText result;      // The same as an object.
  std::optional<JsonText> error;
  std::string summary;
  bool answered = true;
  bool operator==(ClientCallClosed const&) const = default;
};
struct CardShown {
  MessageId message;
  ToolCallId call;
  JsonText card;
  bool operator==(CardShown const&) const = default;
};
enum class ApprovalStatus { required, approved, rejected, expired };
struct ApprovalChanged {
  MessageId message;
  ToolCallId call;
  std::string tool;
  std::string stage;
  JsonText args;
  ApprovalStatus status = ApprovalStatus::required;
  std::string action_id;
  bool operator==(ApprovalChanged const&) const = default;
};

// --- Outside the conversation ---

// One model call's usage, as it was booked. No dialect shows it.
struct UsageRecorded {
  std::string stage;
  Usage usage;
  bool operator==(UsageRecorded const&) const = default;
};
struct SystemNote {
  std::string text;
  bool operator==(SystemNote const&) const = default;
};
struct StateSnapshot {
  JsonText snapshot;
  bool operator==(StateSnapshot const&) const = default;
};
struct MessagesSnapshot {
  JsonText messages;
  bool operator==(MessagesSnapshot const&) const = default;
};

// Follows a message that ended as superseded (RUN-14), for clients that keep on the screen what they were
// told (AGUI-8): what the thread shows without it, as AG-UI's list of messages. Empty if that is too large.
struct MessageSuperseded {
  MessageId message;
  std::optional<JsonText> messages;
  bool operator==(MessageSuperseded const&) const = default;
};

using Fact = std::variant<RunStarted, WriterChanged, StepStarted, StepFinished, RunFinished, RunFailed,
                          RunCanceled, StepPaused, RunPaused, RunResumed, StepResumed, ReplyStarted,
                          ReasoningOpened, ReasoningStarted, ReasoningDelta, ReasoningEnded, ReasoningClosed,
                          TextStarted, TextDelta, TextEnded, AnswerCompleted, ToolHint, ToolPreparing,
                          ToolIntent, ToolCallStarted, ToolArgsDelta, ToolArgs, ToolCallEnded, ToolStarted,
                          ToolProgress, ToolResult, ClientCallClosed, CardShown, ApprovalChanged,
                          UsageRecorded, SystemNote, StateSnapshot, MessagesSnapshot, MessageSuperseded>;

// A fact and its position. `idx` is its number among the polled events (TASK-3), or -1 if it is not one of
// them.
struct Record {
  Position position;
  std::int64_t idx = -1;
  std::int64_t time_us = 0;  // Wall clock.
  Fact fact;
  bool operator==(Record const&) const = default;
};

// Whether the fact is a piece of text, reasoning or arguments. Such a fact is shown before it is durable, and
// a later fact repeats all pieces as a whole (SSE-7).
bool is_delta(Fact const& fact);

// Whether the fact ends the run.
bool is_terminal(Fact const& fact);

// Whether the polled dialect shows the fact, so that it gets an `idx`. This is part of the log's contract: a
// change would renumber events that clients have seen.
bool has_task_event(Fact const& fact);

// The id of ToolPreparing and ToolIntent, which ToolStarted refers to: "calendar.create:0" for the first call
// of an answer (TASK-6).
std::string preparing_id(std::string_view name, std::size_t index);

char const* to_string(TextOutcome outcome);
char const* to_string(AnswerStatus status);
char const* to_string(ToolStatus status);
char const* to_string(ApprovalStatus status);

}  // namespace runnel
