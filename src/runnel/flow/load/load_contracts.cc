#include "runnel/flow/load/load_contracts.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "runnel/base/schema/json_schema.h"
#include "runnel/base/yaml/yaml_json.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

// Contracts have names like types: IntentResult.
void check_contract_name(PlacedName const& name, base::YamlProblems& problems) {
  auto const fits = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); };
  bool const good = !name.name.empty() && fits(static_cast<unsigned char>(name.name.front())) &&
                    std::isalpha(static_cast<unsigned char>(name.name.front())) != 0 &&
                    std::all_of(name.name.begin(), name.name.end(), fits);
  if (good) return;
  problems.add(name.mark,
               fmt::format("a contract is called '{}'; its name consists of letters, digits and '_', "
                           "and begins with a letter",
                           name.name));
}

// A message such as "/properties/a: must …", and the part of the schema that it is about.
struct SchemaFault {
  YAML::Node part;
  std::string what;
};

SchemaFault place_fault(YAML::Node const& schema, std::string const& detail) {
  auto const colon = detail.find(": ");
  if (!detail.starts_with('/') || colon == std::string::npos) return {schema, detail};
  return {base::find_part(schema, std::string_view{detail}.substr(0, colon)), detail};
}

class ContractReader {
 public:
  ContractReader(ConfFile& file, PlacedName const& name) : file_{file}, name_{name} {}

  LoadedContract read(YAML::Node const& node) {
    auto const before = file_.problems().count();
    base::YamlFields const fields{node, {"schema", "rules"}, file_.problems()};
    if (!node.IsMap()) return {};
    if (!fields.has("schema") && !fields.keys_unclear())
      file_.problems().add(name_.mark, "'schema' is missing");
    auto schema = fields.has("schema") ? read_schema(*fields.find("schema")) : json::object{};
    // Rules name fields, so they cannot be checked without a valid schema.
    if (file_.problems().count() != before) return {};
    LoadedContract loaded;
    for (auto const& rule : fields.list("rules"))
      read_rule(rule, schema, loaded.rules);
    if (file_.problems().count() != before) return {};
    auto contract = Contract::make(name_.name, std::move(schema), loaded.rules);
    if (contract) {
      loaded.contract = std::make_shared<Contract const>(std::move(*contract));
    } else {
      file_.problems().add(*fields.find("schema"), contract.error().detail);
    }
    return loaded;
  }

 private:
  json::object read_schema(YAML::Node const& node) {
    auto const value = base::to_json(node, file_.problems());
    if (!value) return {};
    if (!value->is_object()) {
      file_.problems().add(node, "a schema must be a map");
      return {};
    }
    auto const compiled = base::JsonSchema::load(*value, {});
    if (!compiled) {
      auto const fault = place_fault(node, compiled.error().detail);
      file_.problems().add(fault.part, fault.what);
    }
    return value->get_object();
  }

  void read_rule(YAML::Node const& node, json::object const& schema, std::vector<Contract::Rule>& rules) {
    base::YamlFields const fields{node, {"when", "needs"}, file_.problems()};
    if (!node.IsMap()) return;
    Contract::Rule rule;
    if (auto const needs = file_.word(fields, "needs", node.Mark())) {
      check_field(*needs, schema);
      rule.field = needs->name;
    }
    if (fields.has("when")) {
      read_condition(*fields.find("when"), schema, rule);
    } else if (!fields.keys_unclear()) {
      file_.problems().add(node, "'when' is missing");
    }
    rules.push_back(std::move(rule));
  }

  void read_condition(YAML::Node const& when, json::object const& schema, Contract::Rule& rule) {
    if (!when.IsMap() || when.size() != 1 || !when.begin()->second.IsScalar()) {
      file_.problems().add(when, "'when' must be one field and its value, such as {route: DIRECT_EXECUTION}");
      return;
    }
    PlacedName const field{when.begin()->first.Scalar(), when.begin()->first.Mark()};
    YAML::Node const value = when.begin()->second;
    rule.when = field.name;
    rule.is = value.Scalar();
    if (!check_field(field, schema)) return;
    auto const* choices = properties(schema)->at(field.name).get_object().if_contains("enum");
    if (choices == nullptr) return;
    auto const& list = choices->get_array();
    if (std::find(list.begin(), list.end(), json::value(rule.is)) == list.end()) {
      file_.problems().add(
          value, fmt::format("'{}' can never be '{}': it is not in its enum", field.name, value.Scalar()));
    }
  }

  static json::object const* properties(json::object const& schema) {
    auto const* found = schema.if_contains("properties");
    return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
  }

  bool check_field(PlacedName const& field, json::object const& schema) {
    auto const* fields = properties(schema);
    if (fields != nullptr && fields->contains(field.name)) return true;
    file_.problems().add(field.mark, fmt::format("the schema has no field '{}'", field.name));
    return false;
  }

  ConfFile& file_;
  PlacedName const& name_;
};

}  // namespace

ByName<LoadedContract> load_contracts(ConfFile& file) {
  ByName<LoadedContract> contracts;
  if (file.map() == nullptr) return contracts;
  base::for_each_member(*file.map(), file.problems(), [&](YAML::Node const& key, YAML::Node const& value) {
    PlacedName const name{key.Scalar(), key.Mark()};
    check_contract_name(name, file.problems());
    contracts.emplace(name.name, ContractReader{file, name}.read(value));
  });
  return contracts;
}

}  // namespace runnel::flow
