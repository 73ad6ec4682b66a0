#pragma once

#include <string>
#include <vector>

#include "runnel/flow/flow.h"
#include "runnel/flow/output/contract.h"
#include "runnel/runtime/execution/progress.h"
#include "runnel/runtime/model_calls/model_caller.h"

namespace runnel::runtime {

// The verdict on a stage's output after which no tool is run (FLOW-4, V2-6).
struct StageVerdict {
  enum class Kind {
    good,           // It is the stage's result.
    partial,        // It was cut off for length, but the text that was shown counts as the answer.
    rejected,       // It is sent back to the model, or fails the stage if it was the last try.
    out_of_rounds,  // The call that had to answer asked for a tool instead.
  };
  Kind kind = Kind::good;
  Fault fault = Fault::contract;      // What is wrong with a rejected output.
  std::vector<std::string> problems;  // The same in words for the model.
  flow::Reading reading;              // The object; default-constructed if the output is text.
};

// `closing` is true if the stage's rounds of tool calls are used up, so that the model was offered no tools.
StageVerdict judge_output(flow::Stage const& stage, ModelReply const& reply, bool closing);

// The label in a router's result; empty if there is none.
std::string label_of(flow::Stage const& stage, boost::json::object const& value);

// Why a stage failed whose last output was rejected, in the words of RUN_ERROR.
CallTrouble explain_rejection(flow::Stage const& stage, Fault fault);

}  // namespace runnel::runtime
