#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// What one stage of a run did. Times are UNIX milliseconds; 0 if there is none.
struct StageRecord {
  enum class Status { running, completed, failed, canceled };

  struct Call {
    ToolCallId id;
    std::string name;                  // module.method; the tool's own name if the call was never started.
    std::optional<ToolStatus> status;  // Empty while it is open.
    std::optional<ApprovalStatus> approval;  // Empty if nobody was asked.
    std::int64_t started_at = 0;
    std::int64_t ended_at = 0;
  };

  std::string name;
  Status status = Status::running;
  std::int64_t started_at = 0;
  std::int64_t ended_at = 0;
  std::vector<Call> calls;  // In the order in which the model made them.

  // Of a completed stage: its result, a JSON object on one line. If it is longer than is kept, `result` is
  // empty and `result_bytes` is not 0.
  std::string result;
  std::size_t result_bytes = 0;

  std::int64_t answers = 0;  // Model calls whose answer is in a checkpoint.
  std::int64_t rejections = 0;
  bool rejected_last = false;  // The last of these answers was rejected.
};
char const* to_string(StageRecord::Status status);

// What the ledger knows of a stage's model calls.
struct StageCalls {
  std::int64_t completed = 0;
  bool last_completed = false;  // The newest call has ended with a complete answer.
};

// How many outputs were sent back to the model (FLOW-4). The last rejected output of a stage that failed may
// not have been: the stage may use no more repairs.
std::int64_t outputs_sent_back(StageRecord const& stage, StageCalls const& calls);

// The stages of a run, in the order in which they began, read from what the run has stored. Add its log
// first: a stage is what the log says, and what is added of others is ignored. A flow has no cycles, so a
// stage begins at most once.
class StageRecords {
 public:
  explicit StageRecords(std::size_t longest_result) : longest_result_{longest_result} {}

  // The rows of the log come in order. Fails with `internal` if the row cannot be read.
  Result<void> add(store::LogRow const& row);
  void add(store::Checkpoint const& checkpoint);
  // The raw output of the stage that answered, if it has a contract.
  void add_output(std::string_view stage, std::string_view output);

  [[nodiscard]] std::vector<StageRecord> const& stages() const { return stages_; }
  // The stage that gave the run's answer. Empty if there is none yet.
  [[nodiscard]] std::string const& answering_stage() const { return answering_stage_; }
  // How the run has ended. Empty if the log has no end yet.
  [[nodiscard]] std::optional<store::RunStatus> ended_as() const { return ended_as_; }

 private:
  void add(Record const& record);
  void end_run(store::RunStatus status, StageRecord::Status last_stage, std::int64_t at);
  void set_result(StageRecord& stage, std::string result) const;
  [[nodiscard]] StageRecord* find(std::string_view stage);
  [[nodiscard]] StageRecord::Call* find_call(ToolCallId const& call);

  std::size_t const longest_result_;
  std::vector<StageRecord> stages_;
  std::string answering_stage_;
  std::string answer_;
  std::optional<store::RunStatus> ended_as_;
};

}  // namespace runnel::runtime
