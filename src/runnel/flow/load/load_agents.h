#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runnel/flow/flow.h"
#include "runnel/flow/load/conf_file.h"
#include "runnel/flow/load/loader.h"

namespace runnel::flow {

template <class Value>
using ByName = std::map<std::string, Value, std::less<>>;

// The names, for a message; "none" if there are none.
template <class Value>
std::string names_of(ByName<Value> const& values) {
  std::string names;
  for (auto const& [name, value] : values)
    names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

// The places of the placeholders are kept because some problems depend on the stage that uses the text; they
// are reported in this file.
struct LoadedAgent {
  Agent agent;
  std::vector<PlacedName> placeholders;
};

struct LoadedTask {
  Task task;
  std::vector<PlacedName> placeholders;
};

// Each of these reads one file. A part with a mistake is in the result too, so that the places that name it
// are not reported as wrong.
ByName<LoadedAgent> load_agents(ConfFile& file);
ByName<LoadedTask> load_tasks(ConfFile& file, ByName<LoadedAgent> const& agents);
// The settings of every agent, whether the file names it or not.
ByName<AgentSettings> load_agent_settings(ConfFile& file, ByName<LoadedAgent> const& agents,
                                          Known const& known);
PromptTexts load_prompt_texts(ConfFile& file);

// Adds a problem if no provider has the model.
void check_model(PlacedName const& model, Known const& known, base::YamlProblems& problems);

// How often an agent with tools may call its model.
inline constexpr base::NumberRange kIterations{1, 100};

}  // namespace runnel::flow
