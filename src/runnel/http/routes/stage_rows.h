#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/money/money.h"
#include "runnel/runtime/execution/stage_records.h"
#include "runnel/store/sql.h"

// What the stages of a run left in the ledger and in the messages.
namespace runnel::http {

// The model calls of one stage. Tokens and costs are those of the calls that have ended.
struct StageUsage {
  std::string stage;
  std::vector<std::string> models;  // In the order in which they were first called.
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  Money cost;
  bool complete = true;  // False if some of these numbers are estimates.
  runtime::StageCalls calls;
};

// The stages that have called a model, in no particular order.
store::Async<std::vector<StageUsage>> stage_usage(store::Sql* sql, RunKey run);

// The raw output that the run's last stage keeps on an audit row. Empty if it keeps none.
struct StageOutput {
  std::string stage;
  std::string text;
};
store::Async<StageOutput> last_stage_output(store::Sql* sql, RunKey run);

}  // namespace runnel::http
