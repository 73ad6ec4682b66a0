#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"

namespace runnel {

// Follows a run's facts and refuses a fact that no dialect could show at this point: text before the start, a
// delta for a message that is not open, a terminal fact while something is open, or any fact after a terminal
// one. Recovery and cancellation must close everything that is open, so it also keeps the text so far.
class FactOrder {
 public:
  struct OpenText {
    MessageId message;
    std::string stage;
    std::string text;
    std::int64_t chunks = 0;
    bool settled = false;  // It belongs to a model call whose usage is recorded.
  };
  struct OpenReasoning {
    MessageId message;
    std::string text;
    std::size_t settled = 0;    // How many bytes of it belong to model calls whose usage is recorded.
    bool message_open = false;  // Between ReasoningStarted and ReasoningEnded.
  };
  struct OpenCall {
    MessageId message;
    std::string tool;
    std::string stage;
    std::string args_text;  // The argument pieces so far.
    std::optional<JsonText> args;
    std::string action_id;
    bool streaming = true;    // Before ToolCallEnded.
    std::int64_t number = 0;  // Calls are numbered in the order in which they were asked for.
    bool running = false;     // ToolProgress was seen: its process may have been started.
    std::optional<ApprovalStatus> approval{};  // Empty if nobody was asked.
  };

  // Fails with `internal` if the fact is out of order. The state is then unchanged.
  Result<void> accept(Fact const& fact);

  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool replied() const { return replied_; }    // ReplyStarted was seen.
  [[nodiscard]] bool answered() const { return answered_; }  // AnswerCompleted was seen.
  // Whether the run waits, from RunPaused to RunResumed.
  [[nodiscard]] bool paused() const { return pause_ == Pause::run_paused; }
  // The run id under which AG-UI clients know the run since its last pause; empty if it was never resumed.
  [[nodiscard]] RunId const& alias() const { return alias_; }
  [[nodiscard]] std::int64_t resumes() const { return resumes_; }
  // The call that somebody is asked about, while the run waits for the answer.
  [[nodiscard]] std::optional<ToolCallId> awaited_call() const;
  [[nodiscard]] std::optional<std::string> const& open_step() const { return step_; }
  [[nodiscard]] std::optional<OpenText> const& open_text() const { return text_; }
  [[nodiscard]] std::optional<OpenReasoning> const& open_reasoning() const { return reasoning_; }
  // Reasoning and text that are closed but belong to a model call that is not settled (UsageRecorded), so
  // that it may still be made again.
  [[nodiscard]] std::string const& unsettled_reasoning() const { return unsettled_reasoning_; }
  [[nodiscard]] std::optional<OpenText> const& unsettled_text() const { return unsettled_text_; }
  [[nodiscard]] std::map<ToolCallId, OpenCall> const& open_calls() const { return calls_; }
  // The open calls, in the order in which they were asked for.
  [[nodiscard]] std::vector<ToolCallId> calls_in_order() const;
  [[nodiscard]] std::vector<std::string> const& finished_steps() const { return finished_steps_; }
  [[nodiscard]] std::int64_t writer_changes() const { return writer_changes_; }
  // The card of the newest tool result. Empty if that result has none.
  [[nodiscard]] std::optional<JsonText> const& last_card() const { return last_card_; }
  // The tokens of all model calls whose usage is recorded.
  [[nodiscard]] std::int64_t recorded_tokens() const { return recorded_tokens_; }

 private:
  friend struct FactOrderVisitor;

  // A pause goes through all of these in order; without an open step it goes from `none` to `run_paused` and
  // back.
  enum class Pause { none, step_paused, run_paused, run_resumed };

  bool started_ = false;
  bool ended_ = false;
  Pause pause_ = Pause::none;
  bool reasoning_said_ = false;  // The open span has already had its message.
  bool replied_ = false;
  bool answered_ = false;
  std::int64_t writer_changes_ = 0;
  std::int64_t resumes_ = 0;
  RunId alias_;
  std::int64_t started_calls_ = 0;
  std::int64_t recorded_tokens_ = 0;
  std::optional<std::string> step_;
  std::optional<OpenText> text_;
  std::optional<OpenReasoning> reasoning_;
  std::string unsettled_reasoning_;
  std::optional<OpenText> unsettled_text_;
  std::map<ToolCallId, OpenCall> calls_;
  std::set<ToolCallId> closed_calls_;  // Of earlier runs (ClientCallClosed).
  std::optional<JsonText> last_card_;
  std::vector<std::string> finished_steps_;
};

}  // namespace runnel
