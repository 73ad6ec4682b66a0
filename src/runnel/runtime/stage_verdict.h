#pragma once

#include <string>
#include <vector>

#include "runnel/flow/contract.h"
#include "runnel/flow/flow.h"
#include "runnel/runtime/model_caller.h"
#include "runnel/runtime/progress.h"

namespace runnel::runtime {

// What becomes of a stage's output that asks for no tool (FLOW-4, V2-6).
struct StageVerdict {
  enum class Kind {
    good,      // It is the stage's result.
    partial,   // It was cut for length behind the beginning of its text, which has been shown: that counts.
    rejected,  // It is sent back, or is the stage's last.
    out_of_rounds,  // The call that had to answer asked for a tool instead.
  };
  Kind kind = Kind::good;
  Fault fault = Fault::contract;      // Of a rejected one,
  std::vector<std::string> problems;  // and in words for the model.
  flow::Reading reading;              // Of an object; of words: nothing.
};

// `closing`: the model had no tools left, and was told so.
StageVerdict judge_output(flow::Stage const& stage, ModelReply const& reply, bool closing);

// The label of a router's result; empty: there is none.
std::string label_of(flow::Stage const& stage, boost::json::object const& value);

// Why a stage has failed whose last output was rejected, as RUN_ERROR tells it.
CallTrouble explain_rejection(flow::Stage const& stage, Fault fault);

}  // namespace runnel::runtime
