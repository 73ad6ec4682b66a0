#pragma once

#include <string>
#include <string_view>

#include "runnel/base/process/child.h"
#include "runnel/core/ids.h"
#include "runnel/tools/tool.h"

// Turns what a program printed into what a tool call returns (TOOL-5, TOOL-7).
namespace runnel::tools {

// Whose output it is.
struct CalledMethod {
  std::string module;
  std::string method;

  [[nodiscard]] std::string full_name() const { return module + "." + method; }
};

// What a program that has ended has said.
struct ProgramAnswer {
  ToolOutcome outcome;
  bool answered = false;  // Whether the outcome is the program's own answer, be it a success or a failure.
};

// The program must have printed one JSON object, {"ok":true,"module","method","data"} or
// {"ok":false,"module","method","error":{"code","message",…}}, for this method. "partial":true behind
// "ok":true says that a part of a batch has failed. Everything else is a failure with a code of its own, and
// nothing that was printed is passed on then.
ProgramAnswer read_output(CalledMethod const& called, base::ChildOutcome const& ended);

// A success, or the partial success of a batch, with this data, which is a JSON object.
ToolOutcome success(CalledMethod const& called, std::string_view data,
                    ToolStatus status = ToolStatus::success);

// A failure with this error, which is a JSON object, and the code in it.
ToolOutcome failure(std::string_view error);
ToolOutcome failure(std::string_view error, std::string code);

// The error of a failure, as failure() takes it, and the message in it.
std::string error_of(ToolOutcome const& outcome);
std::string message_of(ToolOutcome const& outcome);

}  // namespace runnel::tools
