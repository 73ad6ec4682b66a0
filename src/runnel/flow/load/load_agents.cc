#include "runnel/flow/load/load_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace runnel::flow {
namespace {

constexpr base::NumberRange kContextMessages{1, 10'000};
constexpr base::NumberRange kContextTokens{0, 10'000'000};

// Checks the name of each entry of the file and calls `entry(name, value)`.
template <class Entry>
void for_each_entry(ConfFile& file, std::string_view what, Entry entry) {
  if (file.map() == nullptr) return;
  base::for_each_member(*file.map(), file.problems(), [&](YAML::Node const& key, YAML::Node const& value) {
    PlacedName const name{key.Scalar(), key.Mark()};
    check_name(name, what, file.problems());
    entry(name, value);
  });
}

void append(std::vector<PlacedName>& all, std::vector<PlacedName> const& more) {
  all.insert(all.end(), more.begin(), more.end());
}

LoadedAgent load_agent(ConfFile& file, PlacedName const& name, YAML::Node const& node) {
  base::YamlFields const fields{node, {"role", "goal", "backstory"}, file.problems()};
  LoadedAgent loaded;
  loaded.agent.name = name.name;
  if (!node.IsMap()) return loaded;
  for (auto const& [key, field] : {std::pair{"role", &Agent::role}, std::pair{"goal", &Agent::goal},
                                   std::pair{"backstory", &Agent::backstory}}) {
    auto placed = file.text(fields, key, name.mark);
    append(loaded.placeholders, placed.placeholders);
    loaded.agent.*field = std::move(placed.text);
  }
  return loaded;
}

LoadedTask load_task(ConfFile& file, PlacedName const& name, YAML::Node const& node,
                     ByName<LoadedAgent> const& agents) {
  base::YamlFields const fields{node, {"description", "expected_output", "agent"}, file.problems()};
  LoadedTask loaded;
  loaded.task.name = name.name;
  if (!node.IsMap()) return loaded;
  for (auto const& [key, field] :
       {std::pair{"description", &Task::description}, std::pair{"expected_output", &Task::expected_output}}) {
    auto placed = file.text(fields, key, name.mark);
    append(loaded.placeholders, placed.placeholders);
    loaded.task.*field = std::move(placed.text);
  }
  auto const agent = file.word(fields, "agent", name.mark);
  if (!agent) return loaded;
  loaded.task.agent = agent->name;
  if (!agents.empty() && !agents.contains(agent->name)) {
    file.problems().add(
        agent->mark, fmt::format("agents.yaml has no agent '{}'; it has {}", agent->name, names_of(agents)));
  }
  return loaded;
}

SkillCard find_card(PlacedName const& skill, Known const& known, base::YamlProblems& problems) {
  auto const found = known.skills.find(skill.name);
  if (found != known.skills.end()) return {found->first, found->second};
  if (!known.any_skill) {
    problems.add(skill.mark, fmt::format("there is no skill '{}'; the skills are {}", skill.name,
                                         known.skills.empty() ? "none" : names_of(known.skills)));
  }
  return {skill.name, {}};
}

// Values that the entry does not set stay as they are in `settings`.
AgentSettings load_settings_of(ConfFile& file, YAML::Node const& node, Known const& known,
                               AgentSettings settings) {
  base::YamlFields const fields{
      node, {"model", "context_messages", "context_tokens", "enabled_skills", "max_iters"}, file.problems()};
  if (auto const model = file.optional_word(fields, "model")) {
    check_model(*model, known, file.problems());
    settings.model = model->name;
  }
  auto messages = static_cast<std::int64_t>(settings.context_messages);
  file.number(fields, "context_messages", kContextMessages, messages);
  settings.context_messages = static_cast<std::size_t>(messages);
  file.number(fields, "context_tokens", kContextTokens, settings.context_tokens);
  file.number(fields, "max_iters", kIterations, settings.max_iters);
  for (auto const& skill : file.words(fields, "enabled_skills"))
    settings.enabled_skills.push_back(find_card(skill, known, file.problems()));
  return settings;
}

// RUN-9: the router's entry says how much of a thread an agent sees, unless the agent's own entry says it.
AgentSettings defaults_of_agents(ConfFile& file, Known const& known) {
  AgentSettings defaults;
  auto const router = file.map() != nullptr ? (*file.map())["router"] : YAML::Node{};
  if (!router.IsDefined() || !router.IsMap()) return defaults;
  auto const settings = load_settings_of(file, router, known, defaults);
  defaults.context_messages = settings.context_messages;
  defaults.context_tokens = settings.context_tokens;
  return defaults;
}

// A text of prompts.yaml, and the placeholders that it must have and may have.
struct PromptPart {
  std::string_view key;
  Template PromptTexts::*field;
  std::vector<std::string_view> needed;
  std::vector<std::string_view> possible;
};

std::vector<PromptPart> const& prompt_parts() {
  static std::vector<PromptPart> const parts{
      {"agent", &PromptTexts::agent, {}, {"role", "goal", "backstory"}},
      {"task", &PromptTexts::task, {"description"}, {"expected_output"}},
      {"contract", &PromptTexts::contract, {"schema", "rules"}, {}},
      {"repair", &PromptTexts::repair, {"errors"}, {}},
      {"again", &PromptTexts::again, {"errors"}, {}},
      {"closing", &PromptTexts::closing, {}, {}},
      {"memories", &PromptTexts::memories, {"memories"}, {}},
      {"skills", &PromptTexts::skills, {"skills"}, {}},
  };
  return parts;
}

bool contains(std::vector<std::string_view> const& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string in_braces(PromptPart const& part) {
  std::string names;
  for (auto const* list : {&part.needed, &part.possible}) {
    for (auto const name : *list)
      names += fmt::format(" {{{}}}", name);
  }
  return names.empty() ? " none" : names;
}

void check_prompt_placeholders(ConfFile& file, PromptPart const& part, PlacedText const& text,
                               YAML::Mark const& mark) {
  for (auto const& placeholder : text.placeholders) {
    if (contains(part.needed, placeholder.name) || contains(part.possible, placeholder.name)) continue;
    file.problems().add(placeholder.mark, fmt::format("unknown placeholder {{{}}}; '{}' may have{}",
                                                      placeholder.name, part.key, in_braces(part)));
  }
  for (auto const needed : part.needed) {
    bool const there = std::any_of(text.placeholders.begin(), text.placeholders.end(),
                                   [&](PlacedName const& placeholder) { return placeholder.name == needed; });
    if (!there) {
      file.problems().add(mark, fmt::format("'{}' must have the placeholder {{{}}}", part.key, needed));
    }
  }
}

}  // namespace

ByName<LoadedAgent> load_agents(ConfFile& file) {
  ByName<LoadedAgent> agents;
  for_each_entry(file, "an agent", [&](PlacedName const& name, YAML::Node const& node) {
    agents.emplace(name.name, load_agent(file, name, node));
  });
  return agents;
}

ByName<LoadedTask> load_tasks(ConfFile& file, ByName<LoadedAgent> const& agents) {
  ByName<LoadedTask> tasks;
  for_each_entry(file, "a task", [&](PlacedName const& name, YAML::Node const& node) {
    tasks.emplace(name.name, load_task(file, name, node, agents));
  });
  return tasks;
}

ByName<AgentSettings> load_agent_settings(ConfFile& file, ByName<LoadedAgent> const& agents,
                                          Known const& known) {
  auto const defaults = defaults_of_agents(file, known);
  ByName<AgentSettings> settings;
  for_each_entry(file, "an agent", [&](PlacedName const& name, YAML::Node const& node) {
    settings.emplace(name.name, load_settings_of(file, node, known, defaults));
    if (agents.empty() || agents.contains(name.name)) return;
    file.problems().add_once(
        name.mark, fmt::format("agents.yaml has no agent '{}'; it has {}", name.name, names_of(agents)));
  });
  for (auto const& [name, agent] : agents)
    settings.emplace(name, defaults);
  return settings;
}

PromptTexts load_prompt_texts(ConfFile& file) {
  PromptTexts texts;
  if (file.map() == nullptr) return texts;
  base::YamlFields const fields{
      *file.map(),
      {"agent", "task", "contract", "repair", "again", "closing", "memories", "skills"},
      file.problems()};
  for (auto const& part : prompt_parts()) {
    if (part.field == &PromptTexts::again && fields.find(part.key) == nullptr) continue;
    auto placed = file.text(fields, part.key, file.map()->Mark());
    if (placed.text.text().empty()) continue;
    check_prompt_placeholders(file, part, placed, fields.find(part.key)->Mark());
    texts.*part.field = std::move(placed.text);
  }
  // This text is optional: a folder may have none.
  if (texts.again.text().empty()) texts.again = texts.repair;
  return texts;
}

void check_model(PlacedName const& model, Known const& known, base::YamlProblems& problems) {
  if (known.model(model.name)) return;
  problems.add(model.mark, fmt::format("no provider has a model '{}'; known: {}", model.name,
                                       fmt::join(known.models, ", ")));
}

}  // namespace runnel::flow
