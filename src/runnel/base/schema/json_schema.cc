#include "runnel/base/schema/json_schema.h"

#include <boost/json/value.hpp>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <exception>
#include <utility>

#include "runnel/base/schema/schema_document.h"
#include "runnel/base/schema/schema_explain.h"

namespace runnel::base {

namespace json = boost::json;
using Adapter = valijson::adapters::BoostJsonAdapter;

// valijson decides quickly whether a document is valid. If it is not, `document` is used to explain why:
// valijson's own messages do not say which type or which values are allowed, and have one line per level.
struct JsonSchema::Compiled {
  json::object document;
  valijson::Schema schema;
};

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
  return JsonSchema{std::move(compiled)};
}

std::vector<Violation> JsonSchema::check(json::value const& document) const {
  thread_local valijson::Validator validator;  // Kept per thread because it caches compiled patterns.
  if (validator.validate(compiled_->schema, Adapter{document}, nullptr)) return {};
  auto violations = explain(compiled_->document, document);
  if (violations.empty()) violations.push_back({"", "does not have the required form"});
  return violations;
}

std::string to_string(Violation const& violation) {
  return violation.path.empty() ? violation.what : violation.path + ": " + violation.what;
}

}  // namespace runnel::base
