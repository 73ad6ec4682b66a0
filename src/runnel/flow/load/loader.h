#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/flow/flow.h"

namespace runnel::flow {

// The files of a configuration folder, by their names in it: "agents.yaml", "flows/chat.yaml".
struct Files {
  std::string folder;  // For messages; empty for the built-in files.
  std::map<std::string, std::string, std::less<>> texts;
  std::vector<std::string> unreadable;  // Files that exist but cannot be read.
};

// Reads agents.yaml, tasks.yaml, system_agents.yaml, contracts.yaml, prompts.yaml, flows/*.yaml and
// flows/*.yml of a folder, if they exist. Fails with `invalid` if the folder itself cannot be read.
Result<Files> read_files(std::string const& folder);

// The names that the files may use but do not define.
struct Known {
  std::function<bool(std::string const& model)> model;
  std::vector<std::string> models;  // For messages.
  std::vector<std::string> tools;
  std::vector<std::string> methods;  // Of the tools, as module.method.
  // Those of the methods that only some flows may call, and the names of these flows.
  std::map<std::string, std::vector<std::string>, std::less<>> limited_methods;
  std::map<std::string, std::string, std::less<>> skills;  // The description of each, by name.
  bool any_skill = false;  // Whether it is not known which skills there are. Then any name is accepted.
  std::string default_flow;
};

struct Loaded {
  std::optional<Catalog> catalog;     // Set if there are no problems.
  std::vector<std::string> problems;  // All mistakes, one line each, with file, line and column if known.
};

// Checks the files as a whole, so that every mistake in a flow is found before it runs. A mistake is reported
// once, where it is made; its consequences are not reported.
Loaded load_catalog(Files const& files, Known const& known);

}  // namespace runnel::flow
