#include "runnel/base/schema/schema_explain.h"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "runnel/base/schema/schema_document.h"
#include "runnel/base/schema/schema_pattern.h"
#include "runnel/core/json/pointer.h"
#include "runnel/core/text/text.h"

namespace runnel::base {
namespace {

namespace json = boost::json;

std::string joined(std::vector<std::string> const& words, std::string_view last_link) {
  std::string out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) out += at + 1 == words.size() ? last_link : std::string_view{", "};
    out += words[at];
  }
  return out;
}

std::string type_words(std::string_view type) {
  if (type == "string") return "a string";
  if (type == "integer") return "a whole number";
  if (type == "number") return "a number";
  if (type == "boolean") return "true or false";
  if (type == "object") return "an object";
  if (type == "array") return "a list";
  return "null";
}

bool is_of(std::string_view type, json::value const& value) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_int64();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return value.is_null();
}

// The types that a schema names. Empty if any type is allowed.
std::vector<std::string> types_of(json::object const& schema) {
  std::vector<std::string> out;
  auto const* type = schema.if_contains("type");
  if (type == nullptr) return out;
  if (type->is_string()) return {std::string{type->get_string()}};
  for (auto const& name : type->get_array())
    out.emplace_back(name.get_string());
  return out;
}

bool has_type(std::vector<std::string> const& types, json::value const& value) {
  return types.empty() ||
         std::any_of(types.begin(), types.end(), [&](auto const& type) { return is_of(type, value); });
}

std::string must_be(std::vector<std::string> const& types) {
  std::vector<std::string> words;
  for (auto const& type : types) {
    auto phrase = type_words(type);
    if (std::find(words.begin(), words.end(), phrase) == words.end()) words.push_back(std::move(phrase));
  }
  return "must be " + joined(words, " or ");
}

std::string written(json::value const& value) {
  return value.is_string() ? std::string{value.get_string()} : json::serialize(value);
}

std::string must_be_one_of(json::array const& values) {
  std::vector<std::string> words;
  for (auto const& value : values)
    words.push_back(written(value));
  return (words.size() == 1 ? "must be " : "must be one of ") + joined(words, " or ");
}

std::string counted(std::int64_t count, char const* one, char const* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

// A few patterns have an explanation in plain words. Any other pattern is shown as it is.
std::string must_match(std::string const& pattern) {
  if (pattern == "^[!-~]+$") return "must be visible ASCII without spaces";
  if (pattern == "^[0-9]+([.][0-9]+)?$") return "must be a decimal number such as 0.5";
  return "must match the pattern " + pattern;
}

constexpr char kRequired[] = "is required";

class Explainer {
 public:
  Explainer(json::object const& definitions, Patterns const& patterns, std::string path)
      : definitions_{definitions}, patterns_{patterns}, path_{std::move(path)} {}

  void explain(json::object const& referring, json::value const& value);

  std::vector<Violation> found;
  // Those of them that are about `enum` or `const`, which tell forms apart, and what each could be.
  std::map<std::string, json::array> wrong_choices;

 private:
  using Branches = std::vector<Explainer>;

  [[nodiscard]] bool full() const { return found.size() >= kMostViolations; }
  void tell(std::string what) { tell_at(path_, std::move(what)); }
  void tell_at(std::string path, std::string what) {
    bool const is_new = std::none_of(found.begin(), found.end(), [&](Violation const& told) {
      return told.path == path && told.what == what;
    });
    if (is_new && !full()) found.push_back({std::move(path), std::move(what)});
  }
  json::object const& resolved(json::object const& schema) const;
  [[nodiscard]] Explainer tried(json::value const& schema, json::value const& value) const;
  [[nodiscard]] bool fits(json::value const& schema, json::value const& value) const {
    return tried(schema, value).found.empty();
  }
  [[nodiscard]] bool nearer_than(Explainer const& other) const {
    return std::pair{wrong_choices.size(), found.size()} <
           std::pair{other.wrong_choices.size(), other.found.size()};
  }
  [[nodiscard]] bool misses(std::string const& path) const {
    return std::any_of(found.begin(), found.end(),
                       [&](Violation const& told) { return told.path == path && told.what == kRequired; });
  }
  void tell_choice(json::array const& choices, std::string what) {
    wrong_choices.emplace(path_, choices);
    tell(std::move(what));
  }
  void inside(std::string const& name, json::value const& schema, json::value const& value);

  void explain_string(json::object const& schema, json::string const& value);
  void explain_number(json::object const& schema, json::value const& value);
  void explain_list(json::object const& schema, json::array const& list);
  void explain_object(json::object const& schema, json::object const& object);
  void explain_unknown(json::object const& schema, std::string const& name);
  void explain_size(json::object const& schema, char const* least, char const* most, std::size_t size,
                    char const* one, char const* many);
  void explain_combined(json::object const& schema, json::value const& value);
  void explain_branches(json::array const& branches, json::value const& value, bool only_one);
  void explain_no_branch(json::array const& branches, json::value const& value, Branches const& results);
  bool explain_wrong_choice(std::vector<Explainer const*> const& possible);
  void explain_missing(json::object const& schema, std::string const& name);

  json::object const& definitions_;
  Patterns const& patterns_;
  std::string path_;
};

json::object const& Explainer::resolved(json::object const& schema) const {
  auto const* reference = schema.if_contains("$ref");
  if (reference == nullptr) return schema;
  constexpr std::string_view kPrefix = "#/definitions/";
  return resolved(definitions_.at(reference->get_string().subview(kPrefix.size())).get_object());
}

Explainer Explainer::tried(json::value const& schema, json::value const& value) const {
  Explainer inner{definitions_, patterns_, path_};
  inner.explain(schema.get_object(), value);
  return inner;
}

void Explainer::inside(std::string const& name, json::value const& schema, json::value const& value) {
  auto const size = path_.size();
  path_ += "/" + to_told_token(name);
  explain(schema.get_object(), value);
  path_.resize(size);
}

void Explainer::explain(json::object const& referring, json::value const& value) {
  if (full()) return;
  auto const& schema = resolved(referring);
  auto const types = types_of(schema);
  if (!has_type(types, value)) return tell(must_be(types));
  if (auto const* values = schema.if_contains("enum")) {
    auto const& list = values->get_array();
    if (std::find(list.begin(), list.end(), value) == list.end()) tell_choice(list, must_be_one_of(list));
  }
  if (auto const* wanted = schema.if_contains("const")) {
    if (*wanted != value) tell_choice({*wanted}, "must be " + written(*wanted));
  }
  if (value.is_string()) explain_string(schema, value.get_string());
  if (value.is_number()) explain_number(schema, value);
  if (value.is_array()) explain_list(schema, value.get_array());
  if (value.is_object()) explain_object(schema, value.get_object());
  explain_combined(schema, value);
}

void Explainer::explain_size(json::object const& schema, char const* least, char const* most,
                             std::size_t size, char const* one, char const* many) {
  auto const have = static_cast<std::int64_t>(size);
  auto const* low = schema.if_contains(least);
  if (low != nullptr && have < low->get_int64()) {
    tell(low->get_int64() == 1 ? "must not be empty"
                               : "must have at least " + counted(low->get_int64(), one, many));
  }
  auto const* high = schema.if_contains(most);
  if (high != nullptr && have > high->get_int64())
    tell("must have at most " + counted(high->get_int64(), one, many));
}

void Explainer::explain_string(json::object const& schema, json::string const& value) {
  std::string const text{value};
  explain_size(schema, "minLength", "maxLength", count_code_points(text), "character", "characters");
  if (auto const* pattern = schema.if_contains("pattern")) {
    std::string const expression{pattern->get_string()};
    auto const compiled = patterns_.find(expression);
    if (compiled != patterns_.end() && !std::regex_search(text, compiled->second))
      tell(must_match(expression));
  }
}

void Explainer::explain_number(json::object const& schema, json::value const& value) {
  auto const number = value.to_number<double>();
  auto const limit = [&](char const* keyword, auto const& fits, std::string const& words) {
    auto const* bound = schema.if_contains(keyword);
    if (bound != nullptr && !fits(number, bound->to_number<double>()))
      tell("must be " + words + json::serialize(*bound));
  };
  limit("minimum", std::greater_equal<>{}, "at least ");
  limit("maximum", std::less_equal<>{}, "at most ");
  limit("exclusiveMinimum", std::greater<>{}, "more than ");
  limit("exclusiveMaximum", std::less<>{}, "less than ");
}

void Explainer::explain_list(json::object const& schema, json::array const& list) {
  explain_size(schema, "minItems", "maxItems", list.size(), "item", "items");
  auto const* unique = schema.if_contains("uniqueItems");
  // A longer list has already been reported as too long (schema_document.h), and comparing each item with
  // every other one would take too long.
  bool const short_enough = list.size() <= static_cast<std::size_t>(kMostExpensiveItems);
  if (unique != nullptr && unique->get_bool() && short_enough && !full()) {
    for (auto item = list.begin(); item != list.end(); ++item) {
      if (std::find(list.begin(), item, *item) == item) continue;
      tell("must not have two equal items");
      break;
    }
  }
  auto const* items = schema.if_contains("items");
  for (std::size_t at = 0; items != nullptr && at < list.size() && !full(); ++at)
    inside(std::to_string(at), *items, list[at]);
}

void Explainer::explain_object(json::object const& schema, json::object const& object) {
  explain_size(schema, "minProperties", "maxProperties", object.size(), "member", "members");
  if (auto const* required = schema.if_contains("required")) {
    for (auto const& name : required->get_array()) {
      if (!object.contains(name.get_string())) explain_missing(schema, std::string{name.get_string()});
    }
  }
  auto const* properties = schema.if_contains("properties");
  auto const* others = schema.if_contains("additionalProperties");
  for (auto const& [name, value] : object) {
    if (full()) return;
    auto const* known = properties != nullptr ? properties->get_object().if_contains(name) : nullptr;
    if (known != nullptr) {
      inside(std::string{name}, *known, value);
    } else if (others != nullptr && others->is_object()) {
      inside(std::string{name}, *others, value);
    } else if (others != nullptr && !others->get_bool()) {
      explain_unknown(schema, std::string{name});
    }
  }
}

// A form whose distinguishing member is missing is less likely the one that was meant.
void Explainer::explain_missing(json::object const& schema, std::string const& name) {
  auto const path = path_ + "/" + to_told_token(name);
  tell_at(path, kRequired);
  auto const* const properties = schema.if_contains("properties");
  auto const* const property = properties != nullptr ? properties->get_object().if_contains(name) : nullptr;
  if (property == nullptr) return;
  auto const& known = resolved(property->get_object());
  if (auto const* const values = known.if_contains("enum")) wrong_choices.emplace(path, values->get_array());
  if (auto const* const value = known.if_contains("const")) wrong_choices.emplace(path, json::array{*value});
}

void Explainer::explain_unknown(json::object const& schema, std::string const& name) {
  std::vector<std::string> known;
  if (auto const* properties = schema.if_contains("properties")) {
    for (auto const& property : properties->get_object())
      known.emplace_back(property.key());
  }
  tell_at(path_ + "/" + to_told_token(name),
          known.empty() ? "is not known" : "is not known; known: " + joined(known, ", "));
}

void Explainer::explain_combined(json::object const& schema, json::value const& value) {
  if (auto const* all = schema.if_contains("allOf")) {
    for (auto const& part : all->get_array())
      explain(part.get_object(), value);
  }
  if (auto const* any = schema.if_contains("anyOf")) explain_branches(any->get_array(), value, false);
  if (auto const* one = schema.if_contains("oneOf")) explain_branches(one->get_array(), value, true);
  if (auto const* forbidden = schema.if_contains("not")) {
    if (fits(*forbidden, value)) tell("has a form that is not allowed");
  }
  if (auto const* condition = schema.if_contains("if")) {
    auto const* branch = schema.if_contains(fits(*condition, value) ? "then" : "else");
    if (branch != nullptr) explain(branch->get_object(), value);
  }
}

void Explainer::explain_branches(json::array const& branches, json::value const& value, bool only_one) {
  Branches results;
  for (auto const& branch : branches)
    results.push_back(tried(branch, value));
  auto const fitting =
      std::count_if(results.begin(), results.end(), [](auto const& result) { return result.found.empty(); });
  if (fitting == 0) explain_no_branch(branches, value, results);
  if (fitting > 1 && only_one) tell("fits more than one of the forms that exclude each other");
}

// Whether each of the forms has the same member with a wrong distinguishing value, which is then explained.
bool Explainer::explain_wrong_choice(std::vector<Explainer const*> const& possible) {
  for (auto const& [path, unused] : possible.front()->wrong_choices) {
    json::array choices;
    bool const of_all = std::all_of(possible.begin(), possible.end(), [&](Explainer const* form) {
      auto const wrong = form->wrong_choices.find(path);
      if (wrong == form->wrong_choices.end()) return false;
      for (auto const& choice : wrong->second) {
        if (std::find(choices.begin(), choices.end(), choice) == choices.end()) choices.push_back(choice);
      }
      return true;
    });
    if (!of_all) continue;
    bool const is_missing = possible.front()->misses(path);
    std::erase_if(found, [&](Violation const& told) { return told.path == path && told.what == kRequired; });
    wrong_choices.emplace(path, choices);
    tell_at(path, (is_missing ? "is required and " : "") + must_be_one_of(choices));
    return true;
  }
  return false;
}

// Explains the form that the sender most likely meant: a form for the value's type, with as few wrong
// distinguishing values as possible, and then with the fewest faults. If no form has the distinguishing value
// that was sent, it is explained which values there are.
void Explainer::explain_no_branch(json::array const& branches, json::value const& value,
                                  Branches const& results) {
  std::vector<std::string> wanted;
  std::vector<Explainer const*> possible;
  for (std::size_t at = 0; at < results.size(); ++at) {
    auto const types = types_of(resolved(branches[at].get_object()));
    wanted.insert(wanted.end(), types.begin(), types.end());
    if (has_type(types, value)) possible.push_back(&results[at]);
  }
  if (possible.empty()) return tell(must_be(wanted));
  if (possible.size() > 1 && explain_wrong_choice(possible)) return;
  auto const nearest = *std::min_element(
      possible.begin(), possible.end(),
      [](Explainer const* left, Explainer const* right) { return left->nearer_than(*right); });
  for (auto const& violation : nearest->found)
    tell_at(violation.path, violation.what);
  wrong_choices.insert(nearest->wrong_choices.begin(), nearest->wrong_choices.end());
}

}  // namespace

std::vector<Violation> explain(json::object const& schema, json::value const& document,
                               Patterns const& patterns) {
  Explainer explainer{schema.at("definitions").get_object(), patterns, ""};
  explainer.explain(schema, document);
  return std::move(explainer.found);
}

}  // namespace runnel::base
