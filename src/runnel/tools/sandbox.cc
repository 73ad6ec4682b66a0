#include "runnel/tools/sandbox.h"

#include <unistd.h>

namespace runnel::tools {

namespace {

std::vector<std::string> options_of(Sandbox const& sandbox) {
  std::vector<std::string> options{"--parent=" + std::to_string(::getpid()),
                                   "--memory=" + std::to_string(sandbox.memory_bytes),
                                   "--cpu=" + std::to_string(sandbox.cpu_seconds)};
  if (!sandbox.user.empty()) options.push_back("--user=" + sandbox.user);
  if (sandbox.landlock_required) options.emplace_back("--require-landlock");
  if (sandbox.processes > 0) options.push_back("--processes=" + std::to_string(sandbox.processes));
  if (sandbox.processes > 0 && sandbox.tree_required) options.emplace_back("--require-tree");
  if (sandbox.network) options.emplace_back("--network");
  for (auto const& path : sandbox.readable)
    options.push_back("--read=" + path);
  return options;
}

base::SpawnRequest start_of(Sandbox const& sandbox) {
  base::SpawnRequest request;
  request.program = sandbox.program;
  request.arguments = options_of(sandbox);
  return request;
}

}  // namespace

base::SpawnRequest in_sandbox(Sandbox const& sandbox, std::string const& program,
                              std::vector<std::string> const& arguments) {
  auto request = start_of(sandbox);
  request.arguments.emplace_back("--");
  request.arguments.push_back(program);
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  return request;
}

base::SpawnRequest confining_itself(Sandbox const& sandbox, std::string const& program,
                                    std::vector<std::string> const& arguments) {
  std::string options;
  for (auto const& option : options_of(sandbox))
    options.append(options.empty() ? "" : " ").append(option);
  base::SpawnRequest request;
  request.program = program;
  request.arguments = arguments;
  request.environment.push_back("RUNNEL_SANDBOX=" + options);
  return request;
}

base::SpawnRequest probe_of_itself(Sandbox const& sandbox, std::string const& program) {
  auto request = confining_itself(sandbox, program, {});
  request.environment.back() += " --probe";
  return request;
}

base::SpawnRequest probe_of(Sandbox const& sandbox, std::string const& program) {
  auto request = start_of(sandbox);
  request.arguments.emplace_back("--probe");
  request.arguments.emplace_back("--");
  request.arguments.push_back(program);
  return request;
}

}  // namespace runnel::tools
