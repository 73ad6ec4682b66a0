#pragma once

#include <string>
#include <vector>

namespace runnel::flow {

// One agent doing one task.
struct Stage {
  std::string name;
};

// Stages in their order. Data: the runtime runs what stands here and knows no flow by name.
struct Flow {
  std::string name;
  std::vector<Stage> stages;  // At least one; the last one answers.
};

// The flows a run may choose from, by name.
class Catalog {
 public:
  // `chat` (FLOW-8): one stage, prose, no tools.
  static Catalog built_in();

  explicit Catalog(std::vector<Flow> flows);

  [[nodiscard]] Flow const* find(std::string const& name) const;  // Null: none of that name.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string const& default_name() const { return flows_.front().name; }

 private:
  std::vector<Flow> flows_;
};

}  // namespace runnel::flow
