#include "runnel/core/fact/fact.h"

namespace runnel {
namespace {
template <class... Kinds>
bool holds_any(Fact const& fact) {
  return (std::holds_alternative<Kinds>(fact) || ...);
}
}  // namespace

bool is_delta(Fact const& fact) {
  return holds_any<TextDelta, ReasoningDelta, ToolArgsDelta>(fact);
}

bool is_terminal(Fact const& fact) {
  return holds_any<RunFinished, RunFailed, RunCanceled>(fact);
}

bool has_task_event(Fact const& fact) {
  return holds_any<ReplyStarted, ReasoningStarted, ReasoningDelta, ReasoningEnded, TextStarted, TextDelta,
                   TextEnded, AnswerCompleted, ToolHint, ToolPreparing, ToolIntent, ToolStarted, ToolProgress,
                   ToolResult, ClientCallClosed, ApprovalChanged, SystemNote, RunFinished, RunFailed,
                   RunCanceled>(fact);
}

std::string preparing_id(std::string_view name, std::size_t index) {
  return std::string{name} + ":" + std::to_string(index);
}

char const* to_string(TextOutcome outcome) {
  switch (outcome) {
    case TextOutcome::complete:
      return "complete";
    case TextOutcome::superseded:
      return "superseded";
    case TextOutcome::canceled:
      return "canceled";
    case TextOutcome::failed:
      return "failed";
  }
  return "failed";
}

char const* to_string(AnswerStatus status) {
  switch (status) {
    case AnswerStatus::success:
      return "success";
    case AnswerStatus::partial_success:
      return "partial_success";
    case AnswerStatus::failed:
      return "failed";
  }
  return "failed";
}

char const* to_string(ToolStatus status) {
  switch (status) {
    case ToolStatus::success:
      return "success";
    case ToolStatus::failure:
      return "failure";
    case ToolStatus::partial:
      return "partial";
  }
  return "failure";
}

char const* to_string(ApprovalStatus status) {
  switch (status) {
    case ApprovalStatus::required:
      return "required";
    case ApprovalStatus::approved:
      return "approved";
    case ApprovalStatus::rejected:
      return "rejected";
    case ApprovalStatus::expired:
      return "expired";
  }
  return "expired";
}

}  // namespace runnel
