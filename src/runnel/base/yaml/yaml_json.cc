#include "runnel/base/yaml/yaml_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>

#include "runnel/core/json/pointer.h"

namespace runnel::base {
namespace {

namespace json = boost::json;

constexpr int kDeepest = 32;
constexpr int kMostParts = 10'000;

template <class Number>
std::optional<Number> whole(std::string const& text) {
  Number number{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool looks_like_number(std::string const& text) {
  return !text.empty() && text.find_first_not_of("+-.0123456789eE") == std::string::npos;
}

json::value scalar_to_json(YAML::Node const& node) {
  auto const& text = node.Scalar();
  bool const plain = node.Tag() == "?";
  if (!plain) return json::value(text);
  if (text == "true" || text == "false") return json::value(text == "true");
  if (text == "null" || text == "~") return nullptr;
  if (auto const number = whole<std::int64_t>(text)) return *number;
  if (auto const number = whole<double>(text); number && looks_like_number(text)) return *number;
  return json::value(text);
}

class JsonMaker {
 public:
  explicit JsonMaker(YamlProblems& problems) : problems_{problems} {}

  [[nodiscard]] bool stopped() const { return stopped_; }

  json::value make(YAML::Node const& node, int depth) {
    if (depth > kDeepest) stop(node, "nested too deeply");
    if (++parts_ > kMostParts) stop(node, fmt::format("a schema has at most {} parts", kMostParts));
    if (stopped_) return nullptr;
    if (node.IsScalar()) return scalar_to_json(node);
    if (node.IsSequence()) return make_list(node, depth);
    return node.IsMap() ? make_object(node, depth) : nullptr;
  }

 private:
  void stop(YAML::Node const& node, std::string_view why) {
    if (!stopped_) problems_.add(node, why);
    stopped_ = true;
  }

  json::value make_list(YAML::Node const& node, int depth) {
    json::array list;
    for (auto const& item : node)
      list.push_back(make(item, depth + 1));
    return list;
  }

  json::value make_object(YAML::Node const& node, int depth) {
    json::object object;
    for_each_member(node, problems_, [&](YAML::Node const& key, YAML::Node const& value) {
      object.emplace(key.Scalar(), make(value, depth + 1));
    });
    return object;
  }

  YamlProblems& problems_;
  int parts_ = 0;
  bool stopped_ = false;
};

YAML::Node child_of(YAML::Node const& node, std::string const& name) {
  if (node.IsMap()) {
    for (auto const& pair : node) {
      if (pair.first.IsScalar() && pair.first.Scalar() == name) return pair.second;
    }
  }
  auto const index = whole<std::size_t>(name);
  if (node.IsSequence() && index && *index < node.size()) return node[*index];
  return YAML::Node{YAML::NodeType::Undefined};
}

}  // namespace

std::optional<json::value> to_json(YAML::Node const& node, YamlProblems& problems) {
  JsonMaker maker{problems};
  auto value = maker.make(node, 0);
  if (maker.stopped()) return std::nullopt;
  return value;
}

YAML::Node find_part(YAML::Node const& node, std::string_view pointer) {
  if (pointer.starts_with('/')) pointer.remove_prefix(1);
  if (pointer.empty()) return node;
  auto const slash = pointer.find('/');
  auto const child = child_of(node, from_pointer_token(pointer.substr(0, slash)));
  if (!child.IsDefined()) return node;
  return slash == std::string_view::npos ? child : find_part(child, pointer.substr(slash));
}

}  // namespace runnel::base
