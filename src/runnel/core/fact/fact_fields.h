#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "runnel/core/fact/fact.h"

// The description of each fact, which the log's writer and reader share: its name in the log and its fields.
namespace runnel {

template <class Struct, class Member>
struct Field {
  std::string_view key;
  Member Struct::*member;

  constexpr auto& in(auto& object) const { return object.*member; }
};

// A member of a member. The log keeps it in the same object as the other fields.
template <class Struct, class Part, class Member>
struct PartField {
  std::string_view key;
  Part Struct::*part;
  Member Part::*member;

  constexpr auto& in(auto& object) const { return object.*part.*member; }
};

template <class... Fields>
struct Description {
  std::string_view name;
  std::tuple<Fields...> fields;
};

template <class Struct, class Member>
constexpr Field<Struct, Member> field(std::string_view key, Member Struct::*member) {
  return {key, member};
}

template <class Struct, class Part, class Member>
constexpr PartField<Struct, Part, Member> field(std::string_view key, Part Struct::*part,
                                                Member Part::*member) {
  return {key, part, member};
}

template <class... Fields>
constexpr Description<Fields...> describe(std::string_view name, Fields... fields) {
  return {name, {fields...}};
}

// Null for a type that is neither a fact nor a part of one. The keys n, idx, ts and fact are reserved for the
// record.
template <class T>
inline constexpr auto kDescription = nullptr;

template <class T>
concept Described = !std::is_same_v<decltype(kDescription<T>), std::nullptr_t const>;

// How many values an enum has. They are numbered from 0.
template <class Enum>
inline constexpr int kEnumSize = 0;
template <>
inline constexpr int kEnumSize<CostSource> = 4;
template <>
inline constexpr int kEnumSize<TextOutcome> = 4;
template <>
inline constexpr int kEnumSize<AnswerStatus> = 3;
template <>
inline constexpr int kEnumSize<ToolStatus> = 3;
template <>
inline constexpr int kEnumSize<ApprovalStatus> = 4;

template <>
inline constexpr auto kDescription<Usage> =
    describe("usage", field("provider", &Usage::provider), field("model", &Usage::model),
             field("input_tokens", &Usage::tokens, &TokenCounts::input),
             field("output_tokens", &Usage::tokens, &TokenCounts::output),
             field("total_tokens", &Usage::tokens, &TokenCounts::total),
             field("cached_prompt_tokens", &Usage::tokens, &TokenCounts::cached),
             field("cache_hit_tokens", &Usage::tokens, &TokenCounts::cache_hit),
             field("cache_miss_tokens", &Usage::tokens, &TokenCounts::cache_miss),
             field("reasoning_tokens", &Usage::tokens, &TokenCounts::reasoning),
             field("cost_source", &Usage::cost_source), field("cost", &Usage::cost),
             field("complete", &Usage::tokens, &TokenCounts::complete));
template <>
inline constexpr auto kDescription<Interrupt> =
    describe("interrupt", field("id", &Interrupt::id), field("call", &Interrupt::call),
             field("message", &Interrupt::message), field("response_schema", &Interrupt::response_schema),
             field("expires_at", &Interrupt::expires_at));
template <>
inline constexpr auto kDescription<RunStarted> = describe("run_started",
                                                          field("answers", &RunStarted::answers));
template <>
inline constexpr auto kDescription<WriterChanged> =
    describe("writer_changed", field("previous_epoch", &WriterChanged::previous_epoch),
             field("after_n", &WriterChanged::after_n), field("after_pause", &WriterChanged::after_pause));
template <>
inline constexpr auto kDescription<StepStarted> = describe("step_started",
                                                           field("stage", &StepStarted::stage));
template <>
inline constexpr auto kDescription<StepFinished> = describe("step_finished",
                                                            field("stage", &StepFinished::stage));
template <>
inline constexpr auto kDescription<RunFinished> = describe(
    "run_finished", field("usage", &RunFinished::usage), field("model_calls", &RunFinished::model_calls),
    field("tool_calls", &RunFinished::tool_calls), field("repairs", &RunFinished::repairs),
    field("alias", &RunFinished::alias), field("pending_calls", &RunFinished::pending_calls));
template <>
inline constexpr auto kDescription<RunFailed> = describe("run_failed", field("message", &RunFailed::message),
                                                         field("code", &RunFailed::code),
                                                         field("error_id", &RunFailed::error_id),
                                                         field("usage", &RunFailed::usage));
template <>
inline constexpr auto kDescription<RunCanceled> = describe("run_canceled",
                                                           field("usage", &RunCanceled::usage),
                                                           field("alias", &RunCanceled::alias));
template <>
inline constexpr auto kDescription<StepPaused> = describe("step_paused", field("stage", &StepPaused::stage));
template <>
inline constexpr auto kDescription<RunPaused> = describe("run_paused",
                                                         field("interrupts", &RunPaused::interrupts),
                                                         field("usage", &RunPaused::usage),
                                                         field("alias", &RunPaused::alias));
template <>
inline constexpr auto kDescription<RunResumed> = describe("run_resumed", field("alias", &RunResumed::alias));
template <>
inline constexpr auto kDescription<StepResumed> = describe("step_resumed",
                                                           field("stage", &StepResumed::stage));
template <>
inline constexpr auto kDescription<ReplyStarted> = describe("reply_started");
template <>
inline constexpr auto kDescription<ReasoningOpened> = describe("reasoning_opened",
                                                               field("message", &ReasoningOpened::message));
template <>
inline constexpr auto kDescription<ReasoningStarted> = describe("reasoning_started",
                                                                field("message", &ReasoningStarted::message));
template <>
inline constexpr auto kDescription<ReasoningDelta> = describe("reasoning_delta",
                                                              field("message", &ReasoningDelta::message),
                                                              field("text", &ReasoningDelta::text));
template <>
inline constexpr auto kDescription<ReasoningEnded> = describe("reasoning_ended",
                                                              field("message", &ReasoningEnded::message),
                                                              field("text", &ReasoningEnded::text));
template <>
inline constexpr auto kDescription<ReasoningClosed> = describe("reasoning_closed",
                                                               field("message", &ReasoningClosed::message));
template <>
inline constexpr auto kDescription<TextStarted> = describe("text_started",
                                                           field("message", &TextStarted::message),
                                                           field("stage", &TextStarted::stage));
template <>
inline constexpr auto kDescription<TextDelta> = describe("text_delta", field("message", &TextDelta::message),
                                                         field("text", &TextDelta::text),
                                                         field("index", &TextDelta::index),
                                                         field("elapsed_us", &TextDelta::elapsed_us));
template <>
inline constexpr auto kDescription<TextEnded> = describe("text_ended", field("message", &TextEnded::message),
                                                         field("stage", &TextEnded::stage),
                                                         field("text", &TextEnded::text),
                                                         field("outcome", &TextEnded::outcome));
template <>
inline constexpr auto kDescription<AnswerCompleted> = describe(
    "answer_completed", field("message", &AnswerCompleted::message), field("stage", &AnswerCompleted::stage),
    field("status", &AnswerCompleted::status), field("answer", &AnswerCompleted::answer),
    field("suggested_actions", &AnswerCompleted::suggested_actions), field("error", &AnswerCompleted::error),
    field("key_points", &AnswerCompleted::key_points), field("result_type", &AnswerCompleted::result_type),
    field("last_card", &AnswerCompleted::last_card), field("usage", &AnswerCompleted::usage));
template <>
inline constexpr auto kDescription<ToolHint> = describe("tool_hint", field("hint_id", &ToolHint::hint_id),
                                                        field("name", &ToolHint::name));
template <>
inline constexpr auto kDescription<ToolPreparing> =
    describe("tool_preparing", field("preparing_id", &ToolPreparing::preparing_id),
             field("name", &ToolPreparing::name), field("intent", &ToolPreparing::intent));
template <>
inline constexpr auto kDescription<ToolIntent> = describe("tool_intent",
                                                          field("preparing_id", &ToolIntent::preparing_id),
                                                          field("name", &ToolIntent::name),
                                                          field("intent", &ToolIntent::intent));
template <>
inline constexpr auto kDescription<ToolCallStarted> = describe("tool_call_started",
                                                               field("message", &ToolCallStarted::message),
                                                               field("call", &ToolCallStarted::call),
                                                               field("tool", &ToolCallStarted::tool),
                                                               field("stage", &ToolCallStarted::stage));
template <>
inline constexpr auto kDescription<ToolArgsDelta> = describe("tool_args_delta",
                                                             field("call", &ToolArgsDelta::call),
                                                             field("text", &ToolArgsDelta::text));
template <>
inline constexpr auto kDescription<ToolArgs> = describe("tool_args", field("message", &ToolArgs::message),
                                                        field("call", &ToolArgs::call),
                                                        field("tool", &ToolArgs::tool),
                                                        field("stage", &ToolArgs::stage),
                                                        field("args", &ToolArgs::args));
template <>
inline constexpr auto kDescription<ToolCallEnded> = describe("tool_call_ended",
                                                             field("message", &ToolCallEnded::message),
                                                             field("call", &ToolCallEnded::call),
                                                             field("tool", &ToolCallEnded::tool),
                                                             field("stage", &ToolCallEnded::stage));
template <>
inline constexpr auto kDescription<ToolStarted> = describe("tool_started",
                                                           field("action_id", &ToolStarted::action_id),
                                                           field("call", &ToolStarted::call),
                                                           field("name", &ToolStarted::name),
                                                           field("input", &ToolStarted::input),
                                                           field("preparing_id", &ToolStarted::preparing_id));
template <>
inline constexpr auto kDescription<ToolProgress> = describe("tool_progress",
                                                            field("action_id", &ToolProgress::action_id),
                                                            field("message", &ToolProgress::message),
                                                            field("snapshot", &ToolProgress::snapshot));
template <>
inline constexpr auto kDescription<ToolResult> = describe(
    "tool_result", field("message", &ToolResult::message), field("call", &ToolResult::call),
    field("tool", &ToolResult::tool), field("stage", &ToolResult::stage), field("args", &ToolResult::args),
    field("status", &ToolResult::status), field("result", &ToolResult::result),
    field("error", &ToolResult::error), field("card", &ToolResult::card),
    field("action_id", &ToolResult::action_id), field("summary", &ToolResult::summary));
template <>
inline constexpr auto kDescription<ClientCallClosed> =
    describe("client_call_closed", field("message", &ClientCallClosed::message),
             field("call", &ClientCallClosed::call), field("tool", &ClientCallClosed::tool),
             field("stage", &ClientCallClosed::stage), field("args", &ClientCallClosed::args),
             field("status", &ClientCallClosed::status), field("content", &ClientCallClosed::content),
             field("result", &ClientCallClosed::result), field("error", &ClientCallClosed::error),
             field("summary", &ClientCallClosed::summary), field("answered", &ClientCallClosed::answered));
template <>
inline constexpr auto kDescription<CardShown> = describe("card_shown", field("message", &CardShown::message),
                                                         field("call", &CardShown::call),
                                                         field("card", &CardShown::card));
template <>
inline constexpr auto kDescription<ApprovalChanged> =
    describe("approval_changed", field("message", &ApprovalChanged::message),
             field("call", &ApprovalChanged::call), field("tool", &ApprovalChanged::tool),
             field("stage", &ApprovalChanged::stage), field("args", &ApprovalChanged::args),
             field("status", &ApprovalChanged::status), field("action_id", &ApprovalChanged::action_id));
template <>
inline constexpr auto kDescription<UsageRecorded> = describe("usage_recorded",
                                                             field("stage", &UsageRecorded::stage),
                                                             field("usage", &UsageRecorded::usage));
template <>
inline constexpr auto kDescription<SystemNote> = describe("system_note", field("text", &SystemNote::text));
template <>
inline constexpr auto kDescription<StateSnapshot> = describe("state_snapshot",
                                                             field("snapshot", &StateSnapshot::snapshot));
template <>
inline constexpr auto kDescription<MessagesSnapshot> =
    describe("messages_snapshot", field("messages", &MessagesSnapshot::messages));
template <>
inline constexpr auto kDescription<MessageSuperseded> =
    describe("message_superseded", field("message", &MessageSuperseded::message),
             field("messages", &MessageSuperseded::messages));

}  // namespace runnel
