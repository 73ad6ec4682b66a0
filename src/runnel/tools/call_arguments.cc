#include "runnel/tools/call_arguments.h"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::tools {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostQuoted = 64;

// What a NUL or broken UTF-8 became when the model's answer was read. Nobody knows what was meant.
constexpr char kReplacement[] = "\uFFFD";

// A text of the model inside a message, which stays short and on one line.
std::string quoted(std::string_view text) {
  std::string out{"'"};
  for (char const c : text.substr(0, kMostQuoted))
    out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E ? '?' : c;
  return out + (text.size() > kMostQuoted ? "…'" : "'");
}

std::optional<std::string> argument_text(json::object const& object, std::string_view key) {
  auto const* const value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string{value->get_string()};
}

JsonText to_text(json::value const& value) {
  auto text = JsonText::parse(json::serialize(value));
  return text ? std::move(*text) : JsonText::empty_object();
}

PreparedCall refuse_call(std::string const& code, std::string const& message,
                         JsonText args = JsonText::empty_object()) {
  PreparedCall call;
  call.name = kProjectCli;
  call.args = std::move(args);
  call.input = JsonText::empty_object();
  call.refused = tool_failure(code, message);
  return call;
}

// What is wrong with the members. Empty if nothing is.
std::string wrong_members(json::object const& given) {
  bool const is_old = given.contains("command") || given.contains("subcommand");
  if (is_old) return "the form command, subcommand, args is not accepted; give module, method and input";
  for (auto const& [key, value] : given) {
    if (key != "module" && key != "method" && key != "input" && key != "intent")
      return "there is no argument " + quoted(key) + "; the arguments are module, method, input and intent";
  }
  for (auto const* const key : {"module", "method"}) {
    if (!argument_text(given, key)) return std::string{key} + " is required and must be a text";
  }
  auto const* const input = given.if_contains("input");
  if (input != nullptr && !input->is_object()) return "input must be an object";
  return {};
}

// The input, as one line of JSON.
JsonText input_of(json::object const& given) {
  auto const* const input = given.if_contains("input");
  return input != nullptr && input->is_object() ? to_text(*input) : JsonText::empty_object();
}

// The arguments as facts show them.
JsonText shown_args(json::object const& given, JsonText const& input) {
  std::string text;
  JsonObject object{text};
  if (auto const module = argument_text(given, "module")) object.text("module", *module);
  if (auto const method = argument_text(given, "method")) object.text("method", *method);
  object.raw("input", input.str()).close();
  auto args = JsonText::parse(text);
  return args ? std::move(*args) : JsonText::empty_object();
}

std::string joined(std::vector<std::string_view> const& names) {
  std::string out;
  for (auto const name : names)
    out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

// Why the method cannot be called: there is no such module, or the module has no such method.
PreparedCall refuse_method(std::string const& module, std::string const& method, MethodNames const& allowed,
                           JsonText args) {
  std::vector<std::string_view> modules;
  std::vector<std::string_view> methods;
  for (std::string_view const name : allowed) {
    auto const dot = name.find('.');
    if (modules.empty() || modules.back() != name.substr(0, dot)) modules.push_back(name.substr(0, dot));
    if (name.substr(0, dot) == module) methods.push_back(name.substr(dot + 1));
  }
  if (methods.empty()) {
    return refuse_call("UNKNOWN_MODULE",
                       "there is no module " + quoted(module) + "; the modules are: " + joined(modules),
                       std::move(args));
  }
  return refuse_call(
      "UNKNOWN_METHOD",
      "the module " + module + " has no method " + quoted(method) + "; its methods are: " + joined(methods),
      std::move(args));
}

}  // namespace

PreparedCall read_arguments(std::string const& arguments, MethodNames const& allowed) {
  if (arguments.size() > kMostArgumentBytes) {
    return refuse_call("INPUT_TOO_LARGE", "the arguments have " + std::to_string(arguments.size()) +
                                              " bytes; at most " + std::to_string(kMostArgumentBytes) +
                                              " are allowed");
  }
  if (arguments.find(kReplacement) != std::string::npos) {
    return refuse_call(
        kInvalidInput,
        "the arguments contain U+FFFD, which takes the place of what is no text, such as a NUL "
        "or broken UTF-8");
  }
  auto const parsed = parse_json(arguments);
  if (auto const* const problem = std::get_if<JsonProblem>(&parsed))
    return refuse_call(kInvalidInput, "the arguments are no JSON that can be used: " + to_string(*problem));
  auto const* const given = std::get<json::value>(parsed).if_object();
  if (given == nullptr) return refuse_call(kInvalidInput, "the arguments must be a JSON object");
  auto input = input_of(*given);
  auto args = shown_args(*given, input);
  if (auto const wrong = wrong_members(*given); !wrong.empty())
    return refuse_call(kInvalidInput, wrong, args);

  auto const module = *argument_text(*given, "module");
  auto const method = *argument_text(*given, "method");
  auto name = module + "." + method;
  bool const is_allowed = module.find('.') == std::string::npos && allowed.contains(name);
  if (!is_allowed) return refuse_method(module, method, allowed, std::move(args));
  PreparedCall call;
  call.name = std::move(name);
  call.args = std::move(args);
  call.input = std::move(input);
  return call;
}

}  // namespace runnel::tools
