#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/load/load_flow.h"

namespace runnel::flow {

// The order of a flow's stages. The constructor reports what is wrong with it: no start or several, stages
// that are never reached, a stage's end that no stage or more than one listens to, and cycles.
class FlowGraph {
 public:
  explicit FlowGraph(LoadedFlow const& flow);

  // Whether `earlier` has finished on every path to `stage`. True if mistakes make the paths unclear.
  [[nodiscard]] bool lies_before(LoadedStage const& stage, std::string_view earlier) const;
  // The stages for which this is certain.
  [[nodiscard]] std::vector<std::string> stages_before(LoadedStage const& stage) const;

 private:
  using Names = std::set<std::string, std::less<>>;

  struct Taker {
    LoadedStage const* stage = nullptr;
    LoadedListen listen;
  };

  void check_listen(LoadedStage const& stage, LoadedListen const& listen);
  // Reports each cycle, and cuts it so that the other checks see none.
  void cut_circles();
  void cut_circles_after(LoadedStage const& stage, std::vector<std::string>& way, Names& done);
  void check_starts();
  void check_ends(LoadedStage const& stage);
  void check_label(LoadedStage const& stage, std::string const& label);
  void tell(Taker const& taker, std::string_view what);
  void find_before(LoadedStage const& stage);
  [[nodiscard]] std::optional<Names> common_before(LoadedStage const& stage);

  [[nodiscard]] std::vector<Taker> takers_of(std::string const& stage) const;
  [[nodiscard]] std::vector<Taker> takers_of(std::string const& stage, std::string const& label) const;
  base::YamlProblems& problems() { return flow_.file->problems(); }

  LoadedFlow const& flow_;
  ByName<std::vector<LoadedListen>> ways_in_;  // By stage: its listens that name an existing stage.
  Names unclear_;                              // Stages for which it is unclear how they are reached.
  ByName<std::optional<Names>> before_;        // By stage; empty if unclear.
};

}  // namespace runnel::flow
