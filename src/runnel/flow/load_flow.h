#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/conf_file.h"
#include "runnel/flow/flow.h"
#include "runnel/flow/load_agents.h"
#include "runnel/flow/load_contracts.h"
#include "runnel/flow/loader.h"

namespace runnel::flow {

// The parts that flows are put together from.
struct Parts {
  ByName<LoadedAgent> agents;
  ByName<LoadedTask> tasks;
  ByName<AgentSettings> settings;
  ByName<LoadedContract> contracts;
};

struct LoadedListen {
  Listen listen;
  YAML::Mark mark;
};

struct LoadedPath {
  FieldPath path;
  YAML::Mark mark;
};

struct LoadedAnswer {
  YAML::Mark mark;
  std::optional<PlacedName> text;
  std::optional<PlacedName> on;
  std::optional<LoadedPath> status;
  std::optional<LoadedPath> error;
  std::optional<LoadedPath> suggested_actions;
  std::optional<LoadedPath> key_points;
  std::optional<LoadedPath> result_type;
};

// A stage as its file has it. Where a mistake hides what was meant, what is unclear says so, and nothing
// is called wrong that may only follow from it.
struct LoadedStage {
  Stage stage;  // All but listens, router and answer, which the checks put in.
  YAML::Mark mark;
  LoadedTask const* task = nullptr;          // Null: unknown.
  LoadedAgent const* agent = nullptr;        // Null: unknown.
  LoadedContract const* contract = nullptr;  // Null: none, or unknown.
  bool fields_unclear = false;               // Its contract is unknown or has mistakes.
  bool entry_unclear = false;                // How it is reached.
  bool labels_unclear = false;               // Whether it is a router, and with which labels.
  bool exit_unclear = false;                 // Whether it answers.
  YAML::Mark start_mark;
  std::vector<LoadedListen> listens;
  std::optional<PlacedName> router;
  std::optional<LoadedAnswer> answer;

  [[nodiscard]] std::string const& name() const { return stage.name; }
  // Whether its result has that field; true where that is unclear.
  [[nodiscard]] bool has_field(std::string_view field) const;
  // What it may end with: its router's labels, or a single empty one; none: that is unclear.
  [[nodiscard]] std::vector<std::string> labels() const;
};

struct LoadedFlow {
  ConfFile* file = nullptr;
  std::string name;
  bool name_unclear = true;  // It has none, or one that cannot be.
  YAML::Mark name_mark;
  std::string description;
  Limits limits;
  YAML::Mark stages_mark;
  std::vector<LoadedStage> stages;

  [[nodiscard]] LoadedStage const* find(std::string_view stage) const;
  [[nodiscard]] std::string stage_names() const;
};

LoadedFlow load_flow(ConfFile& file, Parts const& parts, Known const& known);

}  // namespace runnel::flow
