#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/core/command_module.h"

// What project_cli is asked to do, from its arguments.
namespace project_cli {

// The modules and methods that this program passes on, and no others.
std::span<runnel::CommandModule const> allowed_modules();

struct Call {
  std::string module;
  std::string method;
  std::string mode;  // The server's copy of the input's "mode". Empty if it gave none.
};

// A call that is not passed on. Module and method are as they were given, as far as they were.
struct Refusal {
  std::string module;
  std::string method;
  std::string code;
  std::string message;
};

struct ShowHelp {};
struct ShowVersion {};

using Command = std::variant<Call, Refusal, ShowHelp, ShowVersion>;

Command read_command(std::span<char const* const> arguments);

std::string help_text();

}  // namespace project_cli
