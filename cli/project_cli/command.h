#pragma once

#include <span>
#include <string>
#include <variant>

// What project_cli is asked to do, from its arguments. Only the modules and methods in its table are passed
// on.
namespace project_cli {

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
