#include "runnel/tools/post_processor.h"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::tools {

namespace json = boost::json;

namespace {

using End = base::ChildOutcome::End;

constexpr std::size_t kLongestCode = 64;
constexpr char kInvalidOutput[] = "INVALID_OUTPUT";

// As runnel_sandbox exits if it could not start the program, and how its message begins then
// (cli/sandbox/sandbox.h). Programs use these codes, too.
constexpr int kSandboxFailed = 125;
constexpr int kNotStarted = 126;
constexpr std::string_view kSandboxSays = "runnel_sandbox: ";

// How the result of every failure begins; its error follows.
constexpr std::string_view kFailureHead = R"({"status":"failure","error":)";

bool is_code(std::string_view text) {
  return !text.empty() && text.size() <= kLongestCode && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

json::string const* output_text(json::object const& object, std::string_view key) {
  auto const* const value = object.if_contains(key);
  return value != nullptr ? value->if_string() : nullptr;
}

bool has_text(json::object const& object, std::string_view key, std::string_view text) {
  auto const* const value = output_text(object, key);
  return value != nullptr && *value == text;
}

// An error needs a code and a message; it may have more members.
json::object const* error_in(json::object const& document) {
  auto const* const member = document.if_contains("error");
  auto const* const error = member != nullptr ? member->if_object() : nullptr;
  if (error == nullptr || output_text(*error, "message") == nullptr) return nullptr;
  auto const* const code = output_text(*error, "code");
  return code != nullptr && is_code(*code) ? error : nullptr;
}

// Why the document is no answer for this method. Null if it is one.
char const* broken_form(CalledMethod const& called, json::object const& document) {
  auto const* const ok = document.if_contains("ok");
  if (ok == nullptr || !ok->is_bool()) return "the tool did not say whether the call succeeded";
  if (!has_text(document, "module", called.module) || !has_text(document, "method", called.method))
    return "the tool's answer does not have the module and the method of this call";
  if (!ok->get_bool())
    return error_in(document) != nullptr
               ? nullptr
               : "the tool's error needs a message, and a code of upper case letters, digits and _";
  auto const* const partial = document.if_contains("partial");
  if (partial != nullptr && !partial->is_bool()) return "the tool's member partial is neither true nor false";
  auto const* const data = document.if_contains("data");
  return data != nullptr && data->is_object() ? nullptr : "the tool's data are not a JSON object";
}

// The data as project_cli has printed them, to the byte: a number that is parsed and written again has
// another form, and the result must be the same as the receipt's. Empty if the output has another form.
std::string_view printed_data(CalledMethod const& called, ToolStatus status, std::string_view output) {
  std::string head;
  JsonObject object{head};
  object.boolean("ok", true);
  if (status == ToolStatus::partial) object.boolean("partial", true);
  object.text("module", called.module).text("method", called.method);
  object.key("data");
  while (output.ends_with('\n'))
    output.remove_suffix(1);
  if (!output.starts_with(head) || !output.ends_with('}')) return {};
  auto const data = output.substr(head.size(), output.size() - head.size() - 1);
  return check_json_text(data, 2 * kDefaultJsonDepth) ? std::string_view{} : data;
}

ToolStatus status_in(json::object const& document) {
  auto const* const partial = document.if_contains("partial");
  return partial != nullptr && partial->get_bool() ? ToolStatus::partial : ToolStatus::success;
}

ProgramAnswer broken(std::string const& code, std::string const& message) {
  return {tool_failure(code, message), false};
}

ProgramAnswer read_document(CalledMethod const& called, json::object const& document,
                            std::string_view output) {
  if (auto const* const why = broken_form(called, document)) return broken(kInvalidOutput, why);
  if (!document.at("ok").get_bool()) {
    auto const& error = *error_in(document);
    return {failure(json::serialize(error), std::string{*output_text(error, "code")}), true};
  }
  auto const status = status_in(document);
  auto const printed = printed_data(called, status, output);
  auto outcome =
      success(called, printed.empty() ? json::serialize(document.at("data")) : std::string{printed}, status);
  bool const kept = outcome.status == status;
  return {std::move(outcome), kept};
}

ProgramAnswer read_text(CalledMethod const& called, base::ChildOutcome const& ended) {
  auto const parsed = parse_json(ended.output, 2 * kDefaultJsonDepth);
  auto const* const document = std::get_if<json::value>(&parsed);
  if (document != nullptr && document->is_object())
    return read_document(called, document->get_object(), ended.output);
  if (ended.output.empty() && ended.code != 0) {
    return broken("TOOL_CRASHED", "the tool ended with the exit code " + std::to_string(ended.code) +
                                      " and without an answer");
  }
  return broken(kInvalidOutput, "the tool's answer is not one JSON object");
}

}  // namespace

ProgramAnswer read_output(CalledMethod const& called, base::ChildOutcome const& ended) {
  switch (ended.end) {
    case End::timed_out:
      return broken("TOOL_TIMEOUT", "the tool took too long and was stopped");
    case End::output_too_large:
      return broken("OUTPUT_TOO_LARGE", "the tool's answer is larger than allowed; ask for less");
    case End::signaled:
      return broken("TOOL_CRASHED", "the tool was ended by the signal " + std::to_string(ended.code));
    case End::exited:
      break;
  }
  bool const not_started = ended.output.empty() && ended.errors.starts_with(kSandboxSays) &&
                           (ended.code == kSandboxFailed || ended.code == kNotStarted);
  if (not_started) return broken("TOOL_NOT_STARTED", "the tool cannot be started now");
  return read_text(called, ended);
}

ToolOutcome success(CalledMethod const& called, std::string_view data, ToolStatus status) {
  std::string text;
  JsonObject{text}
      .text("status", to_string(status))
      .text("module", called.module)
      .text("method", called.method)
      .raw("data", data)
      .close();
  auto result = JsonText::parse(text);
  if (!result) return tool_failure(kInvalidOutput, "the tool's data are nested too deeply");
  ToolOutcome outcome;
  outcome.status = status;
  outcome.result = std::move(*result);
  return outcome;
}

ToolOutcome failure(std::string_view error) {
  auto const parsed = parse_stored_json(error);
  auto const* const code =
      parsed && parsed->is_object() ? output_text(parsed->get_object(), "code") : nullptr;
  return failure(error, code != nullptr ? std::string{*code} : std::string{});
}

ToolOutcome failure(std::string_view error, std::string code) {
  auto result = JsonText::parse(std::string{kFailureHead}.append(error).append("}"));
  if (!result) return tool_failure(kInvalidOutput, "the tool's error is nested too deeply");
  ToolOutcome outcome;
  outcome.status = ToolStatus::failure;
  outcome.result = *result;
  outcome.error = std::move(*result);
  outcome.summary = std::move(code);
  return outcome;
}

std::string error_of(ToolOutcome const& outcome) {
  std::string_view const result = outcome.result.str();
  bool const is_failure = result.starts_with(kFailureHead);
  return is_failure ? std::string{result.substr(kFailureHead.size(), result.size() - kFailureHead.size() - 1)}
                    : std::string{"{}"};
}

std::string message_of(ToolOutcome const& outcome) {
  auto const error = parse_stored_json(error_of(outcome));
  auto const* const message =
      error && error->is_object() ? output_text(error->get_object(), "message") : nullptr;
  return message != nullptr ? std::string{*message} : std::string{};
}

}  // namespace runnel::tools
