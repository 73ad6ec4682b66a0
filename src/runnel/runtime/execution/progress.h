#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/money/usage.h"
#include "runnel/core/prompt.h"
#include "runnel/flow/prompt/prompt.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// What is wrong with a rejected output.
enum class Fault {
  contract,  // It breaks its contract.
  empty,     // It contains no answer.
  cut,       // The model ran out of tokens before the answer began.
};
char const* to_string(Fault fault);

// The kinds of checkpoints.
inline constexpr char kStageCheckpoint[] = "stage";  // A finished stage.
inline constexpr char kTurnCheckpoint[] = "turn";    // A turn in which the model calls tools.
inline constexpr char kToolCheckpoint[] = "tool";    // The result of a tool call.
inline constexpr char kRejectedCheckpoint[] = "rejected";

// The result of the stage that the checkpoint finishes, a JSON object on one line. Empty if there is none.
std::string result_in(store::Checkpoint const& checkpoint);

// How far a run has come: the results of its stages, and the conversation with the model in the open stage.
// Each step is a checkpoint, which is written in the same commit as the facts of that step. The checkpoints
// alone restore the same state (RUN-12).
class Progress {
 public:
  // Fails with `internal` if a checkpoint cannot be read.
  static Result<Progress> from(std::vector<store::Checkpoint> const& checkpoints);

  // Finishes a stage with its result. `booked` is everything that the run's calls have used so far.
  store::Checkpoint finish_stage(std::string const& stage, std::string const& result,
                                 std::string const& label, std::vector<Usage> const& booked);

  // Records a turn in which the model calls tools. The ids of the calls are the server's own. `client_calls`
  // are those that the client makes.
  store::Checkpoint take_turn(std::string const& stage, PromptMessage const& turn,
                              std::vector<std::string> const& client_calls = {});

  // Records the result of the pending call with the id `call`.
  store::Checkpoint finish_call(std::string const& stage, std::string const& call, std::string const& result);

  // Records a rejected output; `repair` is the message that is sent back.
  store::Checkpoint reject_output(std::string const& stage, std::string const& output,
                                  std::string const& repair, Fault fault);

  [[nodiscard]] flow::Results const& results() const { return results_; }
  [[nodiscard]] std::string const& last_stage() const { return last_stage_; }  // Empty if none has finished.
  [[nodiscard]] std::string const& last_label() const { return last_label_; }
  [[nodiscard]] std::vector<Usage> const& booked() const { return booked_; }

  // The open stage: the messages after its opening, and the calls that have no result yet.
  [[nodiscard]] std::vector<PromptMessage> const& conversation() const { return conversation_; }
  [[nodiscard]] std::vector<ToolCall> const& pending() const { return pending_; }
  // Those of them that the client makes, which are not among `pending`.
  [[nodiscard]] std::vector<ToolCall> const& client_calls() const { return client_calls_; }
  // The place of the call in the last turn, from 0.
  [[nodiscard]] std::size_t place_of(std::string const& call) const;
  [[nodiscard]] std::int64_t turns() const { return turns_; }
  [[nodiscard]] std::int64_t rejections() const { return rejections_; }
  [[nodiscard]] std::int64_t cuts() const { return cuts_; }              // Rejections for length.
  [[nodiscard]] bool rejected_words() const { return rejected_words_; }  // A rejected output was not blank.
  [[nodiscard]] Fault last_fault() const { return last_fault_; }         // Of the last rejection.

  // Counts of the whole run. Only answers that became a checkpoint count, not attempts that failed or that a
  // crash cut off.
  [[nodiscard]] std::int64_t all_answers() const { return all_answers_; }
  [[nodiscard]] std::int64_t all_turns() const { return all_turns_; }
  [[nodiscard]] std::int64_t all_calls() const { return all_calls_; }
  [[nodiscard]] std::int64_t all_rejections() const { return all_rejections_; }

 private:
  Result<void> apply(store::Checkpoint const& checkpoint);
  store::Checkpoint next(std::string const& stage, char const* kind, std::string body);
  void add_stage(std::string const& stage, std::string const& result, std::string const& label);
  void add_turn(PromptMessage turn, std::vector<std::string> const& client_calls);
  void add_result(std::string const& call, std::string const& result);
  void add_rejection(std::string const& output, std::string const& repair, Fault fault);

  std::int64_t number_ = 0;
  flow::Results results_;
  std::string last_stage_;
  std::string last_label_;
  std::vector<Usage> booked_;
  std::vector<PromptMessage> conversation_;
  std::vector<ToolCall> last_turn_;  // All its calls.
  std::vector<ToolCall> pending_;
  std::vector<ToolCall> client_calls_;
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
