#include "runnel/modules/input_schema.h"

#include <boost/json.hpp>

namespace runnel::modules {

namespace json = boost::json;

namespace {

constexpr char kBatch[] = "batch";
constexpr char kItems[] = "items";

// The list `items` in the branch of a batch. Null if the schema has no batch.
json::object* find_items(json::object& schema) {
  auto* const branches = schema.if_contains("oneOf");
  if (branches == nullptr) return nullptr;
  for (auto& branch : branches->as_array()) {
    auto& properties = branch.at("properties").as_object();
    bool const is_batch = properties.contains("mode") && properties.at("mode").as_object().contains("enum") &&
                          properties.at("mode").at("enum") == json::array{kBatch};
    if (is_batch) return &properties.at(kItems).as_object();
  }
  return nullptr;
}

std::string in_words(std::vector<base::Violation> const& violations) {
  std::string out;
  for (auto const& violation : violations) {
    if (!out.empty()) out += "; ";
    out += to_string(violation);
  }
  return out;
}

bool is_batch_input(json::object const& input) {
  auto const* const mode = input.if_contains("mode");
  return mode != nullptr && mode->is_string() && mode->get_string() == kBatch;
}

}  // namespace

Result<InputSchema> InputSchema::load(std::string_view schema) {
  auto document = json::parse(schema);
  auto line = json::serialize(document);
  std::optional<base::JsonSchema> item;
  if (auto* const items = find_items(document.as_object())) {
    auto loaded = base::JsonSchema::load(items->at(kItems), {});
    if (!loaded) return loaded.error();
    item = std::move(*loaded);
    items->erase(kItems);
  }
  auto whole = base::JsonSchema::load(document, {});
  if (!whole) return whole.error();
  return InputSchema{std::move(*whole), std::move(item), std::move(line)};
}

InputSchema::Judgement InputSchema::judge(json::object const& input) const {
  Judgement judged;
  judged.fault = in_words(whole_.check(input));
  if (!judged.fault.empty() || !item_ || !is_batch_input(input)) return judged;
  for (auto const& item : input.at(kItems).as_array())
    judged.item_faults.push_back(in_words(item_->check(item)));
  return judged;
}

}  // namespace runnel::modules
