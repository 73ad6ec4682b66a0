#include "runnel/modules/openapi_schema.h"

#include <boost/json/value.hpp>

namespace runnel::modules {

namespace json = boost::json;

json::value to_openapi(json::value const& schema) {
  if (auto const* const list = schema.if_array()) {
    json::array out;
    for (auto const& item : *list)
      out.push_back(to_openapi(item));
    return out;
  }
  auto const* const object = schema.if_object();
  if (object == nullptr) return schema;
  json::object out;
  for (auto const& [key, value] : *object) {
    if (key == "examples") {
      out["example"] = value.at(0);
    } else {
      out[key] = to_openapi(value);
    }
  }
  return out;
}

}  // namespace runnel::modules
