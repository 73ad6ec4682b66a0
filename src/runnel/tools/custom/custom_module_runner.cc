#include "runnel/tools/custom/custom_module_runner.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runnel/tools/program_call.h"

namespace runnel::tools {

namespace asio = boost::asio;

namespace {

// Shorter values of variables are no secrets: they would occur in an output by chance.
constexpr std::size_t kShortestSecret = 8;

constexpr char kNeverStarted[] = "TOOL_NOT_STARTED";

std::vector<std::string> secrets_of(CustomModule const& module) {
  std::vector<std::string> out;
  for (auto const& variable : module.variables) {
    auto value = variable.substr(variable.find('=') + 1);
    if (value.size() >= kShortestSecret) out.push_back(std::move(value));
  }
  return out;
}

base::SpawnRequest request_for(ToolJob const& job, CustomModule const& module, Sandbox const& sandbox) {
  auto call = to_program_call(job.args);
  auto request = in_sandbox(sandbox_for(module, sandbox), module.program, call.arguments);
  request.input = std::move(call.input);
  request.environment = {
      "PATH=/usr/local/bin:/usr/bin:/bin",  "LANG=C.UTF-8",
      "RUNNEL_USER_ID=" + job.user.text,    "RUNNEL_RUN_ID=" + job.run.text,
      "RUNNEL_TOOL_CALL_ID=" + job.id.text, std::string{"RUNNEL_REPEAT="} + (job.repeat ? "1" : "0")};
  request.environment.insert(request.environment.end(), module.variables.begin(), module.variables.end());
  return request;
}

base::ChildLimits limits_for(ToolJob const& job, CustomModule const& module,
                             CustomModuleOptions const& options) {
  auto const own =
      module.timeout_s ? std::chrono::milliseconds{std::chrono::seconds{*module.timeout_s}} : options.time;
  return limits_of(job, own, options.output_bytes);
}

// A program that was started may have done something, also if it broke or if its answer cannot be used.
ToolOutcome with_doubt(ProgramAnswer answer, CustomMethod const& method) {
  auto const code = answer.outcome.summary;
  if (answer.answered || code == kNeverStarted || method.idempotent) return std::move(answer.outcome);
  return tool_failure(code, message_of(answer.outcome) + "; it is unknown whether it took effect");
}

Error stopped() {
  return {Errc::canceled, "canceled while the program of a module ran"};
}

}  // namespace

Sandbox sandbox_for(CustomModule const& module, Sandbox sandbox) {
  sandbox.readable = module.readable;
  sandbox.network = module.network;
  sandbox.processes = static_cast<std::uint64_t>(module.processes);
  sandbox.memory_bytes = static_cast<std::uint64_t>(module.memory_mb) << 20U;
  if (module.timeout_s) sandbox.cpu_seconds = static_cast<std::uint64_t>(*module.timeout_s);
  return sandbox;
}

asio::awaitable<Result<ToolOutcome>> CustomModuleRunner::run(ToolJob job, CustomCallee callee,
                                                             std::shared_ptr<base::Cancel> cancel) {
  if (job.repeat && !callee.method->idempotent) co_return outcome_unknown();
  auto const called = to_program_call(job.args).called;
  auto const ended = co_await base::run_child(request_for(job, *callee.module, options_.sandbox),
                                              limits_for(job, *callee.module, options_), starting_, cancel);
  job.place.reset();
  if (!ended && is_stopping(*cancel)) co_return stopped();
  auto answer = answer_of_program(ended, called, job, *cancel, secrets_of(*callee.module));
  if (answer.outcome.status == ToolStatus::failure && is_canceled(*cancel)) co_return stopped();
  co_return with_doubt(std::move(answer), *callee.method);
}

}  // namespace runnel::tools
