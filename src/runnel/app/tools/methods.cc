#include "runnel/app/tools/methods.h"

#include <boost/json.hpp>

namespace runnel::app {

namespace json = boost::json;

namespace {

ListedMethod to_listed(modules::Method const& method) {
  auto const schema = json::parse(method.input_schema);
  return {std::string{method.name}, std::string{schema.as_object().at("description").as_string()},
          json::serialize(schema), false};
}

ListedMethod to_listed(tools::CustomCallee const& callee) {
  return {callee.full_name(), callee.method->description, callee.method->input_schema,
          callee.method->needs_approval};
}

}  // namespace

std::vector<ListedMethod> list_methods(std::vector<modules::Method> const& own,
                                       tools::CustomModules const& custom) {
  std::vector<ListedMethod> out;
  out.reserve(own.size() + custom.methods().size());
  for (auto const& method : own)
    out.push_back(to_listed(method));
  for (auto const& callee : custom.methods())
    out.push_back(to_listed(callee));
  return out;
}

}  // namespace runnel::app
