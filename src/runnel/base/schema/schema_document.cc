#include "runnel/base/schema/schema_document.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/schema/schema_pattern.h"
#include "runnel/core/json/pointer.h"

namespace runnel::base {
namespace {

namespace json = boost::json;

// The kind of value that a keyword takes.
enum class Takes {
  nothing_enforced,  // An annotation.
  anything,
  type_names,
  values,
  names,
  count,
  number,
  truth,
  pattern,
  schema,
  schema_or_truth,
  schemas,
  schemas_by_name,
};

// Whether a subschema describes the same value as its parent, or a value inside it.
enum class SchemaPlace { same, inside };

struct Keyword {
  std::string_view name;
  Takes takes;
  SchemaPlace place = SchemaPlace::inside;
};

constexpr std::array kKeywords{
    Keyword{"title", Takes::nothing_enforced},
    Keyword{"description", Takes::nothing_enforced},
    Keyword{"default", Takes::nothing_enforced},
    Keyword{"example", Takes::nothing_enforced},
    Keyword{"examples", Takes::nothing_enforced},
    Keyword{"deprecated", Takes::nothing_enforced},
    Keyword{"readOnly", Takes::nothing_enforced},
    Keyword{"writeOnly", Takes::nothing_enforced},
    Keyword{"format", Takes::nothing_enforced},
    Keyword{"discriminator",
            Takes::nothing_enforced},  // It only selects a branch of oneOf, and oneOf is enforced.
    Keyword{"$comment", Takes::nothing_enforced},
    Keyword{"nullable", Takes::truth},
    Keyword{"type", Takes::type_names},
    Keyword{"enum", Takes::values},
    Keyword{"const", Takes::anything},
    Keyword{"minimum", Takes::number},
    Keyword{"maximum", Takes::number},
    Keyword{"exclusiveMinimum", Takes::number},
    Keyword{"exclusiveMaximum", Takes::number},
    Keyword{"minLength", Takes::count},
    Keyword{"maxLength", Takes::count},
    Keyword{"pattern", Takes::pattern},
    Keyword{"minItems", Takes::count},
    Keyword{"maxItems", Takes::count},
    Keyword{"uniqueItems", Takes::truth},
    Keyword{"items", Takes::schema},
    Keyword{"minProperties", Takes::count},
    Keyword{"maxProperties", Takes::count},
    Keyword{"required", Takes::names},
    Keyword{"properties", Takes::schemas_by_name},
    Keyword{"additionalProperties", Takes::schema_or_truth},
    Keyword{"allOf", Takes::schemas, SchemaPlace::same},
    Keyword{"anyOf", Takes::schemas, SchemaPlace::same},
    Keyword{"oneOf", Takes::schemas, SchemaPlace::same},
    Keyword{"not", Takes::schema, SchemaPlace::same},
    Keyword{"if", Takes::schema, SchemaPlace::same},
    Keyword{"then", Takes::schema, SchemaPlace::same},
    Keyword{"else", Takes::schema, SchemaPlace::same},
};

bool is_type_name(json::value const& value) {
  static constexpr std::array<std::string_view, 7> kTypes{"string", "integer", "number", "boolean",
                                                          "object", "array",   "null"};
  return value.is_string() && std::find(kTypes.begin(), kTypes.end(), value.get_string()) != kTypes.end();
}

bool all_of(json::value const& list, bool (*fits)(json::value const&)) {
  return list.is_array() && std::all_of(list.get_array().begin(), list.get_array().end(), fits);
}

bool is_text(json::value const& value) {
  return value.is_string();
}

// Whether a keyword without subschemas has a value of the right kind.
bool fits(Takes takes, json::value const& value) {
  switch (takes) {
    case Takes::type_names:
      return is_type_name(value) || (all_of(value, &is_type_name) && !value.get_array().empty());
    case Takes::values:
      return value.is_array() && !value.get_array().empty();
    case Takes::names:
      return all_of(value, &is_text);
    case Takes::count:
      return value.is_int64() && value.get_int64() >= 0;
    case Takes::number:
      return value.is_int64() || value.is_double();
    case Takes::truth:
      return value.is_bool();
    case Takes::pattern:
      return value.is_string();
    default:
      return true;
  }
}

bool is_bounded(json::object const& schema, char const* keyword) {
  auto const* limit = schema.if_contains(keyword);
  return limit != nullptr && limit->is_int64() && limit->get_int64() <= kMostExpensiveItems;
}

void allow_null(json::object& schema) {
  if (auto* type = schema.if_contains("type")) {
    if (type->is_string()) *type = json::array{*type};
    type->get_array().emplace_back("null");
  }
  if (auto* values = schema.if_contains("enum")) values->get_array().emplace_back(nullptr);
}

void put_length_before_pattern(json::object& schema) {
  auto const pattern = schema.at("pattern");
  schema.erase("pattern");
  json::object const guarded{{"if", json::object{{"maxLength", schema.at("maxLength")}}},
                             {"then", json::object{{"pattern", pattern}}}};
  if (!schema.contains("allOf")) schema["allOf"] = json::array{};
  schema["allOf"].get_array().push_back(guarded);
}

class Rewriter {
 public:
  Rewriter(json::object const* own, json::object const& given) : own_{own}, given_{given} {}

  json::value rewrite(json::value const& schema, std::string const& where, SchemaPlace place);
  void rewrite_definitions();
  void refuse_circles();

  json::object definitions;
  std::string problem;  // The first one found. Empty if there is none.

 private:
  void refuse(std::string const& where, std::string const& why) {
    if (problem.empty()) problem = (where.empty() ? "the schema" : where) + ": " + why;
  }
  json::value refer(json::object const& schema, std::string const& where, SchemaPlace place);
  void copy(json::object& out, std::string_view name, json::value const& value, std::string const& where,
            SchemaPlace place);
  void finish(json::object& schema, std::string const& where);
  void visit(std::string const& name, std::set<std::string>& open, std::set<std::string>& done);

  json::object const* own_;
  json::object const& given_;
  std::vector<std::string> wanted_;  // Definitions that are still to be rewritten.
  std::string current_;              // The definition that is being rewritten. Empty for the schema itself.
  std::map<std::string, std::set<std::string>>
      same_place_;  // By definition: its references for the same value.
};

json::value Rewriter::rewrite(json::value const& schema, std::string const& where, SchemaPlace place) {
  json::object out;
  if (!schema.is_object()) {
    refuse(where, "must be an object");
    return out;
  }
  auto const& object = schema.get_object();
  if (object.contains("$ref")) return refer(object, where, place);
  for (auto const& [name, value] : object)
    copy(out, name, value, where + "/" + to_pointer_token(name), place);
  if (problem.empty()) finish(out, where);
  return out;
}

json::value Rewriter::refer(json::object const& schema, std::string const& where, SchemaPlace place) {
  for (auto const& [name, value] : schema) {
    if (name != "$ref" && name != "description") refuse(where, "besides $ref only description is allowed");
  }
  auto const& target = schema.at("$ref");
  std::string name;
  for (std::string_view const prefix : {"#/definitions/", "#/components/schemas/"}) {
    if (target.is_string() && target.get_string().starts_with(prefix))
      name = std::string{target.get_string()}.substr(prefix.size());
  }
  if (name.empty() || name.find_first_of("/~%") != std::string::npos) {
    refuse(where, "$ref must be #/definitions/NAME or #/components/schemas/NAME");
    return {};
  }
  if (!definitions.contains(name)) {
    definitions[name] = nullptr;
    wanted_.push_back(name);
  }
  if (place == SchemaPlace::same) same_place_[current_].insert(name);
  return json::object{{"$ref", "#/definitions/" + name}};
}

void Rewriter::copy(json::object& out, std::string_view name, json::value const& value,
                    std::string const& where, SchemaPlace place) {
  auto const keyword = std::find_if(kKeywords.begin(), kKeywords.end(),
                                    [name](Keyword const& known) { return known.name == name; });
  if (keyword == kKeywords.end())
    return refuse(where, "this keyword is not supported, so it would not be enforced");
  if (keyword->takes == Takes::nothing_enforced) return;
  auto const inner = keyword->place == SchemaPlace::same ? place : SchemaPlace::inside;
  bool const is_schema =
      keyword->takes == Takes::schema || (keyword->takes == Takes::schema_or_truth && !value.is_bool());
  if (is_schema) {
    out[name] = rewrite(value, where, inner);
  } else if (keyword->takes == Takes::schemas) {
    if (!value.is_array() || value.get_array().empty()) return refuse(where, "must be a list of schemas");
    json::array list;
    for (auto const& item : value.get_array())
      list.push_back(rewrite(item, where + "/" + std::to_string(list.size()), inner));
    out[name] = std::move(list);
  } else if (keyword->takes == Takes::schemas_by_name) {
    if (!value.is_object()) return refuse(where, "must be an object of schemas");
    json::object named;
    for (auto const& [key, item] : value.get_object())
      named[key] = rewrite(item, where + "/" + to_pointer_token(key), inner);
    out[name] = std::move(named);
  } else {
    if (!fits(keyword->takes, value))
      return refuse(where, "has a value that is not allowed for this keyword");
    out[name] = value;
  }
}

void Rewriter::finish(json::object& schema, std::string const& where) {
  if (auto const* nullable = schema.if_contains("nullable")) {
    if (nullable->get_bool()) allow_null(schema);
    schema.erase("nullable");
  }
  if (!schema.contains("if") && (schema.contains("then") || schema.contains("else")))
    refuse(where, "'then' and 'else' need 'if'");
  if (auto const* unique = schema.if_contains("uniqueItems")) {
    if (unique->get_bool() && !is_bounded(schema, "maxItems"))
      refuse(where, "uniqueItems needs a maxItems of at most " + std::to_string(kMostExpensiveItems));
  }
  if (auto const* pattern = schema.if_contains("pattern")) {
    if (!compile_pattern(std::string{pattern->get_string()}))
      return refuse(where, "pattern is not a regular expression, or it refers back to a part of the match");
    if (!is_bounded(schema, "maxLength"))
      return refuse(where, "pattern needs a maxLength of at most " + std::to_string(kMostExpensiveItems));
    put_length_before_pattern(schema);
  }
}

void Rewriter::rewrite_definitions() {
  while (!wanted_.empty()) {
    current_ = std::move(wanted_.back());
    wanted_.pop_back();
    auto const* found = own_ != nullptr ? own_->if_contains(current_) : nullptr;
    if (found == nullptr) found = given_.if_contains(current_);
    if (found == nullptr) return refuse("$ref", "there is no definition '" + current_ + "'");
    auto rewritten = rewrite(*found, "definitions/" + current_, SchemaPlace::same);
    definitions[current_] = std::move(rewritten);
  }
}

// Checking a schema that refers to itself for the same value would never end.
void Rewriter::refuse_circles() {
  std::set<std::string> open;
  std::set<std::string> done;
  for (auto const& [name, targets] : same_place_)
    visit(name, open, done);
}

void Rewriter::visit(std::string const& name, std::set<std::string>& open, std::set<std::string>& done) {
  if (done.contains(name)) return;
  if (!open.insert(name).second) return refuse("definitions/" + name, "refers to itself for the same value");
  if (auto const found = same_place_.find(name); found != same_place_.end()) {
    for (auto const& target : found->second)
      visit(target, open, done);
  }
  open.erase(name);
  done.insert(name);
}

// Whether it names draft 7 or an older draft.
bool is_known_dialect(json::value const& dialect) {
  return dialect.is_string() && dialect.get_string().starts_with("http://json-schema.org/draft-0");
}

}  // namespace

Result<json::object> make_schema_document(json::value const& schema, json::object const& definitions) {
  if (!schema.is_object()) return Error{Errc::invalid, "the schema must be an object"};
  json::object root = schema.get_object();
  auto const* dialect = root.if_contains("$schema");
  if (dialect != nullptr && !is_known_dialect(*dialect))
    return Error{Errc::invalid, "$schema: draft 7 is the newest that is supported"};
  auto const* own = schema.get_object().if_contains("definitions");
  if (own != nullptr && !own->is_object()) return Error{Errc::invalid, "definitions: must be an object"};
  root.erase("$schema");
  root.erase("definitions");

  Rewriter rewriter{own != nullptr ? &own->get_object() : nullptr, definitions};
  auto rewritten = rewriter.rewrite(root, "", SchemaPlace::same);
  rewriter.rewrite_definitions();
  if (rewriter.problem.empty()) rewriter.refuse_circles();
  if (!rewriter.problem.empty()) return Error{Errc::invalid, std::move(rewriter.problem)};
  return json::object{{"allOf", json::array{std::move(rewritten)}},
                      {"definitions", std::move(rewriter.definitions)}};
}

}  // namespace runnel::base
