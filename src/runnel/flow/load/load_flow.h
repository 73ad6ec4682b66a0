#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/flow.h"
#include "runnel/flow/load/conf_file.h"
#include "runnel/flow/load/load_agents.h"
#include "runnel/flow/load/load_contracts.h"
#include "runnel/flow/load/loader.h"

namespace runnel::flow {

// The parts that flows are made of.
struct FlowParts {
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

// A stage as its file describes it. If a mistake hides what the author meant, a flag says what is unclear,
// and problems that may only be a consequence of the mistake are not reported.
struct LoadedStage {
  Stage stage;  // Without listens, router and answer, which load_catalog adds after the checks.
  YAML::Mark mark;
  LoadedTask const* task = nullptr;          // Null if unknown.
  LoadedAgent const* agent = nullptr;        // Null if unknown.
  LoadedContract const* contract = nullptr;  // Null if it has none or an unknown one.
  bool fields_unclear = false;               // Its contract is unknown or has mistakes.
  bool entry_unclear = false;                // It is unclear how the stage is reached.
  bool labels_unclear = false;               // It is unclear whether it is a router, or what its labels are.
  bool exit_unclear = false;                 // It is unclear whether it answers.
  YAML::Mark start_mark;
  std::vector<LoadedListen> listens;
  std::optional<PlacedName> router;
  std::optional<LoadedAnswer> answer;

  [[nodiscard]] std::string const& name() const { return stage.name; }
  // Whether its result has that field. True if that is unclear.
  [[nodiscard]] bool has_field(std::string_view field) const;
  // The labels that it may end with: those of the router, or a single empty one for other stages. Empty if
  // they are unclear.
  [[nodiscard]] std::vector<std::string> labels() const;
};

struct LoadedFlow {
  ConfFile* file = nullptr;
  std::string name;
  bool name_unclear = true;  // It has no name or an invalid one.
  YAML::Mark name_mark;
  std::string description;
  Limits limits;
  YAML::Mark stages_mark;
  std::vector<LoadedStage> stages;

  [[nodiscard]] LoadedStage const* find(std::string_view stage) const;
  [[nodiscard]] std::string stage_names() const;
};

LoadedFlow load_flow(ConfFile& file, FlowParts const& parts, Known const& known);

}  // namespace runnel::flow
