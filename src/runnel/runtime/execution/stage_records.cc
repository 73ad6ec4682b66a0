#include "runnel/runtime/execution/stage_records.h"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "runnel/core/fact/fact_json.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"
#include "runnel/flow/output/contract.h"
#include "runnel/runtime/execution/progress.h"

namespace runnel::runtime {

namespace json = boost::json;

namespace {

// Whether the row has a fact that tells of stages. Most rows of a long log hold only deltas, and are not
// parsed for this.
bool tells_of_stages(std::string_view body) {
  static constexpr std::string_view kKey = R"("fact":")";
  static constexpr std::array<std::string_view, 7> kNames{
      "step_", "tool_call_started", "tool_started", "tool_result", "approval_changed", "answer_completed",
      "run_"};
  for (auto at = body.find(kKey); at != std::string_view::npos; at = body.find(kKey, at)) {
    at += kKey.size();
    auto const name = body.substr(at);
    if (std::any_of(kNames.begin(), kNames.end(), [&](auto known) { return name.starts_with(known); }))
      return true;
  }
  return false;
}

// Accepts any object. The output was checked against its own contract when it was written.
flow::Contract const& any_object() {
  static auto const contract = flow::Contract::make("any", json::object{{"type", "object"}}, {}).value();
  return contract;
}

std::string text_object(std::string const& text) {
  std::string out;
  JsonObject{out}.text("text", text).close();
  return out;
}

}  // namespace

char const* to_string(StageRecord::Status status) {
  switch (status) {
    case StageRecord::Status::running:
      break;
    case StageRecord::Status::completed:
      return "completed";
    case StageRecord::Status::failed:
      return "failed";
    case StageRecord::Status::canceled:
      return "canceled";
  }
  return "running";
}

std::int64_t outputs_sent_back(StageRecord const& stage, StageCalls const& calls) {
  bool const asked_again = stage.status == StageRecord::Status::completed || !stage.rejected_last ||
                           calls.completed > stage.answers || !calls.last_completed;
  return stage.rejections - (asked_again ? 0 : 1);
}

Result<void> StageRecords::add(store::LogRow const& row) {
  if (!tells_of_stages(row.body)) return {};
  auto const records = parse_log_body(row.body, row.epoch);
  if (!records) return records.error();
  for (auto const& record : *records)
    add(record);
  return {};
}

void StageRecords::add(Record const& record) {
  auto const at = record.time_us / 1000;
  auto const& fact = record.fact;
  if (auto const* started = std::get_if<StepStarted>(&fact)) {
    auto& stage = stages_.emplace_back();
    stage.name = started->stage;
    stage.started_at = at;
  } else if (auto const* finished = std::get_if<StepFinished>(&fact)) {
    if (auto* const stage = find(finished->stage)) {
      stage->status = StageRecord::Status::completed;
      stage->ended_at = at;
    }
  } else if (auto const* asked = std::get_if<ToolCallStarted>(&fact)) {
    if (auto* const stage = find(asked->stage))
      stage->calls.push_back({asked->call, asked->tool, std::nullopt, std::nullopt, 0, 0});
  } else if (auto const* begun = std::get_if<ToolStarted>(&fact)) {
    if (auto* const call = find_call(begun->call)) {
      call->name = begun->name;
      call->started_at = at;
    }
  } else if (auto const* approval = std::get_if<ApprovalChanged>(&fact)) {
    if (auto* const call = find_call(approval->call)) call->approval = approval->status;
  } else if (auto const* result = std::get_if<ToolResult>(&fact)) {
    if (auto* const call = find_call(result->call)) {
      call->status = result->status;
      call->ended_at = at;
    }
  } else if (auto const* answer = std::get_if<AnswerCompleted>(&fact)) {
    answering_stage_ = answer->stage;
    answer_ = answer->answer;
    if (auto* const stage = find(answer->stage)) set_result(*stage, text_object(answer_));
  } else if (std::holds_alternative<RunFinished>(fact)) {
    end_run(store::RunStatus::completed, StageRecord::Status::completed, at);
  } else if (std::holds_alternative<RunFailed>(fact)) {
    end_run(store::RunStatus::failed, StageRecord::Status::failed, at);
  } else if (std::holds_alternative<RunCanceled>(fact)) {
    end_run(store::RunStatus::canceled, StageRecord::Status::canceled, at);
  }
}

// A run ends in its last stage, so that stage has ended as the run has.
void StageRecords::end_run(store::RunStatus status, StageRecord::Status last_stage, std::int64_t at) {
  ended_as_ = status;
  if (stages_.empty()) return;
  auto& last = stages_.back();
  last.status = last_stage;
  if (last.ended_at == 0) last.ended_at = at;
}

void StageRecords::add(store::Checkpoint const& checkpoint) {
  auto* const stage = find(checkpoint.stage);
  if (stage == nullptr || checkpoint.kind == kToolCheckpoint) return;
  ++stage->answers;
  stage->rejected_last = checkpoint.kind == kRejectedCheckpoint;
  if (stage->rejected_last) ++stage->rejections;
  if (checkpoint.kind == kStageCheckpoint && stage->status == StageRecord::Status::completed)
    set_result(*stage, result_in(checkpoint));
}

void StageRecords::add_output(std::string_view stage_name, std::string_view output) {
  auto* const stage = find(stage_name);
  if (stage == nullptr || stage->name != answering_stage_ || output == answer_) return;
  auto const reading = flow::read_output(any_object(), output);
  if (reading.is_json && reading.problems.empty()) set_result(*stage, json::serialize(reading.value));
}

void StageRecords::set_result(StageRecord& stage, std::string result) const {
  stage.result_bytes = result.size();
  stage.result = result.size() <= longest_result_ ? std::move(result) : std::string{};
}

StageRecord* StageRecords::find(std::string_view stage) {
  auto const found = std::find_if(stages_.begin(), stages_.end(),
                                  [&](StageRecord const& known) { return known.name == stage; });
  return found != stages_.end() ? &*found : nullptr;
}

// Calls belong to the newest stage, and most facts are about one of its last calls.
StageRecord::Call* StageRecords::find_call(ToolCallId const& call) {
  if (stages_.empty()) return nullptr;
  auto& calls = stages_.back().calls;
  auto const found = std::find_if(calls.rbegin(), calls.rend(),
                                  [&](StageRecord::Call const& known) { return known.id == call; });
  return found != calls.rend() ? &*found : nullptr;
}

}  // namespace runnel::runtime
