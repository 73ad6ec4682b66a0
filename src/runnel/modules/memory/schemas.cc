#include "runnel/modules/memory/schemas.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <string>

#include "kOpenApi.inc"
#include "kReadInput.inc"
#include "kUpdateInput.inc"
#include "runnel/modules/openapi_schema.h"

namespace runnel::modules::memory {

namespace json = boost::json;

namespace {

// What update_input.json says about the content of this kind.
json::value described_content(Kind kind) {
  auto const input = json::parse(kUpdateInput);
  for (auto const& form : input.at("oneOf").as_array()) {
    auto const& properties = form.at("properties");
    if (properties.at("kind").at("enum").at(0).as_string() == to_string(kind))
      return properties.at("content");
  }
  return {};
}

std::string assemble_part() {
  auto part = json::parse(kOpenApi);
  auto& schemas = part.at("components").at("schemas").as_object();
  schemas["UserMemoryContent"] = to_openapi(described_content(Kind::user));
  schemas["WorkProfileContent"] = to_openapi(described_content(Kind::work_profile));
  return json::serialize(part);
}

}  // namespace

std::string_view read_input() {
  return kReadInput;
}

std::string_view update_input() {
  return kUpdateInput;
}

base::JsonSchema const& content_schema(Kind kind) {
  static auto const kUser = base::JsonSchema::load(described_content(Kind::user), {}).value();
  static auto const kWork = base::JsonSchema::load(described_content(Kind::work_profile), {}).value();
  return kind == Kind::user ? kUser : kWork;
}

std::string_view openapi_part() {
  static std::string const kPart = assemble_part();
  return kPart;
}

}  // namespace runnel::modules::memory
