#include "runnel/base/schema/json_schema.h"

#include <boost/json/value.hpp>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_visitor.hpp>

#include <exception>
#include <string>
#include <utility>

#include "runnel/base/schema/schema_document.h"
#include "runnel/base/schema/schema_explain.h"
#include "runnel/base/schema/schema_pattern.h"

namespace runnel::base {

namespace json = boost::json;
using Adapter = valijson::adapters::BoostJsonAdapter;

// valijson decides quickly whether a document is valid. If it is not, `document` is used to explain why:
// valijson's own messages do not say which type or which values are allowed, and have one line per level.
struct JsonSchema::Compiled {
  json::object document;
  valijson::Schema schema;
  // Every pattern of the schema. valijson takes it as a cache that it may fill, with expressions that can be
  // made to run for ever; but it finds all of them here, so it only reads, on any number of threads.
  mutable Patterns patterns;
};

namespace {

void collect_patterns(json::value const& schema, Patterns& into) {
  if (auto const* const list = schema.if_array()) {
    for (auto const& item : *list)
      collect_patterns(item, into);
  }
  auto const* const object = schema.if_object();
  if (object == nullptr) return;
  for (auto const& [key, value] : *object) {
    if (key == "pattern" && value.is_string()) {
      std::string const pattern{value.get_string()};
      if (auto compiled = compile_pattern(pattern)) into.emplace(pattern, std::move(*compiled));
    }
    collect_patterns(value, into);
  }
}

}  // namespace

JsonSchema::JsonSchema(std::shared_ptr<Compiled const> compiled) : compiled_{std::move(compiled)} {}

Result<JsonSchema> JsonSchema::load(json::value const& schema, json::object const& definitions) {
  auto document = make_schema_document(schema, definitions);
  if (!document) return document.error();
  auto compiled = std::make_shared<Compiled>();
  compiled->document = std::move(*document);
  json::value const root = compiled->document;
  try {
    valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(Adapter{root}, compiled->schema);
  } catch (std::exception const& error) {
    return Error{Errc::invalid, error.what()};
  }
  collect_patterns(root, compiled->patterns);
  return JsonSchema{std::move(compiled)};
}

std::vector<Violation> JsonSchema::check(json::value const& document) const {
  constexpr bool kStrictTypes = true;
  valijson::ValidationVisitor<Adapter> visitor{
      Adapter{document}, {"<root>"}, kStrictTypes, nullptr, compiled_->patterns};
  if (visitor.validateSchema(compiled_->schema)) return {};
  auto violations = explain(compiled_->document, document, compiled_->patterns);
  if (violations.empty()) violations.push_back({"", "does not have the required form"});
  return violations;
}

std::string to_string(Violation const& violation) {
  return violation.path.empty() ? violation.what : violation.path + ": " + violation.what;
}

}  // namespace runnel::base
