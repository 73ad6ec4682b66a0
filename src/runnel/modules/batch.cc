#include "runnel/modules/batch.h"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>

#include "runnel/core/json/write.h"

namespace runnel::modules {

namespace json = boost::json;

namespace {

std::string failed_item(MethodFailure const& failure) {
  std::string out;
  JsonObject object{out};
  object.text("outcome", "failed");
  JsonObject error{object.key("error")};
  error.text("code", failure.code).text("message", failure.message).close();
  object.close();
  return out;
}

std::string data_of(ItemAnswer const& answer) {
  auto const* const done = std::get_if<ItemDone>(&answer);
  return done != nullptr ? done->data : failed_item(std::get<MethodFailure>(answer));
}

// The item's own members behind its index.
void append_indexed(std::string& out, std::size_t index, std::string_view data) {
  out += R"({"index":)" + std::to_string(index) + ",";
  out += data.substr(1);
}

std::string items_json(std::vector<ItemAnswer> const& answers) {
  std::string out;
  std::size_t index = 0;
  append_json_array(out, answers, [&index](std::string& to, ItemAnswer const& answer) {
    append_indexed(to, index++, data_of(answer));
  });
  return out;
}

json::object mode_property(char const* mode, char const* description) {
  return {{"type", "string"}, {"enum", json::array{mode}}, {"description", description}};
}

// The same form with "mode":"single" as its first property, which may be left out.
json::object single_branch(json::object const& item) {
  json::object properties{{"mode", mode_property("single", "One per call. May be left out.")}};
  for (auto const& [name, property] : item.at("properties").as_object())
    properties[name] = property;
  auto out = item;
  out["properties"] = std::move(properties);
  return out;
}

json::object batch_branch(json::value const& item) {
  json::object const items{{"type", "array"},
                           {"minItems", 1},
                           {"maxItems", static_cast<std::int64_t>(kMostBatchItems)},
                           {"items", item}};
  return {{"type", "object"},
          {"description", "Several in one call. An item that is wrong fails alone; the others are done."},
          {"required", json::array{"mode", "items"}},
          {"properties",
           json::object{{"mode", mode_property("batch", "Several in one call.")}, {"items", items}}},
          {"additionalProperties", false}};
}

}  // namespace

MethodAnswer join_items(std::vector<ItemAnswer> answers) {
  auto const failed = std::count_if(answers.begin(), answers.end(), [](ItemAnswer const& answer) {
    return std::holds_alternative<MethodFailure>(answer);
  });
  auto const count = static_cast<std::int64_t>(answers.size());
  auto items = items_json(answers);
  if (failed == count) {
    MethodFailure failure{kBatchFailed, "none of the " + std::to_string(count) +
                                            " items could be done; each item's error says why"};
    failure.items = std::move(items);
    return failure;
  }
  MethodResult result{""};
  JsonObject{result.data}.raw("items", items).number("count", count).number("failed", failed).close();
  result.partial = failed > 0;
  for (auto& answer : answers) {
    auto* const done = std::get_if<ItemDone>(&answer);
    if (done == nullptr) continue;
    std::move(done->effect.begin(), done->effect.end(), std::back_inserter(result.effect));
  }
  return result;
}

std::string schema_with_batch(std::string_view description, std::string_view item) {
  auto const schema = json::parse(item);
  json::array branches;
  if (auto const* const forms = schema.as_object().if_contains("oneOf")) {
    for (auto const& form : forms->as_array())
      branches.emplace_back(single_branch(form.as_object()));
  } else {
    branches.emplace_back(single_branch(schema.as_object()));
  }
  branches.emplace_back(batch_branch(schema));
  return json::serialize(
      json::object{{"type", "object"}, {"description", description}, {"oneOf", std::move(branches)}});
}

}  // namespace runnel::modules
