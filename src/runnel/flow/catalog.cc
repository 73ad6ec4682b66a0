#include "runnel/flow/catalog.h"

#include <algorithm>
#include <utility>

namespace runnel::flow {

Catalog Catalog::built_in() {
  return Catalog{{Flow{"chat", {Stage{"chat"}}}}};
}

Catalog::Catalog(std::vector<Flow> flows) : flows_{std::move(flows)} {}

Flow const* Catalog::find(std::string const& name) const {
  auto const it =
      std::find_if(flows_.begin(), flows_.end(), [&](Flow const& flow) { return flow.name == name; });
  return it == flows_.end() ? nullptr : &*it;
}

std::vector<std::string> Catalog::names() const {
  std::vector<std::string> names;
  for (auto const& flow : flows_)
    names.push_back(flow.name);
  return names;
}

}  // namespace runnel::flow
