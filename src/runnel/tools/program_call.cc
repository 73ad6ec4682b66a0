#include "runnel/tools/program_call.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include "runnel/base/log/log.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::tools {

namespace json = boost::json;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view kRedacted = "[redacted]";

// The input's mode if it can be an argument of a program: letters and underscores.
std::string mode_of(json::object const& input) {
  auto const* const value = input.if_contains("mode");
  auto const* const mode = value != nullptr ? value->if_string() : nullptr;
  bool const usable =
      mode != nullptr && !mode->empty() && mode->size() <= 32 &&
      std::all_of(mode->begin(), mode->end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return usable ? std::string{*mode} : std::string{};
}

// The input as it was recorded, to the byte: a number that is parsed and written again may be another one.
std::string input_text(JsonText const& args, CalledMethod const& called, json::object const& input) {
  std::string head;
  JsonObject object{head};
  object.text("module", called.module).text("method", called.method);
  object.key("input");
  std::string_view const text = args.str();
  if (!text.starts_with(head) || !text.ends_with('}')) return json::serialize(input);
  return std::string{text.substr(head.size(), text.size() - head.size() - 1)};
}

void log_failure(ToolJob const& job, CalledMethod const& called, std::string_view code,
                 std::string_view detail) {
  base::log(base::LogLevel::warn, "tool call failed",
            {{"run_id", job.run.text},
             {"tool_call_id", job.id.text},
             {"method", called.module + "." + called.method},
             {"code", code},
             {"detail", detail}});
}

bool has_any(std::string_view text, std::vector<std::string> const& secrets) {
  return std::any_of(secrets.begin(), secrets.end(), [&](std::string const& secret) {
    return !secret.empty() && text.find(secret) != std::string_view::npos;
  });
}

// Whether a text or a key of the document contains a secret. What was printed may have been escaped.
bool has_any(json::value const& document, std::vector<std::string> const& secrets) {
  if (auto const* const text = document.if_string()) return has_any(std::string_view{*text}, secrets);
  if (auto const* const list = document.if_array()) {
    return std::any_of(list->begin(), list->end(),
                       [&](json::value const& item) { return has_any(item, secrets); });
  }
  auto const* const object = document.if_object();
  return object != nullptr && std::any_of(object->begin(), object->end(), [&](auto const& member) {
           return has_any(std::string_view{member.key()}, secrets) || has_any(member.value(), secrets);
         });
}

bool tells_any(std::string const& output, std::vector<std::string> const& secrets) {
  if (has_any(std::string_view{output}, secrets)) return true;
  if (secrets.empty() || output.find('\\') == std::string::npos) return false;
  auto const parsed = parse_json(output, 2 * kDefaultJsonDepth);
  auto const* const document = std::get_if<json::value>(&parsed);
  return document != nullptr && has_any(*document, secrets);
}

// What the program wrote to stderr, for the log. If that was cut off, a secret may have been cut, too, so as
// much as the longest one has is left out at the end.
std::string words_for_log(std::string words, std::vector<std::string> secrets) {
  bool const is_cut = words.size() >= base::ChildLimits{}.error_bytes;
  // The longest first, because one may be a part of another.
  std::sort(secrets.begin(), secrets.end(),
            [](std::string const& a, std::string const& b) { return a.size() > b.size(); });
  for (auto const& secret : secrets) {
    std::size_t at = 0;
    while (!secret.empty() && (at = words.find(secret, at)) != std::string::npos) {
      words.replace(at, secret.size(), kRedacted);
      at += kRedacted.size();
    }
  }
  if (is_cut && !secrets.empty()) words.resize(words.size() - std::min(words.size(), secrets.front().size()));
  return words;
}

ToolOutcome failure_to_run(Error const& error, CalledMethod const& called, ToolJob const& job,
                           base::Cancel const& cancel) {
  if (error.code == Errc::canceled && !is_canceled(cancel))
    return tool_failure("TOOL_TIMEOUT", "the time of the run was up, and the tool was stopped");
  if (error.code == Errc::canceled) return tool_failure("CANCELED", "the tool call was canceled");
  log_failure(job, called, "TOOL_NOT_STARTED", error.detail);
  return tool_failure("TOOL_NOT_STARTED", "the tool cannot be started now");
}

}  // namespace

ProgramCall to_program_call(JsonText const& args) {
  auto const object = parse_stored_json(args.str()).value().as_object();
  auto const* const given = object.if_contains("input");
  auto const input = given != nullptr && given->is_object() ? given->get_object() : json::object{};
  ProgramCall call;
  call.called = {std::string{object.at("module").as_string()}, std::string{object.at("method").as_string()}};
  call.arguments = {call.called.module, call.called.method};
  if (auto const mode = mode_of(input); !mode.empty()) call.arguments.push_back("--mode=" + mode);
  call.arguments.emplace_back("--format=json");
  call.input = input_text(args, call.called, input);
  return call;
}

base::ChildLimits limits_of(ToolJob const& job, milliseconds time, std::size_t output_bytes) {
  base::ChildLimits limits;
  limits.time = time;
  limits.output_bytes = output_bytes;
  if (job.deadline) {
    auto const left =
        std::chrono::duration_cast<milliseconds>(*job.deadline - std::chrono::steady_clock::now());
    limits.time = std::clamp(left, milliseconds{1}, time);
  }
  return limits;
}

bool is_canceled(base::Cancel const& cancel) {
  return cancel.requested() && cancel.reason() != base::CancelReason::time_up;
}

bool is_stopping(base::Cancel const& cancel) {
  return cancel.reason() == base::CancelReason::shutdown;
}

ProgramAnswer answer_of_program(Result<base::ChildOutcome> const& ended, CalledMethod const& called,
                                ToolJob const& job, base::Cancel const& cancel,
                                std::vector<std::string> const& secrets) {
  if (!ended) return {failure_to_run(ended.error(), called, job, cancel), false};
  if (tells_any(ended->output, secrets)) {
    log_failure(job, called, "INVALID_OUTPUT", "the output contains a secret that the program was given");
    return {tool_failure("INVALID_OUTPUT", "the tool's answer contains a secret, so it was thrown away"),
            false};
  }
  auto answer = read_output(called, *ended);
  if (!answer.answered) {
    auto const words = words_for_log(ended->errors, secrets);
    log_failure(job, called, answer.outcome.summary,
                message_of(answer.outcome) + (words.empty() ? "" : ": " + words));
  }
  return answer;
}

}  // namespace runnel::tools
