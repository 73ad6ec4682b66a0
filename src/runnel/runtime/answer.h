#pragma once

#include "runnel/core/fact.h"
#include "runnel/flow/flow.h"
#include "runnel/flow/prompt.h"
#include "runnel/runtime/stage_runner.h"

namespace runnel::runtime {

// Whether the stage's text is the run's answer, and not something for a later stage.
bool answers(flow::Stage const& stage, std::string const& label);

// What TEXT_MESSAGE_END tells, out of the stage's own result and those of earlier ones (FLOW-3). Without its
// usage.
AnswerCompleted make_answer(flow::Stage const& stage, StageResult const& end, flow::Results const& earlier);

}  // namespace runnel::runtime
