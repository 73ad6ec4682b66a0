#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/prompt.h"
#include "runnel/core/usage.h"
#include "runnel/flow/prompt.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// What is wrong with an output that is sent back.
enum class Fault {
  contract,  // It does not keep to its contract.
  empty,     // It holds no word of an answer.
  cut,       // The model ran out of tokens before the answer began.
};
char const* to_string(Fault fault);

// How far a run has come: what its stages found, and the conversation with the model in the stage that is
// open. Each step is a checkpoint, to be written in the commit that tells of it; the checkpoints alone give
// the same state again (RUN-12).
class Progress {
 public:
  // Fails with `internal` where a checkpoint is none of ours.
  static Result<Progress> from(std::vector<store::Checkpoint> const& checkpoints);

  // A stage has found its result. `booked` is all that the run's calls used so far.
  store::Checkpoint finish_stage(std::string const& stage, std::string const& result,
                                 std::string const& label, std::vector<Usage> const& booked);

  // A model has asked for tools. The ids of the calls are the server's own.
  store::Checkpoint take_turn(std::string const& stage, PromptMessage const& turn);

  // The oldest call without a result has one.
  store::Checkpoint finish_call(std::string const& stage, std::string const& call, std::string const& result);

  // An output is sent back with `repair`.
  store::Checkpoint reject_output(std::string const& stage, std::string const& output,
                                  std::string const& repair, Fault fault);

  [[nodiscard]] flow::Results const& results() const { return results_; }
  [[nodiscard]] std::string const& last_stage() const { return last_stage_; }  // Empty: none has finished.
  [[nodiscard]] std::string const& last_label() const { return last_label_; }
  [[nodiscard]] std::vector<Usage> const& booked() const { return booked_; }

  // Of the open stage: what followed its opening, and the calls that have no result yet.
  [[nodiscard]] std::vector<PromptMessage> const& conversation() const { return conversation_; }
  [[nodiscard]] std::vector<ToolCall> const& pending() const { return pending_; }
  [[nodiscard]] std::size_t turn_size() const { return turn_size_; }  // Calls of the last turn.
  [[nodiscard]] std::int64_t turns() const { return turns_; }
  [[nodiscard]] std::int64_t rejections() const { return rejections_; }
  [[nodiscard]] std::int64_t cuts() const { return cuts_; }              // Of them, those for length.
  [[nodiscard]] bool rejected_words() const { return rejected_words_; }  // One of them said something.
  [[nodiscard]] Fault last_fault() const { return last_fault_; }         // Of the last of them.

  // Of the whole run. Answers are those that led somewhere: attempts that failed or were cut off by a crash
  // are none.
  [[nodiscard]] std::int64_t all_answers() const { return all_answers_; }
  [[nodiscard]] std::int64_t all_turns() const { return all_turns_; }
  [[nodiscard]] std::int64_t all_calls() const { return all_calls_; }
  [[nodiscard]] std::int64_t all_rejections() const { return all_rejections_; }

 private:
  Result<void> apply(store::Checkpoint const& checkpoint);
  store::Checkpoint next(std::string const& stage, char const* kind, std::string body);
  void add_stage(std::string const& stage, std::string const& result, std::string const& label);
  void add_turn(PromptMessage turn);
  void add_result(std::string const& call, std::string const& result);
  void add_rejection(std::string const& output, std::string const& repair, Fault fault);

  std::int64_t number_ = 0;
  flow::Results results_;
  std::string last_stage_;
  std::string last_label_;
  std::vector<Usage> booked_;
  std::vector<PromptMessage> conversation_;
  std::vector<ToolCall> pending_;
  std::size_t turn_size_ = 0;
  std::int64_t turns_ = 0;
  std::int64_t rejections_ = 0;
  std::int64_t cuts_ = 0;
  bool rejected_words_ = false;
  Fault last_fault_ = Fault::contract;
  std::int64_t all_answers_ = 0;
  std::int64_t all_turns_ = 0;
  std::int64_t all_calls_ = 0;
  std::int64_t all_rejections_ = 0;
};

}  // namespace runnel::runtime
