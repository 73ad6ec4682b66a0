#include "runnel/api/openapi_document.h"

#include <boost/json.hpp>

#include <stdexcept>

#include "kOpenApiCommon.inc"

namespace runnel::api {

namespace json = boost::json;

namespace {

void add_new(json::object& into, std::string_view name, json::value const& value) {
  if (!into.emplace(name, value).second) {
    throw std::logic_error("two parts of the OpenAPI document define " + std::string{name});
  }
}

void add_all(json::value& into, json::value const& from) {
  for (auto const& [name, value] : from.as_object()) {
    add_new(into.as_object(), name, value);
  }
}

void add_components(json::object& into, json::value const& from) {
  for (auto const& [kind, components] : from.as_object()) {
    auto const added = into.emplace(kind, json::object{});
    add_all(added.first->value(), components);
  }
}

void add_part(json::object& document, json::value const& part) {
  for (auto const& [name, value] : part.as_object()) {
    if (name == "tags") {
      for (auto const& tag : value.as_array())
        document["tags"].as_array().push_back(tag);
    } else if (name == "paths") {
      add_all(document["paths"], value);
    } else if (name == "components") {
      add_components(document["components"].as_object(), value);
    } else {
      throw std::logic_error("a part of the OpenAPI document has the unknown key '" + std::string{name} +
                             "'; a part may have tags, paths and components");
    }
  }
}

}  // namespace

std::string assemble_openapi(std::vector<std::string_view> const& parts) {
  auto document = json::parse(kOpenApiCommon).as_object();
  document["tags"] = json::array{};
  document["paths"] = json::object{};
  for (auto const part : parts) {
    add_part(document, json::parse(part));
  }
  return json::serialize(document);
}

}  // namespace runnel::api
