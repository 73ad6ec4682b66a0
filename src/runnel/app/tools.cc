#include "runnel/app/tools.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runnel/base/process/child.h"
#include "runnel/core/json/parse.h"
#include "runnel/tools/echo_tool.h"
#include "runnel/tools/project_cli_tool.h"
#include "runnel/tools/sandbox.h"

namespace runnel::app {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

// nobody and nogroup on Debian.
constexpr char kNobody[] = "65534:65534";

// Whether it is UID:GID, neither of them root.
bool is_user_and_group(std::string const& text) {
  auto const colon = text.find(':');
  if (colon == std::string::npos) return false;
  for (auto const& part : {text.substr(0, colon), text.substr(colon + 1)}) {
    bool const digits =
        !part.empty() && part.size() <= 10 && part.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || part.find_first_not_of('0') == std::string::npos) return false;
  }
  return true;
}

std::string beside_this_program(char const* name) {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
}

tools::Sandbox sandbox_of(Settings const& settings) {
  tools::Sandbox sandbox;
  sandbox.program = beside_this_program("runnel_sandbox");
  sandbox.user = settings.tool_user;
  if (sandbox.user.empty() && ::geteuid() == 0) sandbox.user = kNobody;
  sandbox.landlock_required = settings.tool_sandbox == "required";
  sandbox.cpu_seconds = static_cast<std::uint64_t>(settings.tool_timeout_s);
  return sandbox;
}

// Runs a program to its end, before there are any cores.
Result<base::ChildOutcome> run_now(base::SpawnRequest request) {
  asio::io_context context;
  auto const starting = std::make_shared<base::BlockingPool>(1);
  auto ended = asio::co_spawn(
      context,
      base::run_child(std::move(request), base::ChildLimits{}, starting, std::make_shared<base::Cancel>()),
      asio::use_future);
  context.run();
  return ended.get();
}

// What the program printed. `what` is what it was to do, for the operator.
Result<std::string> output_of(base::SpawnRequest request, std::string const& what) {
  auto const ended = run_now(std::move(request));
  if (!ended) return Error{Errc::invalid, fmt::format("{}: {}", what, ended.error().detail)};
  bool const good = ended->end == base::ChildOutcome::End::exited && ended->code == 0;
  if (good) return ended->output;
  auto const told = ended->errors.substr(0, ended->errors.find('\n'));
  auto const* const silent =
      ended->end == base::ChildOutcome::End::timed_out ? "it did not end in time" : "it crashed";
  return Error{Errc::invalid, fmt::format("{}: {}", what, told.empty() ? silent : told)};
}

std::string level_in_words(std::string const& probe) {
  auto const parsed = parse_stored_json(probe);
  auto const* const level = parsed ? parsed->if_object() : nullptr;
  if (level == nullptr) return "unknown";
  auto const number = [&](char const* key) {
    auto const* const value = level->if_contains(key);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
  };
  auto const landlock = number("landlock");
  return fmt::format("user {}, system calls filtered, {}", number("user"),
                     landlock > 0 ? fmt::format("files protected by Landlock {}", landlock)
                                  : "files not protected (the kernel has no Landlock)");
}

std::string describe(std::vector<modules::Method> const& methods) {
  std::string out =
      "Acts for the user, with one method of one module per call. If the input of a method is not known, "
      "call it with what is known: the failure has its schema. The methods:";
  for (auto const& method : methods) {
    auto const schema = json::parse(method.input_schema);
    out += fmt::format("\n- {}: {}", method.name,
                       std::string_view{schema.as_object().at("description").as_string()});
  }
  return out;
}

tools::ProjectCliOptions cli_options(Settings const& settings, std::vector<modules::Method> const& methods) {
  tools::ProjectCliOptions options;
  options.program = beside_this_program("project_cli");
  options.sandbox = sandbox_of(settings);
  options.time = std::chrono::seconds{settings.tool_timeout_s};
  options.output_bytes = static_cast<std::size_t>(settings.tool_output_bytes);
  for (auto const& method : methods)
    options.methods.emplace(method.name);
  options.approvals = {settings.tool_approvals.begin(), settings.tool_approvals.end()};
  options.description = describe(methods);
  return options;
}

}  // namespace

std::vector<std::string> tool_names() {
  return {tools::kProjectCli};
}

Result<std::string> check_tool_programs(Settings const& settings) {
  if (settings.test_tool) return std::string{"the test tool, which has no effect"};
  auto const sandbox = sandbox_of(settings);
  if (!settings.tool_user.empty() && !is_user_and_group(settings.tool_user)) {
    return Error{Errc::invalid,
                 fmt::format("tools.user is '{}', but must be UID:GID, two numbers above 0 such as "
                             "65534:65534 (`id -u NAME` and `id -g NAME` print them)",
                             settings.tool_user)};
  }
  if (!settings.tool_user.empty() && ::geteuid() != 0) {
    return Error{
        Errc::invalid,
        fmt::format("tools.user is {}, but only root can start processes as another user; leave it empty",
                    settings.tool_user)};
  }
  auto const program = beside_this_program("project_cli");
  for (auto const& file : {sandbox.program, program}) {
    if (::access(file.c_str(), X_OK) != 0)
      return Error{Errc::invalid,
                   fmt::format("{} is missing; install it in the same folder as runnel", file)};
  }
  auto const level = output_of(tools::probe_of(sandbox, program), "the sandbox of tools does not work here");
  if (!level) return level.error();
  auto const version = output_of(tools::in_sandbox(sandbox, program, {"--version"}),
                                 fmt::format("{} cannot be started by the user {}", program,
                                             sandbox.user.empty() ? "of the server" : sandbox.user));
  if (!version) return version.error();
  if (*version != "project_cli " RUNNEL_VERSION "\n")
    return Error{Errc::invalid,
                 fmt::format("{} is another version than this runnel, {}", program, RUNNEL_VERSION)};
  auto words = level_in_words(*level);
  if (!settings.tool_approvals.empty())
    words += fmt::format("; approval is needed for {}", fmt::join(settings.tool_approvals, ", "));
  return words;
}

Result<void> check_tool_approvals(Settings const& settings, std::vector<std::string> const& methods) {
  for (auto const& name : settings.tool_approvals) {
    if (std::find(methods.begin(), methods.end(), name) != methods.end()) continue;
    return Error{Errc::invalid, fmt::format("tools.approval: there is no method '{}'; the methods are {}",
                                            name, fmt::join(methods, ", "))};
  }
  return {};
}

tools::Toolbox make_toolbox(Settings const& settings, ToolParts const& parts,
                            std::vector<modules::Method> const& methods) {
  std::vector<std::unique_ptr<tools::Tool>> tools;
  if (settings.test_tool) {
    tools.push_back(std::make_unique<tools::EchoTool>());
  } else {
    tools.push_back(std::make_unique<tools::ProjectCliTool>(
        tools::ProjectCliParts{parts.server.credentials(), parts.clock, parts.server, parts.starting},
        cli_options(settings, methods)));
  }
  return tools::Toolbox{std::move(tools)};
}

}  // namespace runnel::app
