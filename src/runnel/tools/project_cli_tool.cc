#include "runnel/tools/project_cli_tool.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

#include "runnel/base/process/child.h"

namespace runnel::tools {

namespace asio = boost::asio;
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

base::ToolGrant make_grant(ToolJob const& job, CalledMethod const& called) {
  return {job.user, job.run, job.id, job.epoch, called.full_name()};
}

// A plain function: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
std::vector<std::string> only(std::string const& secret) {
  return {secret};
}

// `failed` is the outcome whose error was offered as the receipt.
ToolOutcome outcome_of_receipt(CallReceipt const& receipt, CalledMethod const& called, ToolOutcome failed,
                               std::string const& error) {
  if (!receipt.took_effect && receipt.json == error) return failed;
  if (!receipt.took_effect) return failure(receipt.json);
  return success(called, receipt.json, receipt.partial ? ToolStatus::partial : ToolStatus::success);
}

// A copy that keeps no room.
ToolJob without_place(ToolJob job) {
  job.place.reset();
  return job;
}

Error canceled() {
  return {Errc::canceled, "canceled while the tool ran"};
}

}  // namespace

ProjectCliTool::ProjectCliTool(ProjectCliParts parts, ProjectCliOptions options)
    : parts_{std::move(parts)},
      options_{std::move(options)},
      custom_{options_.custom_options, parts_.starting} {}

ToolSpec ProjectCliTool::spec() const {
  return {kProjectCli, options_.description, kSchema};
}

std::vector<std::string> ProjectCliTool::methods() const {
  return {options_.methods.begin(), options_.methods.end()};
}

PreparedCall ProjectCliTool::prepare(std::string const& arguments) const {
  auto call = read_arguments(arguments, options_.methods);
  if (call.refused) return call;
  if (auto const custom = options_.custom->find(call.name)) call.refused = refuse_input(*custom, call.input);
  call.needs_approval = !call.refused && options_.approvals.contains(call.name);
  return call;
}

Result<base::SpawnRequest> ProjectCliTool::make_request(ProgramCall call, std::string const& credential) {
  auto connection = parts_.modules.connect();
  if (!connection) return connection.error();
  auto request = confining_itself(options_.sandbox, options_.program, call.arguments);
  request.environment.push_back(kCredential + credential);
  request.input = std::move(call.input);
  request.inherited = std::make_shared<base::Descriptor const>(std::move(*connection));
  return request;
}

asio::awaitable<Result<std::shared_ptr<void>>> ProjectCliTool::reserve(UserId user, std::string method,
                                                                       std::shared_ptr<base::Cancel> cancel) {
  auto& slots = options_.custom->find(method) ? *parts_.custom_slots : *parts_.slots;
  auto slot = co_await slots.take(std::move(user), std::move(cancel));
  if (!slot) co_return slot.error();
  co_return std::make_shared<ProgramSlots::Slot>(std::move(*slot));
}

asio::awaitable<Result<base::ChildOutcome>> ProjectCliTool::run_program(
    ToolJob job, ProgramCall call, std::string credential, std::shared_ptr<base::Cancel> cancel) {
  auto request = make_request(std::move(call), credential);
  if (!request) co_return request.error();
  co_return co_await base::run_child(std::move(*request),
                                     limits_of(job, options_.time, options_.output_bytes), parts_.starting,
                                     std::move(cancel));
}

asio::awaitable<Result<ToolOutcome>> ProjectCliTool::run(ToolJob job, std::shared_ptr<base::Cancel> cancel) {
  auto call = to_program_call(job.args);
  auto const called = call.called;
  auto const custom = options_.custom->find(called.full_name());
  if (custom) co_return co_await custom_.run(std::move(job), *custom, std::move(cancel));
  auto const shown = without_place(job);
  auto outcome = co_await run_method(std::move(job), std::move(call), std::move(cancel));
  if (outcome) options_.cards.put_on(*outcome, called.full_name(), shown);
  co_return outcome;
}

asio::awaitable<Result<ToolOutcome>> ProjectCliTool::run_method(ToolJob job, ProgramCall call,
                                                                std::shared_ptr<base::Cancel> cancel) {
  auto const called = call.called;
  auto const grant = make_grant(job, called);
  auto const credential = parts_.credentials.mint(grant, parts_.clock.now_ms() / 1000);
  auto const ended = co_await run_program(job, std::move(call), credential, cancel);
  job.place.reset();
  // The next process makes the call again.
  if (is_stopping(*cancel)) co_return canceled();
  auto outcome = answer_of_program(ended, called, job, *cancel, only(credential)).outcome;
  if (outcome.status != ToolStatus::failure) co_return outcome;
  auto settled = co_await settle_call(grant, called, std::move(outcome), cancel);
  if (settled && settled->status == ToolStatus::failure && is_canceled(*cancel)) co_return canceled();
  co_return settled;
}

asio::awaitable<Result<std::optional<ToolOutcome>>> ProjectCliTool::settle(
    ToolJob job, std::string code, std::shared_ptr<base::Cancel> cancel) {
  auto const called = to_program_call(job.args).called;
  // Only the methods of the server's own modules can be settled. A method that is not known any more may have
  // been one of a custom module.
  auto const name = called.full_name();
  bool const own = options_.methods.contains(name) && !options_.custom->find(name);
  if (!own) co_return std::nullopt;
  auto outcome = co_await settle_call(make_grant(job, called), called,
                                      tool_failure(code, "the tool call was broken off"), cancel);
  if (!outcome) co_return outcome.error();
  options_.cards.put_on(*outcome, name, job);
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
    if (receipt) co_return outcome_of_receipt(*receipt, called, std::move(failed), error);
    if (receipt.error().code != Errc::unavailable) co_return receipt.error();
    timer.expires_after(kStorePause);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (is_stopping(*cancel)) co_return canceled();
  }
}

}  // namespace runnel::tools
