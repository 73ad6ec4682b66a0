#include "cli/project_cli/command.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/all_commands.h"

namespace project_cli {

namespace {

using runnel::CommandModule;

std::span<CommandModule const> allowed_modules() {
  static std::vector<CommandModule> const modules = all_commands();
  return modules;
}

template <class Named>
Named const* find_named(std::span<Named const> list, std::string_view name) {
  auto const found =
      std::find_if(list.begin(), list.end(), [&](Named const& candidate) { return candidate.name == name; });
  return found == list.end() ? nullptr : &*found;
}

template <class Named>
std::string names_of(std::span<Named const> list) {
  std::string out;
  for (auto const& one : list) {
    if (!out.empty()) out += ", ";
    out += one.name;
  }
  return out;
}

Refusal refuse(Call const& call, std::string code, std::string message) {
  return {call.module, call.method, std::move(code), std::move(message)};
}

// The options behind the method: each at most once, as --name VALUE or --name=VALUE.
Command read_options(Call call, std::span<char const* const> arguments) {
  bool has_mode = false;
  bool has_format = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view const argument = arguments[i];
    auto const equals = argument.find('=');
    auto const name = argument.substr(0, equals);
    bool const is_mode = name == "--mode";
    if (!is_mode && name != "--format") {
      return refuse(
          call, "INVALID_COMMAND",
          "there is no option '" + std::string{argument} + "'; the options are --mode and --format");
    }
    if (std::exchange(is_mode ? has_mode : has_format, true)) {
      return refuse(call, "INVALID_COMMAND", "the option " + std::string{name} + " is given twice");
    }
    bool const is_last = i + 1 == arguments.size();
    std::string_view value;
    if (equals != std::string_view::npos) value = argument.substr(equals + 1);
    if (equals == std::string_view::npos && !is_last) value = arguments[++i];
    if (value.empty()) {
      return refuse(call, "INVALID_COMMAND", "the option " + std::string{name} + " has no value");
    }
    if (is_mode) call.mode = value;
    if (!is_mode && value != "json") {
      return refuse(call, "INVALID_COMMAND", "the only format is json, not '" + std::string{value} + "'");
    }
  }
  return call;
}

Command read_call(std::span<char const* const> arguments) {
  Call call;
  call.module = arguments[0];
  if (arguments.size() > 1) call.method = arguments[1];
  auto const* const module = find_named(allowed_modules(), call.module);
  if (module == nullptr) {
    return refuse(call, "UNKNOWN_MODULE",
                  "there is no module '" + call.module + "'; there are: " + names_of(allowed_modules()));
  }
  if (find_named(module->methods, call.method) == nullptr) {
    return refuse(call, "UNKNOWN_METHOD",
                  "the module " + call.module + " has no method '" + call.method +
                      "'; it has: " + names_of(module->methods));
  }
  return read_options(std::move(call), arguments.subspan(2));
}

}  // namespace

Command read_command(std::span<char const* const> arguments) {
  std::string_view const first = arguments.empty() ? "--help" : arguments[0];
  if (arguments.size() <= 1 && (first == "--help" || first == "-h" || first == "help")) return ShowHelp{};
  if (arguments.size() <= 1 && (first == "--version" || first == "version")) return ShowVersion{};
  return read_call(arguments);
}

std::string help_text() {
  std::string out =
      "project_cli MODULE METHOD [--mode MODE] [--format json]\n"
      "\n"
      "Runs one tool call of an agent. Runnel starts it; it is of no use by hand, because it needs a\n"
      "credential and a connection that only the server can give it. It reads the call's input, a JSON "
      "object,\n"
      "from its standard input and writes one JSON object to its standard output:\n"
      "  {\"ok\":true,\"module\":…,\"method\":…,\"data\":…}, and \"partial\":true if a part of a batch has "
      "failed\n"
      "  {\"ok\":false,\"module\":…,\"method\":…,\"error\":{\"code\":…,\"message\":…}}, with the exit code "
      "1\n"
      "\n"
      "Modules and methods:\n";
  for (auto const& module : allowed_modules()) {
    out.append("  ").append(module.name).append(": ").append(module.about).append("\n");
    for (auto const& method : module.methods) {
      out.append("    ").append(module.name).append(" ").append(method.name).append(": ");
      out.append(method.about).append("\n");
    }
  }
  return out + "\nproject_cli --version prints the version.\n";
}

}  // namespace project_cli
