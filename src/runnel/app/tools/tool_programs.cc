#include "runnel/app/tools/tool_programs.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "runnel/base/process/child.h"
#include "runnel/core/json/parse.h"
#include "runnel/tools/custom/custom_module_runner.h"

namespace runnel::app {

namespace asio = boost::asio;

namespace {

constexpr char kProjectCliProgram[] = "project_cli";
constexpr char kSandboxProgram[] = "runnel_sandbox";

// nobody and nogroup on Debian.
constexpr char kNobody[] = "65534:65534";
// A user that has no account on Debian, and so no files.
constexpr char kCustomUser[] = "65533:65533";

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

Result<void> check_user(std::string const& setting, std::string const& user) {
  if (user.empty()) return {};
  if (!is_user_and_group(user)) {
    return Error{Errc::invalid,
                 fmt::format("{} is '{}', but must be UID:GID, two numbers above 0 such as {} (`id -u NAME` "
                             "and `id -g NAME` print them)",
                             setting, user, kNobody)};
  }
  if (::geteuid() == 0) return {};
  return Error{Errc::invalid,
               fmt::format("{} is {}, but only root can start processes as another user; leave it empty",
                           setting, user)};
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

// What a probe of the sandbox has printed.
struct Level {
  std::int64_t user = 0;
  std::int64_t landlock = 0;
  bool tree = false;
};

// Empty if it is no probe.
std::optional<Level> read_level(std::string const& probe) {
  auto const parsed = parse_stored_json(probe);
  auto const* const object = parsed ? parsed->if_object() : nullptr;
  Level level;
  if (object == nullptr || !object->contains("landlock")) return std::nullopt;
  auto const number = [&](char const* key) {
    auto const* const value = object->if_contains(key);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
  };
  auto const* const tree = object->if_contains("tree");
  level.user = number("user");
  level.landlock = number("landlock");
  level.tree = tree != nullptr && tree->is_bool() && tree->get_bool();
  return level;
}

std::string level_in_words(Level const& level) {
  return fmt::format("user {}, system calls filtered, {}", level.user,
                     level.landlock > 0 ? fmt::format("files protected by Landlock {}", level.landlock)
                                        : "files not protected (the kernel has no Landlock)");
}

std::string user_in_words(tools::Sandbox const& sandbox) {
  return sandbox.user.empty() ? "of the server" : sandbox.user;
}

Result<void> check_installed(char const* name) {
  auto const path = program_beside_this(name);
  if (::access(path.c_str(), X_OK) == 0) return {};
  return Error{Errc::invalid, fmt::format("{} is missing; install it in the same folder as runnel", path)};
}

// `request` lets the program print its version.
Result<void> check_version(char const* name, base::SpawnRequest request, std::string const& user) {
  auto const path = program_beside_this(name);
  auto const version =
      output_of(std::move(request), fmt::format("{} cannot be started by the user {}", path, user));
  if (!version) return version.error();
  if (*version == fmt::format("{} {}\n", name, RUNNEL_VERSION)) return {};
  return Error{Errc::invalid,
               fmt::format("{} is another version than this runnel, {}", path, RUNNEL_VERSION)};
}

Result<void> check_own_programs(tools::Sandbox const& sandbox) {
  for (auto const* const name : {kSandboxProgram, kProjectCliProgram}) {
    if (auto const installed = check_installed(name); !installed) return installed.error();
  }
  base::SpawnRequest bare;
  bare.program = sandbox.program;
  bare.arguments = {"--version"};
  auto const launcher = check_version(kSandboxProgram, std::move(bare), "of the server");
  if (!launcher) return launcher.error();
  return check_version(
      kProjectCliProgram,
      tools::confining_itself(sandbox, program_beside_this(kProjectCliProgram), {"--version"}),
      user_in_words(sandbox));
}

// The interpreter that a script names. Empty if the program is no script.
std::string interpreter_of(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::string line;
  std::getline(file, line);
  if (!line.starts_with("#!")) return {};
  auto const begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

bool is_binary(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::array<char, 4> begin{};
  return file.read(begin.data(), begin.size()) && std::string_view{begin.data(), begin.size()} == "\177ELF";
}

// Why the file cannot be executed by anybody. Empty if it can.
std::string wrong_kind(tools::CustomModule const& module) {
  if (is_binary(module.program)) return {};
  auto const interpreter = interpreter_of(module.program);
  if (interpreter.empty()) {
    return fmt::format(
        "{}: {} is neither a binary nor a script whose first line is #! and an interpreter, such "
        "as #!/usr/bin/python3",
        module.file, module.program);
  }
  if (::access(interpreter.c_str(), X_OK) == 0) return {};
  return fmt::format("{}: the first line of {} names the interpreter {}, which does not exist", module.file,
                     module.program, interpreter);
}

// The sandbox of the module must work here; and a script is opened by its interpreter, in the sandbox, so its
// user must be able to read it there.
// Returns what the sandbox has reached.
Result<Level> check_custom_program(tools::CustomModule const& module, tools::Sandbox const& sandbox) {
  auto const level = output_of(tools::probe_of(sandbox, module.program),
                               fmt::format("{}: the sandbox of the module does not work here", module.file));
  if (!level) return level.error();
  if (auto wrong = wrong_kind(module); !wrong.empty()) return Error{Errc::invalid, std::move(wrong)};
  if (is_binary(module.program)) return read_level(*level).value_or(Level{});
  auto const tried = run_now(tools::in_sandbox(sandbox, "/usr/bin/test", {"-r", module.program}));
  if (!tried || tried->code != 0) {
    return Error{Errc::invalid,
                 fmt::format("{}: {} is a script that the user {} cannot read; put it into a folder that "
                             "everybody may enter, such as /opt, and make it readable",
                             module.file, module.program, user_in_words(sandbox))};
  }
  return read_level(*level).value_or(Level{});
}

// The custom modules, for the operator. Fails if one of them cannot be started.
Result<std::string> check_custom_programs(Settings const& settings, tools::CustomModules const& custom) {
  std::string words;
  for (auto const& module : custom.modules()) {
    auto const level = check_custom_program(module, tools::sandbox_for(module, custom_sandbox(settings)));
    if (!level) return level.error();
    words += words.empty() ? fmt::format("; custom modules as user {}: ", level->user) : ", ";
    words += module.name;
    if (module.processes > 0 && !level->tree)
      words += " (its processes outlive a server that is killed: the kernel gives them no PID namespace)";
  }
  return words;
}

// The two kinds of programs must not be able to look at each other.
Result<void> check_users_differ(tools::Sandbox const& own, tools::Sandbox const& custom) {
  auto const number = [](std::string const& user) { return std::strtoul(user.c_str(), nullptr, 10); };
  if (own.user.empty() || number(own.user) != number(custom.user)) return {};
  return Error{Errc::invalid,
               fmt::format("tools.user and tools.modules_user are both {}; programs of custom modules need "
                           "another user than project_cli, so that they cannot see its credentials",
                           number(own.user))};
}

}  // namespace

std::string program_beside_this(char const* name) {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
}

tools::Sandbox tool_sandbox(Settings const& settings) {
  tools::Sandbox sandbox;
  sandbox.program = program_beside_this(kSandboxProgram);
  sandbox.user = settings.tool_user;
  if (sandbox.user.empty() && ::geteuid() == 0) sandbox.user = kNobody;
  sandbox.landlock_required = settings.tool_sandbox == "required";
  sandbox.tree_required = sandbox.landlock_required;
  sandbox.cpu_seconds = static_cast<std::uint64_t>(settings.tool_timeout_s);
  return sandbox;
}

tools::Sandbox custom_sandbox(Settings const& settings) {
  auto sandbox = tool_sandbox(settings);
  sandbox.user = settings.custom_module_user;
  if (sandbox.user.empty() && ::geteuid() == 0) sandbox.user = kCustomUser;
  return sandbox;
}

Result<std::string> check_tool_programs(Settings const& settings, tools::CustomModules const& custom) {
  if (settings.test_tool) return std::string{"the test tool, which has no effect"};
  for (auto const& checked : {check_user("tools.user", settings.tool_user),
                              check_user("tools.modules_user", settings.custom_module_user)}) {
    if (!checked) return checked.error();
  }
  auto const sandbox = tool_sandbox(settings);
  if (auto const programs = check_own_programs(sandbox); !programs) return programs.error();
  auto const program = program_beside_this(kProjectCliProgram);
  auto const told =
      output_of(tools::probe_of_itself(sandbox, program), "the sandbox of tools does not work here");
  if (!told) return told.error();
  auto const level = read_level(*told);
  if (!level) {
    return Error{Errc::invalid,
                 fmt::format("{} does not give up its rights, so it is another version than this "
                             "runnel, {}; install both from one build",
                             program, RUNNEL_VERSION)};
  }
  if (custom.modules().empty()) return level_in_words(*level);
  auto const differ = check_users_differ(sandbox, custom_sandbox(settings));
  if (!differ) return differ.error();
  auto const modules = check_custom_programs(settings, custom);
  if (!modules) return modules.error();
  return level_in_words(*level) + *modules;
}

}  // namespace runnel::app
