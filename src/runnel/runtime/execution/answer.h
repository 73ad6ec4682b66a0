#pragma once

#include "runnel/core/fact/fact.h"
#include "runnel/flow/flow.h"
#include "runnel/flow/prompt/prompt.h"
#include "runnel/runtime/execution/stage_runner.h"

namespace runnel::runtime {

// Whether the stage's text is the run's answer, and not something for a later stage.
bool answers(flow::Stage const& stage, std::string const& label);

// Makes the content of TEXT_MESSAGE_END from the stage's own result and those of earlier stages (FLOW-3). The
// usage is not set.
AnswerCompleted make_answer(flow::Stage const& stage, StageResult const& end, flow::Results const& earlier);

}  // namespace runnel::runtime
