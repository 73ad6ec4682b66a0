#include "runnel/flow/output/contract.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <utility>

#include "runnel/core/json/pointer.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"
#include "runnel/flow/clipped.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

// Problems for the model, and values in them, are cut to these lengths in bytes.
constexpr std::size_t kLongestProblem = 500;
constexpr std::size_t kLongestValue = 60;

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

json::object const* if_object(json::object const& parent, std::string_view key) {
  auto const* value = parent.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

json::array const* if_array(json::object const& parent, std::string_view key) {
  auto const* value = parent.if_contains(key);
  return value != nullptr ? value->if_array() : nullptr;
}

// The schema of a field; null if there is no such field.
json::object const* field_schema(json::object const& schema, std::string_view field) {
  auto const* properties = if_object(schema, "properties");
  return properties != nullptr ? if_object(*properties, field) : nullptr;
}

bool equals_text(json::value const& value, std::string_view text) {
  return value.is_string() && std::string_view{value.get_string()} == text;
}

bool holds_text(json::array const& list, std::string_view text) {
  return std::any_of(list.begin(), list.end(), [&](auto const& value) { return equals_text(value, text); });
}

bool may_be_text(json::object const& schema) {
  auto const* type = schema.if_contains("type");
  if (type == nullptr) return true;
  return type->is_array() ? holds_text(type->get_array(), "string") : equals_text(*type, "string");
}

// OpenAPI's way to allow null along with a type.
bool is_nullable(json::object const& schema) {
  auto const* nullable = schema.if_contains("nullable");
  return nullable != nullptr && nullable->is_bool() && nullable->get_bool();
}

std::string pointer_to(std::string_view field) {
  return "/" + to_pointer_token(field);
}

bool is_filled(json::value const* value) {
  return value != nullptr && value->is_string() && !is_blank(std::string_view{value->get_string()});
}

bool applies(Contract::Rule const& rule, json::object const& output) {
  auto const* value = output.if_contains(rule.when);
  return value != nullptr && equals_text(*value, rule.is);
}

std::string condition_text(Contract::Rule const& rule) {
  return "where " + in_quotes(rule.when) + " is " + in_quotes(rule.is);
}

std::string rule_text(Contract::Rule const& rule) {
  return condition_text(rule) + ", " + in_quotes(rule.field) + " must be a text that is not empty";
}

// What is wrong with a rule, for the contract's author; empty if it is valid.
std::string problem_of(Contract::Rule const& rule, json::object const& schema) {
  auto const* when = field_schema(schema, rule.when);
  auto const* field = field_schema(schema, rule.field);
  if (when == nullptr) return "the rule's field " + in_quotes(rule.when) + " is not in the schema";
  if (field == nullptr) return "the rule's field " + in_quotes(rule.field) + " is not in the schema";
  if (!may_be_text(*field)) return "the rule's field " + in_quotes(rule.field) + " can never be a text";
  auto const* values = if_array(*when, "enum");
  if (values != nullptr && !holds_text(*values, rule.is))
    return "the rule's field " + in_quotes(rule.when) + " can never be " + in_quotes(rule.is);
  return "";
}

// Includes the value that the model wrote, unless it is an array or an object.
std::string words_for_model(base::Violation const& violation, json::value const& document) {
  auto words = base::to_string(violation);
  json::error_code missing;
  auto const* value = violation.path.empty() ? nullptr : document.find_pointer(violation.path, missing);
  if (value != nullptr && !value->is_structured())
    words += "; it is " + clipped(json::serialize(*value), kLongestValue);
  return clipped(words, kLongestProblem);
}

}  // namespace

Result<Contract> Contract::make(std::string name, json::object schema, std::vector<Rule> rules) {
  auto const* type = schema.if_contains("type");
  if (type == nullptr || !equals_text(*type, "object")) {
    return Error{Errc::invalid, "the schema must describe an object: \"type\" must be \"object\""};
  }
  auto compiled = base::JsonSchema::load(json::value(schema), {});
  if (!compiled) return compiled.error();
  Contract contract;
  for (auto const& rule : rules) {
    auto problem = problem_of(rule, schema);
    if (!problem.empty()) return Error{Errc::invalid, std::move(problem)};
    contract.rule_texts_.push_back(rule_text(rule));
  }
  contract.name_ = std::move(name);
  contract.schema_text_ = json::serialize(schema);
  contract.schema_ = std::move(schema);
  contract.compiled_ = std::move(*compiled);
  contract.rules_ = std::move(rules);
  return contract;
}

bool Contract::has_field(std::string_view field) const {
  return field_schema(schema_, field) != nullptr;
}

bool Contract::requires_field(std::string_view field) const {
  auto const* required = if_array(schema_, "required");
  return required != nullptr && holds_text(*required, field);
}

bool Contract::is_text(std::string_view field, Null null) const {
  auto const* schema = field_schema(schema_, field);
  auto const* type = schema != nullptr ? schema->if_contains("type") : nullptr;
  if (type == nullptr || !may_be_text(*schema)) return false;
  auto const fits = [null](json::value const& name) {
    return equals_text(name, "string") || (null == Null::allowed && equals_text(name, "null"));
  };
  auto const* types = type->if_array();
  bool const only_those = types == nullptr || std::all_of(types->begin(), types->end(), fits);
  return only_those && (null == Null::allowed || !is_nullable(*schema));
}

std::vector<std::string> Contract::choices(std::string_view field) const {
  auto const* schema = field_schema(schema_, field);
  auto const* values = schema != nullptr ? if_array(*schema, "enum") : nullptr;
  std::vector<std::string> out;
  if (values == nullptr) return out;
  for (auto const& value : *values) {
    if (!value.is_string() || value.get_string().empty()) return {};
    out.emplace_back(value.get_string());
  }
  return out;
}

std::vector<base::Violation> Contract::violations(json::value const& output) const {
  auto found = compiled_->check(output);
  for (auto const& rule : rules_) {
    auto path = pointer_to(rule.field);
    bool const told = std::any_of(found.begin(), found.end(),
                                  [&](auto const& violation) { return violation.path == path; });
    if (told || found.size() >= base::kMostViolations) continue;
    auto const& fields = output.get_object();
    if (applies(rule, fields) && !is_filled(fields.if_contains(rule.field)))
      found.push_back({std::move(path), "must be a text that is not empty, " + condition_text(rule)});
  }
  return found;
}

std::vector<std::string> Contract::check(json::object const& output) const {
  json::value const document = output;
  std::vector<std::string> problems;
  for (auto const& violation : violations(document))
    problems.push_back(words_for_model(violation, document));
  return problems;
}

}  // namespace runnel::flow
