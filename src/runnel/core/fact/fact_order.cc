#include "runnel/core/fact/fact_order.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runnel/core/fact/fact_json.h"

namespace runnel {

// Each overload returns whether the fact is allowed at this point, and applies it only if it is.
struct FactOrderVisitor {
  using Pause = FactOrder::Pause;
  FactOrder& o;

  [[nodiscard]] bool running() const { return o.started_ && o.pause_ == Pause::none; }
  [[nodiscard]] bool text_is(MessageId const& id) const {
    return running() && o.text_ && o.text_->message == id;
  }
  [[nodiscard]] bool reasoning_is(MessageId const& id) const {
    return running() && o.reasoning_ && o.reasoning_->message == id;
  }
  [[nodiscard]] bool step_is(std::string const& stage) const { return o.step_ == stage; }
  [[nodiscard]] bool nothing_streams() const {
    return !o.text_ && !o.reasoning_ && std::none_of(o.calls_.begin(), o.calls_.end(), [](auto const& call) {
      return call.second.streaming;
    });
  }
  // The open call if it is in that phase, otherwise null.
  [[nodiscard]] FactOrder::OpenCall* call(ToolCallId const& id, bool streaming) const {
    auto const it = o.calls_.find(id);
    return running() && it != o.calls_.end() && it->second.streaming == streaming ? &it->second : nullptr;
  }
  [[nodiscard]] bool end() const {
    if (!running() || o.step_ || o.text_ || o.reasoning_ || !o.calls_.empty()) return false;
    return o.ended_ = true;
  }

  // Whether these are the open calls, and each was only asked for: nobody has begun to make it.
  [[nodiscard]] bool are_all_open(std::vector<ToolCallId> const& ids) const {
    std::set<ToolCallId> const distinct{ids.begin(), ids.end()};
    return distinct.size() == ids.size() && ids.size() == o.calls_.size() &&
           std::all_of(ids.begin(), ids.end(), [&](ToolCallId const& id) {
             auto const* const open = call(id, false);
             return open != nullptr && open->args && open->action_id.empty() && !open->approval;
           });
  }

  // --- The life of the run ---

  bool operator()(RunStarted const&) const { return !std::exchange(o.started_, true); }
  bool operator()(WriterChanged const&) const {
    ++o.writer_changes_;
    return true;
  }
  bool operator()(StepStarted const& fact) const {
    if (!running() || o.step_) return false;
    o.step_ = fact.stage;
    return true;
  }
  bool operator()(StepFinished const& fact) const {
    if (!running() || !step_is(fact.stage)) return false;
    o.step_.reset();
    o.finished_steps_.push_back(fact.stage);
    return true;
  }
  bool operator()(RunFinished const& fact) const {
    if (fact.pending_calls.empty()) return end();
    if (!running() || o.step_ || o.text_ || o.reasoning_ || !are_all_open(fact.pending_calls)) return false;
    o.calls_.clear();
    return o.ended_ = true;
  }
  bool operator()(RunCanceled const&) const { return end(); }
  bool operator()(RunFailed const&) const {
    if (!o.started_) return o.ended_ = true;
    return end();
  }

  // --- Pauses ---

  bool operator()(StepPaused const& fact) const {
    if (!running() || !step_is(fact.stage) || !nothing_streams()) return false;
    o.pause_ = Pause::step_paused;
    return true;
  }
  bool operator()(RunPaused const&) const {
    bool const step_rests = o.pause_ == Pause::step_paused || (running() && !o.step_);
    if (!step_rests || !nothing_streams()) return false;
    o.pause_ = Pause::run_paused;
    return true;
  }
  bool operator()(RunResumed const& fact) const {
    if (o.pause_ != Pause::run_paused) return false;
    ++o.resumes_;
    o.alias_ = fact.alias;
    o.pause_ = o.step_ ? Pause::run_resumed : Pause::none;
    return true;
  }
  bool operator()(StepResumed const& fact) const {
    if (o.pause_ != Pause::run_resumed || !step_is(fact.stage)) return false;
    o.pause_ = Pause::none;
    return true;
  }

  // --- Words ---

  bool operator()(ReplyStarted const&) const { return running() && !std::exchange(o.replied_, true); }
  bool operator()(ReasoningOpened const& fact) const {
    if (!running() || o.reasoning_) return false;
    o.reasoning_ = FactOrder::OpenReasoning{fact.message, {}, 0, false};
    o.reasoning_said_ = false;
    return true;
  }
  bool operator()(ReasoningStarted const& fact) const {
    if (!reasoning_is(fact.message) || o.reasoning_said_) return false;
    o.reasoning_said_ = true;
    return o.reasoning_->message_open = true;
  }
  bool operator()(ReasoningDelta const& fact) const {
    if (!reasoning_is(fact.message) || !o.reasoning_->message_open) return false;
    o.reasoning_->text += fact.text;
    return true;
  }
  bool operator()(ReasoningEnded const& fact) const {
    return reasoning_is(fact.message) && std::exchange(o.reasoning_->message_open, false);
  }
  bool operator()(ReasoningClosed const& fact) const {
    if (!reasoning_is(fact.message) || o.reasoning_->message_open) return false;
    o.unsettled_reasoning_ += o.reasoning_->text.substr(o.reasoning_->settled);
    o.reasoning_.reset();
    return true;
  }
  bool operator()(TextStarted const& fact) const {
    if (!running() || o.text_) return false;
    o.text_ = FactOrder::OpenText{fact.message, fact.stage, {}, 0, false};
    return true;
  }
  bool operator()(TextDelta const& fact) const {
    if (!text_is(fact.message)) return false;
    o.text_->text += fact.text;
    ++o.text_->chunks;
    return true;
  }
  bool operator()(TextEnded const& fact) const {
    if (!text_is(fact.message)) return false;
    if (!o.text_->settled) o.unsettled_text_ = std::move(o.text_);
    o.text_.reset();
    return true;
  }
  bool operator()(AnswerCompleted const& fact) const {
    if (!text_is(fact.message) || o.answered_) return false;
    o.text_.reset();
    return o.answered_ = true;
  }

  // --- Tools ---

  bool operator()(ToolHint const&) const { return running(); }
  bool operator()(ToolPreparing const&) const { return running(); }
  bool operator()(ToolIntent const&) const { return running(); }
  bool operator()(ToolCallStarted const& fact) const {
    if (!running()) return false;
    FactOrder::OpenCall open;
    open.message = fact.message;
    open.tool = fact.tool;
    open.stage = fact.stage;
    open.number = o.started_calls_;
    if (!o.calls_.try_emplace(fact.call, open).second) return false;
    ++o.started_calls_;
    return true;
  }
  bool operator()(ToolArgsDelta const& fact) const {
    auto* const open = call(fact.call, true);
    if (open == nullptr || open->args) return false;
    open->args_text += fact.text;
    return true;
  }
  bool operator()(ToolArgs const& fact) const {
    auto* const open = call(fact.call, true);
    if (open == nullptr || open->args) return false;
    open->args = fact.args;
    return true;
  }
  // ToolArgs may be missing: a call that is canceled while its arguments arrive has none.
  bool operator()(ToolCallEnded const& fact) const {
    auto* const open = call(fact.call, true);
    return open != nullptr && std::exchange(open->streaming, false);
  }
  bool operator()(ToolStarted const& fact) const {
    auto* const open = call(fact.call, false);
    if (open == nullptr || !open->args || !open->action_id.empty()) return false;
    open->action_id = fact.action_id;
    return true;
  }
  bool operator()(ToolProgress const& fact) const {
    auto const open = std::find_if(o.calls_.begin(), o.calls_.end(), [&](auto const& candidate) {
      return !candidate.second.action_id.empty() && candidate.second.action_id == fact.action_id;
    });
    return running() && open != o.calls_.end() && (open->second.running = true);
  }
  bool operator()(ToolResult const& fact) const {
    if (call(fact.call, false) == nullptr) return false;
    o.calls_.erase(fact.call);
    o.last_card_ = fact.card;
    return true;
  }
  // A run tells of the calls that it closes before its first stage.
  bool operator()(ClientCallClosed const& fact) const {
    if (!running() || o.step_ || !o.finished_steps_.empty()) return false;
    return o.closed_calls_.insert(fact.call).second;
  }
  bool operator()(CardShown const&) const { return running(); }
  bool operator()(ApprovalChanged const& fact) const {
    auto* const open = call(fact.call, false);
    if (open == nullptr) return false;
    open->approval = fact.status;
    return true;
  }

  // --- Outside the conversation ---

  bool operator()(UsageRecorded const& fact) const {
    if (!running()) return false;
    o.recorded_tokens_ += fact.usage.tokens.total;
    o.unsettled_reasoning_.clear();
    o.unsettled_text_.reset();
    if (o.text_) o.text_->settled = true;
    if (o.reasoning_) o.reasoning_->settled = o.reasoning_->text.size();
    return true;
  }
  bool operator()(SystemNote const&) const { return running(); }
  bool operator()(StateSnapshot const&) const { return running(); }
  bool operator()(MessagesSnapshot const&) const { return running(); }
  bool operator()(MessageSuperseded const&) const { return running(); }
};

std::optional<ToolCallId> FactOrder::awaited_call() const {
  for (auto const& [id, open] : calls_) {
    if (open.approval == ApprovalStatus::required) return id;
  }
  return std::nullopt;
}

std::vector<ToolCallId> FactOrder::calls_in_order() const {
  std::vector<ToolCallId> ids;
  for (auto const& [id, call] : calls_)
    ids.push_back(id);
  std::sort(ids.begin(), ids.end(), [this](ToolCallId const& left, ToolCallId const& right) {
    return calls_.at(left).number < calls_.at(right).number;
  });
  return ids;
}

Result<void> FactOrder::accept(Fact const& fact) {
  if (!ended_ && std::visit(FactOrderVisitor{*this}, fact)) return {};
  return Error{Errc::internal, "this fact is out of order: " + std::string{fact_name(fact)}};
}

}  // namespace runnel
