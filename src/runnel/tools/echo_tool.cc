#include "runnel/tools/echo_tool.h"

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "runnel/base/sleep.h"
#include "runnel/core/json/parse.h"

namespace runnel::tools {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr std::int64_t kLongestSleep = 60'000;

constexpr char kParameters[] =
    R"({"type":"object","required":["module","method","input"],"properties":{)"
    R"("module":{"type":"string"},"method":{"type":"string","enum":["echo","slow","part","fail"]},)"
    R"("input":{"type":"object"},"intent":{"type":"string"}}})";

PreparedCall refuse(std::string const& code, std::string const& message) {
  PreparedCall call;
  call.name = kProjectCli;
  call.args = JsonText::empty_object();
  call.input = call.args;
  call.refused = tool_failure(code, message);
  return call;
}

std::string text_at(json::object const& object, std::string_view key) {
  auto const* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

JsonText as_text(json::value const& value) {
  return JsonText::parse(json::serialize(value)).value();
}

bool is_known(std::string const& method) {
  return method == "echo" || method == "slow" || method == "part" || method == "fail";
}

json::object parse_args(JsonText const& args) {
  return parse_stored_json(args.str()).value().as_object();
}

std::int64_t sleep_of(json::object const& args) {
  auto const* ms = args.at("input").as_object().if_contains("ms");
  return ms != nullptr && ms->is_int64() ? std::clamp<std::int64_t>(ms->get_int64(), 0, kLongestSleep) : 0;
}

ToolOutcome outcome_of(json::object const& args) {
  auto const method = text_at(args, "method");
  if (method == "fail") return tool_failure("TEST_FAILURE", "the test tool fails when it is asked to");
  json::object result;
  result["module"] = args.at("module");
  result["method"] = args.at("method");
  result["data"] = args.at("input");
  ToolOutcome outcome;
  outcome.status = method == "part" ? ToolStatus::partial : ToolStatus::success;
  outcome.result = as_text(result);
  return outcome;
}

}  // namespace

ToolSpec EchoTool::spec() const {
  return {kProjectCli, "Runs one business action.", kParameters};
}

PreparedCall EchoTool::prepare(std::string const& arguments) const {
  auto const parsed = parse_json(arguments);
  auto const* document = std::get_if<json::value>(&parsed);
  if (document == nullptr || !document->is_object())
    return refuse("INVALID_ACTION_INPUT", "the arguments must be one JSON object");
  auto args = document->get_object();
  args.erase("intent");
  auto const* input = args.if_contains("input");
  if (text_at(args, "module").empty() || input == nullptr || !input->is_object())
    return refuse("INVALID_ACTION_INPUT", "module, method and input are required");

  PreparedCall call;
  call.name = text_at(args, "module") + "." + text_at(args, "method");
  call.args = as_text(args);
  call.input = as_text(*input);
  if (!is_known(text_at(args, "method")))
    call.refused = tool_failure("UNKNOWN_METHOD", "there is no such method");
  return call;
}

asio::awaitable<Result<ToolOutcome>> EchoTool::run(ToolJob job, std::shared_ptr<base::Cancel> cancel) {
  if (job.repeat) co_return outcome_unknown();
  auto const args = parse_args(job.args);
  auto const pause = sleep_of(args);
  if (pause > 0) {
    bool const slept = co_await base::sleep_for(std::chrono::milliseconds{pause}, cancel);
    if (!slept) co_return Error{Errc::canceled, "canceled while the test tool slept"};
  }
  co_return outcome_of(args);
}

}  // namespace runnel::tools
