#include "runnel/app/listings.h"

#include <algorithm>
#include <utility>

namespace runnel::app {
namespace {

http::Listings::Flow listed(flow::Flow const& flow, bool is_default) {
  http::Listings::Flow out;
  out.name = flow.name;
  out.description = flow.description;
  out.is_default = is_default;
  for (auto const& stage : flow.stages)
    out.stages.push_back(
        {stage.name, stage.tools, stage.kind == flow::StageKind::memory ? "memory" : "", stage.client_tools});
  return out;
}

// A name that two providers have is served by the first. The default may be one of a pattern's names.
std::vector<http::Listings::Model> listed(model::Registry const& models) {
  auto const& default_name = models.default_name();
  std::vector<http::Listings::Model> out;
  auto const add = [&](std::string const& name) {
    bool const known =
        std::any_of(out.begin(), out.end(), [&](auto const& model) { return model.name == name; });
    if (!known) out.push_back({name, name.find('*') != std::string::npos, name == default_name});
  };
  for (auto const& name : models.names())
    add(name);
  add(default_name);
  return out;
}

http::Listings::Tool listed(ListedMethod const& method) {
  return {method.name, method.description, JsonText::parse(method.input_schema).value()};
}

}  // namespace

http::Listings make_listings(flow::Catalog const& flows, model::Registry const& models,
                             std::vector<ListedMethod> const& methods) {
  http::Listings listings;
  for (auto const& name : flows.names())
    listings.flows.push_back(listed(*flows.find(name), name == flows.default_name()));
  listings.models = listed(models);
  for (auto const& method : methods)
    listings.tools.push_back(listed(method));
  return listings;
}

}  // namespace runnel::app
