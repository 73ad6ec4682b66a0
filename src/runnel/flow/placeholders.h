#pragma once

#include <string>
#include <string_view>

#include "runnel/flow/prompt.h"

// What stands for the placeholders of agents and tasks; prompt.h lists them.
namespace runnel::flow {

// A name that is no placeholder of a run is a stage's, and null where that stage has not run.
std::string placeholder_value(PromptInput const& input, std::string_view name);

// Those of every run, in braces and with blanks between, for messages.
std::string run_placeholders();

// Whether its value is what a user or a model wrote.
bool is_data(std::string_view placeholder);

}  // namespace runnel::flow
