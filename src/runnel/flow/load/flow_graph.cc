#include "runnel/flow/load/flow_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace runnel::flow {
namespace {

std::string event_name(std::string const& stage, std::string const& label) {
  return label.empty() ? stage : stage + "." + label;
}

bool is_exit_unclear(LoadedStage const& stage) {
  if (stage.exit_unclear || !stage.answer || !stage.answer->on) return stage.exit_unclear;
  auto const labels = stage.labels();
  return std::find(labels.begin(), labels.end(), stage.answer->on->name) == labels.end();
}

bool answers_on(LoadedStage const& stage, std::string const& label) {
  return stage.answer && (!stage.answer->on || stage.answer->on->name == label);
}

}  // namespace

FlowGraph::FlowGraph(LoadedFlow const& flow) : flow_{flow} {
  for (auto const& stage : flow_.stages) {
    ways_in_[stage.name()];
    if (stage.entry_unclear) unclear_.insert(stage.name());
    if (stage.stage.start) continue;
    for (auto const& listen : stage.listens)
      check_listen(stage, listen);
  }
  cut_circles();
  check_starts();
  for (auto const& stage : flow_.stages)
    check_ends(stage);
  for (auto const& stage : flow_.stages)
    find_before(stage);
}

void FlowGraph::tell(Taker const& taker, std::string_view what) {
  problems().add_once(taker.listen.mark, what);
  unclear_.insert(taker.stage->name());
}

void FlowGraph::check_listen(LoadedStage const& stage, LoadedListen const& listen) {
  auto const& [wanted, label] = listen.listen;
  auto const* earlier = flow_.find(wanted);
  if (earlier == nullptr) {
    tell({&stage, listen},
         fmt::format("there is no stage '{}' to listen to; the stages are {}", wanted, flow_.stage_names()));
    return;
  }
  ways_in_[stage.name()].push_back(listen);
  auto const labels = earlier->labels();
  if (label.empty() || labels.empty() || std::find(labels.begin(), labels.end(), label) != labels.end())
    return;
  tell({&stage, listen},
       earlier->router
           ? fmt::format("stage '{}' has no label '{}'; it has {}", wanted, label, fmt::join(labels, ", "))
           : fmt::format("stage '{0}' is not a router, so it has no '{1}': listen to '{0}'", wanted, label));
}

std::vector<FlowGraph::Taker> FlowGraph::takers_of(std::string const& stage) const {
  std::vector<Taker> takers;
  for (auto const& candidate : flow_.stages) {
    for (auto const& listen : ways_in_.at(candidate.name())) {
      if (listen.listen.stage == stage) takers.push_back({&candidate, listen});
    }
  }
  return takers;
}

std::vector<FlowGraph::Taker> FlowGraph::takers_of(std::string const& stage, std::string const& label) const {
  auto takers = takers_of(stage);
  std::erase_if(takers, [&](Taker const& taker) {
    auto const& wanted = taker.listen.listen.label;
    return !wanted.empty() && wanted != label;
  });
  return takers;
}

void FlowGraph::cut_circles() {
  Names done;
  for (bool const start : {true, false}) {
    for (auto const& stage : flow_.stages) {
      std::vector<std::string> way;
      if (stage.stage.start == start) cut_circles_after(stage, way, done);
    }
  }
}

void FlowGraph::cut_circles_after(LoadedStage const& stage, std::vector<std::string>& way, Names& done) {
  if (!done.insert(stage.name()).second) return;
  way.push_back(stage.name());
  for (auto const& taker : takers_of(stage.name())) {
    auto const begin = std::find(way.begin(), way.end(), taker.stage->name());
    if (begin == way.end()) {
      cut_circles_after(*taker.stage, way, done);
      continue;
    }
    std::vector<std::string> circle(begin, way.end());
    circle.push_back(taker.stage->name());
    tell(taker, fmt::format("the stages form a cycle: {}", fmt::join(circle, " → ")));
    std::erase_if(ways_in_[taker.stage->name()],
                  [&](LoadedListen const& listen) { return listen.listen.stage == stage.name(); });
  }
  way.pop_back();
}

void FlowGraph::check_starts() {
  LoadedStage const* start = nullptr;
  for (auto const& stage : flow_.stages) {
    if (!stage.stage.start) continue;
    if (start == nullptr) {
      start = &stage;
      continue;
    }
    problems().add(stage.start_mark,
                   fmt::format("'{}' is already the start stage; a flow has exactly one", start->name()));
    unclear_.insert(stage.name());
  }
  if (start == nullptr) {
    if (unclear_.empty() && !flow_.stages.empty())
      problems().add(flow_.stages_mark, "no stage has 'start: true'");
    return;
  }
  for (auto const& stage : flow_.stages) {
    if (stage.stage.start || !stage.listens.empty() || unclear_.contains(stage.name())) continue;
    problems().add(stage.mark, fmt::format("stage '{}' is never reached: say with 'listen' which stage it "
                                           "follows",
                                           stage.name()));
    unclear_.insert(stage.name());
  }
}

void FlowGraph::check_ends(LoadedStage const& stage) {
  for (auto const& label : stage.labels())
    check_label(stage, label);
}

void FlowGraph::check_label(LoadedStage const& stage, std::string const& label) {
  auto const event = event_name(stage.name(), label);
  auto const takers = takers_of(stage.name(), label);
  bool const exit_unclear = is_exit_unclear(stage);
  if (!exit_unclear && answers_on(stage, label)) {
    for (auto const& taker : takers) {
      tell(taker,
           fmt::format("'{}' ends the run with its answer, so nothing can follow it; 'on' in the answer "
                       "limits it to one label",
                       event));
    }
    return;
  }
  for (std::size_t at = 1; at < takers.size(); ++at) {
    tell(takers[at], fmt::format("'{}' already has a listener in line {}; only one stage can follow it",
                                 event, takers.front().listen.mark.line + 1));
  }
  if (!takers.empty() || !unclear_.empty() || exit_unclear) return;
  if (stage.router) {
    problems().add(stage.router->mark,
                   fmt::format("'{}' leads nowhere: no stage listens to it, and no answer "
                               "has its label as 'on'",
                               event));
  } else {
    problems().add(stage.mark, fmt::format("nothing follows stage '{}', so it needs 'answer'", stage.name()));
  }
}

void FlowGraph::find_before(LoadedStage const& stage) {
  if (!before_.contains(stage.name())) before_[stage.name()] = common_before(stage);
}

// If several paths lead to the stage, only the stages that are on all of them.
std::optional<FlowGraph::Names> FlowGraph::common_before(LoadedStage const& stage) {
  if (unclear_.contains(stage.name())) return std::nullopt;
  if (stage.stage.start) return Names{};
  std::optional<Names> common;
  for (auto const& listen : ways_in_.at(stage.name())) {
    find_before(*flow_.find(listen.listen.stage));
    auto names = before_.at(listen.listen.stage);
    if (!names) return std::nullopt;
    names->insert(listen.listen.stage);
    if (common) {
      std::erase_if(*common, [&](std::string const& name) { return !names->contains(name); });
    } else {
      common = std::move(names);
    }
  }
  return common;
}

bool FlowGraph::lies_before(LoadedStage const& stage, std::string_view earlier) const {
  auto const& before = before_.at(stage.name());
  return !before || before->contains(earlier);
}

std::vector<std::string> FlowGraph::stages_before(LoadedStage const& stage) const {
  auto const& before = before_.at(stage.name());
  return before ? std::vector<std::string>(before->begin(), before->end()) : std::vector<std::string>{};
}

}  // namespace runnel::flow
