#include "runnel/flow/flow.h"

#include <algorithm>
#include <utility>

namespace runnel::flow {
namespace {

template <class Items>
auto const* find_named(Items const& items, std::string_view name) {
  auto const it =
      std::find_if(items.begin(), items.end(), [&](auto const& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

bool follows(Stage const& stage, std::string_view finished, std::string_view label) {
  return std::any_of(stage.listens.begin(), stage.listens.end(), [&](Listen const& listen) {
    return listen.stage == finished && (listen.label.empty() || listen.label == label);
  });
}

}  // namespace

bool Flow::takes_client_tools() const {
  return std::any_of(stages.begin(), stages.end(), [](Stage const& stage) { return stage.client_tools; });
}

Stage const* Flow::find(std::string_view stage) const {
  return find_named(stages, stage);
}

Stage const* Flow::next(std::string_view stage, std::string_view label) const {
  auto const it = std::find_if(stages.begin(), stages.end(),
                               [&](Stage const& candidate) { return follows(candidate, stage, label); });
  return it == stages.end() ? nullptr : &*it;
}

Catalog::Catalog(std::vector<Flow> flows, PromptTexts texts, std::string default_name)
    : flows_{std::move(flows)}, texts_{std::move(texts)}, default_name_{std::move(default_name)} {}

Flow const* Catalog::find(std::string_view name) const {
  return find_named(flows_, name);
}

std::vector<std::string> Catalog::names() const {
  std::vector<std::string> names;
  for (auto const& flow : flows_)
    names.push_back(flow.name);
  return names;
}

}  // namespace runnel::flow
