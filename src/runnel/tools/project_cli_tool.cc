#include "runnel/tools/project_cli_tool.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/base/process/child.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::tools {

namespace asio = boost::asio;
namespace json = boost::json;
using std::chrono::milliseconds;

namespace {

constexpr char kSchema[] =
    R"({"type":"object","required":["module","method","input"],"properties":{)"
    R"("module":{"type":"string"},"method":{"type":"string"},"input":{"type":"object"},)"
    R"("intent":{"type":"string","description":"What this call is for, in a few words for the user."}},)"
    R"("additionalProperties":false})";

std::string const kCredential = "RUNNEL_TOOL_CREDENTIAL=";

// How long to wait before a store that did not answer is asked again.
constexpr milliseconds kStorePause{200};

// The input's mode if it can be an argument of a program: letters and underscores.
std::string mode_of(json::object const& input) {
  auto const* const value = input.if_contains("mode");
  auto const* const mode = value != nullptr ? value->if_string() : nullptr;
  bool const usable =
      mode != nullptr && !mode->empty() && mode->size() <= 32 &&
      std::all_of(mode->begin(), mode->end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return usable ? std::string{*mode} : std::string{};
}

// The arguments were checked when the call was prepared.
json::object prepared_args(JsonText const& args) {
  return parse_stored_json(args.str()).value().as_object();
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

CalledMethod method_in(json::object const& args) {
  return {std::string{args.at("module").as_string()}, std::string{args.at("method").as_string()}};
}

base::ToolGrant make_grant(ToolJob const& job, CalledMethod const& called) {
  return {job.user, job.run, job.id, job.epoch, called.module + "." + called.method};
}

bool is_stopping(base::Cancel const& cancel) {
  return cancel.reason() == base::CancelReason::shutdown;
}

// A stop by the user; the call then ends as canceled (RUN-4).
bool is_canceled(base::Cancel const& cancel) {
  return cancel.requested() && cancel.reason() != base::CancelReason::time_up;
}

void log_failure(base::ToolGrant const& grant, std::string_view code, std::string_view detail) {
  base::log(base::LogLevel::warn, "tool call failed",
            {{"run_id", grant.run.text},
             {"tool_call_id", grant.call.text},
             {"method", grant.method},
             {"code", code},
             {"detail", detail}});
}

// What the failure of a program means for the call. A plain function, as the ones below: g++ 12 mishandles
// braces with strings in them inside a coroutine (CONTRIBUTING.md).
ToolOutcome failure_to_run(Error const& error, base::Cancel const& cancel, base::ToolGrant const& grant) {
  if (error.code == Errc::canceled && !is_canceled(cancel))
    return tool_failure("TOOL_TIMEOUT", "the time of the run was up, and the tool was stopped");
  if (error.code == Errc::canceled) return tool_failure("CANCELED", "the tool call was canceled");
  log_failure(grant, "TOOL_NOT_STARTED", error.detail);
  return tool_failure("TOOL_NOT_STARTED", "the tool cannot be started now");
}

// Nothing that a tool says may contain its credential: it would be shown to the model and kept in the
// history.
bool tells(base::ChildOutcome const& ended, std::string const& credential) {
  return !credential.empty() && ended.output.find(credential) != std::string::npos;
}

ToolOutcome outcome_of_program(Result<base::ChildOutcome> const& ended, CalledMethod const& called,
                               base::Cancel const& cancel, base::ToolGrant const& grant) {
  if (!ended) return failure_to_run(ended.error(), cancel, grant);
  auto outcome = read_output(called, *ended);
  bool const told = ended->end == base::ChildOutcome::End::exited && !ended->output.empty();
  if (outcome.status == ToolStatus::failure && !told) log_failure(grant, outcome.summary, ended->errors);
  return outcome;
}

ToolOutcome told_its_credential(base::ToolGrant const& grant) {
  log_failure(grant, "INVALID_OUTPUT", "the output contains the credential");
  return tool_failure("INVALID_OUTPUT", "the tool's answer contains what it must not tell");
}

ToolOutcome outcome_of_receipt(CallReceipt const& receipt, CalledMethod const& called) {
  return receipt.took_effect ? success(called, receipt.json) : failure(receipt.json);
}

Error canceled() {
  return {Errc::canceled, "canceled while the tool ran"};
}

}  // namespace

ProjectCliTool::ProjectCliTool(ProjectCliParts parts, ProjectCliOptions options)
    : parts_{std::move(parts)}, options_{std::move(options)} {}

ToolSpec ProjectCliTool::spec() const {
  return {kProjectCli, options_.description, kSchema};
}

std::vector<std::string> ProjectCliTool::methods() const {
  return {options_.methods.begin(), options_.methods.end()};
}

PreparedCall ProjectCliTool::prepare(std::string const& arguments) const {
  auto call = read_arguments(arguments, options_.methods);
  call.needs_approval = !call.refused && options_.approvals.contains(call.name);
  return call;
}

Result<base::SpawnRequest> ProjectCliTool::make_request(ToolJob const& job, CalledMethod const& called,
                                                        std::string const& credential) {
  auto connection = parts_.modules.connect();
  if (!connection) return connection.error();
  auto const args = prepared_args(job.args);
  auto const* const given = args.if_contains("input");
  auto const input = given != nullptr && given->is_object() ? given->get_object() : json::object{};
  std::vector<std::string> arguments{called.module, called.method};
  if (auto const mode = mode_of(input); !mode.empty()) arguments.push_back("--mode=" + mode);
  arguments.emplace_back("--format=json");
  auto request = in_sandbox(options_.sandbox, options_.program, arguments);
  request.environment.push_back(kCredential + credential);
  request.input = input_text(job.args, called, input);
  request.inherited = std::make_shared<base::Descriptor const>(std::move(*connection));
  return request;
}

base::ChildLimits ProjectCliTool::limits_of(ToolJob const& job) const {
  base::ChildLimits limits;
  limits.time = options_.time;
  limits.output_bytes = options_.output_bytes;
  if (job.deadline) {
    auto const left =
        std::chrono::duration_cast<milliseconds>(*job.deadline - std::chrono::steady_clock::now());
    limits.time = std::clamp(left, milliseconds{1}, options_.time);
  }
  return limits;
}

asio::awaitable<Result<base::ChildOutcome>> ProjectCliTool::run_program(
    base::SpawnRequest request, base::ChildLimits limits, std::shared_ptr<base::Cancel> cancel) {
  return base::run_child(std::move(request), limits, parts_.starting, std::move(cancel));
}

asio::awaitable<Result<ToolOutcome>> ProjectCliTool::run(ToolJob job, std::shared_ptr<base::Cancel> cancel) {
  auto const called = method_in(prepared_args(job.args));
  auto const grant = make_grant(job, called);
  auto const credential = parts_.credentials.mint(grant, parts_.clock.now_ms() / 1000);
  auto request = make_request(job, called, credential);
  Result<base::ChildOutcome> ended = request ? Error{Errc::internal, "not started"} : request.error();
  if (request) ended = co_await run_program(std::move(*request), limits_of(job), cancel);
  // The next process makes the call again.
  if (is_stopping(*cancel)) co_return canceled();
  auto outcome = ended && tells(*ended, credential) ? told_its_credential(grant)
                                                    : outcome_of_program(ended, called, *cancel, grant);
  if (outcome.status != ToolStatus::failure) co_return outcome;
  auto settled = co_await settle_call(grant, called, std::move(outcome), cancel);
  if (settled && settled->status == ToolStatus::failure && is_canceled(*cancel)) co_return canceled();
  co_return settled;
}

asio::awaitable<Result<std::optional<ToolOutcome>>> ProjectCliTool::settle(
    ToolJob job, std::string code, std::shared_ptr<base::Cancel> cancel) {
  auto const called = method_in(prepared_args(job.args));
  auto outcome = co_await settle_call(make_grant(job, called), called,
                                      tool_failure(code, "the tool call was broken off"), cancel);
  if (!outcome) co_return outcome.error();
  co_return std::optional{std::move(*outcome)};
}

// Waits for the store as long as it takes: no other answer can be given before it is known what became of the
// call.
asio::awaitable<Result<ToolOutcome>> ProjectCliTool::settle_call(base::ToolGrant grant, CalledMethod called,
                                                                 ToolOutcome failed,
                                                                 std::shared_ptr<base::Cancel> cancel) {
  auto const error = error_of(failed);
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (;;) {
    auto const receipt = co_await parts_.modules.settle(grant, error);
    if (receipt) co_return outcome_of_receipt(*receipt, called);
    if (receipt.error().code != Errc::unavailable) co_return receipt.error();
    timer.expires_after(kStorePause);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (is_stopping(*cancel)) co_return canceled();
  }
}

}  // namespace runnel::tools
