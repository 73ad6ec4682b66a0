#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/load_flow.h"

namespace runnel::flow {

// Which stage follows which. Making it finds what is wrong with that: no or several starts, stages that are
// never reached, events that nobody or more than one takes, circles.
class FlowGraph {
 public:
  explicit FlowGraph(LoadedFlow const& flow);

  // Whether `earlier` has finished on every way to `stage`; true where mistakes hide the way.
  [[nodiscard]] bool lies_before(LoadedStage const& stage, std::string_view earlier) const;
  // Those of which that is certain.
  [[nodiscard]] std::vector<std::string> stages_before(LoadedStage const& stage) const;

 private:
  using Names = std::set<std::string, std::less<>>;

  struct Taker {
    LoadedStage const* stage = nullptr;
    LoadedListen listen;
  };

  void check_listen(LoadedStage const& stage, LoadedListen const& listen);
  // Tells of circles, and goes on as if they were open.
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
  ByName<std::vector<LoadedListen>> ways_in_;  // By stage; those that lead from one.
  Names unclear_;                              // Stages of which it is unclear how they are reached.
  ByName<std::optional<Names>> before_;        // By stage; none: unclear.
};

}  // namespace runnel::flow
