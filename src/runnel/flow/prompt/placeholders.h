#pragma once

#include <string>
#include <string_view>

#include "runnel/flow/prompt/prompt.h"

// The values of the placeholders in agents and tasks; prompt.h lists the placeholders.
namespace runnel::flow {

// A name that is not a placeholder of every run names a stage; its value is null if that stage has not run.
std::string placeholder_value(PromptInput const& input, std::string_view name);

// The placeholders of every run, in braces and separated by blanks, for messages.
std::string run_placeholders();

// Whether a user or a model wrote the placeholder's value.
bool is_data(std::string_view placeholder);

}  // namespace runnel::flow
