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
  std::string folder;  // For messages; empty: the built-in ones.
  std::map<std::string, std::string, std::less<>> texts;
  std::vector<std::string> unreadable;  // Files that are there, but cannot be read.
};

// Reads agents.yaml, tasks.yaml, system_agents.yaml, contracts.yaml, prompts.yaml and flows/*.yaml of a
// folder, those that are there. Fails with `invalid` where the folder itself cannot be read.
Result<Files> read_files(std::string const& folder);

// What the files may name that is not in them.
struct Known {
  std::function<bool(std::string const& model)> model;
  std::vector<std::string> models;  // For messages.
  std::vector<std::string> tools;
  std::vector<std::string> skills;
  std::string default_flow;
};

struct Loaded {
  std::optional<Catalog> catalog;     // Where there are no problems.
  std::vector<std::string> problems;  // Everything that is wrong, one line each with file, line and column.
};

// Checks the files as a whole, so that whatever is wrong with a flow is found before it runs. A mistake is
// told once, where it is made, and what only follows from it is not.
Loaded load_catalog(Files const& files, Known const& known);

}  // namespace runnel::flow
