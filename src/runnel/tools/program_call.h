#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/process/child.h"
#include "runnel/core/error.h"
#include "runnel/tools/post_processor.h"
#include "runnel/tools/tool.h"

// How a tool call becomes a call of a program, and what the program's end means for the tool call.
namespace runnel::tools {

// What a program gets of a call (TOOL-2).
struct ProgramCall {
  CalledMethod called;
  std::vector<std::string> arguments;  // Module, method and options.
  std::string input;                   // For its standard input.
};

// The arguments of the call were checked when it was prepared.
ProgramCall to_program_call(JsonText const& args);

// A program may run as long as its tool allows, but not longer than its run.
base::ChildLimits limits_of(ToolJob const& job, std::chrono::milliseconds time, std::size_t output_bytes);

// A stop by the user; the call then ends as canceled (RUN-4).
bool is_canceled(base::Cancel const& cancel);
bool is_stopping(base::Cancel const& cancel);

// `secrets` are texts that the program got and that nobody else may see. An output that contains one is a
// failure: it would be shown to the model and kept in the history. A program that failed without an answer is
// logged, with what it wrote to stderr.
ProgramAnswer answer_of_program(Result<base::ChildOutcome> const& ended, CalledMethod const& called,
                                ToolJob const& job, base::Cancel const& cancel,
                                std::vector<std::string> const& secrets);

}  // namespace runnel::tools
