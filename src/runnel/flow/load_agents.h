#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runnel/flow/conf_file.h"
#include "runnel/flow/flow.h"
#include "runnel/flow/loader.h"

namespace runnel::flow {

template <class Value>
using ByName = std::map<std::string, Value, std::less<>>;

// The names, for a message; without any: "none".
template <class Value>
std::string names_of(ByName<Value> const& values) {
  std::string names;
  for (auto const& [name, value] : values)
    names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

// Of a problem that concerns its text in one stage only, the file is told.
struct LoadedAgent {
  Agent agent;
  std::vector<PlacedName> placeholders;
};

struct LoadedTask {
  Task task;
  std::vector<PlacedName> placeholders;
};

// What each takes out of its file. A part with a mistake is there under its name all the same, so that
// nothing else is called wrong for it.
ByName<LoadedAgent> load_agents(ConfFile& file);
ByName<LoadedTask> load_tasks(ConfFile& file, ByName<LoadedAgent> const& agents);
// Of each agent, be it named in the file or not.
ByName<AgentSettings> load_agent_settings(ConfFile& file, ByName<LoadedAgent> const& agents,
                                          Known const& known);
PromptTexts load_prompt_texts(ConfFile& file);

// A problem where `model` is one that nobody serves.
void check_model(PlacedName const& model, Known const& known, base::YamlProblems& problems);

// How often an agent with tools may call its model.
inline constexpr Range kIterations{1, 100};

}  // namespace runnel::flow
