#include "runnel/modules/skills/methods.h"

#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>

#include "kReadInput.inc"
#include "runnel/core/json/write.h"

namespace runnel::modules::skills {

using store::Async;

namespace {

template <class Named>
std::vector<std::string> names_of(Named const& by_name) {
  std::vector<std::string> names;
  names.reserve(by_name.size());
  for (auto const& [name, value] : by_name)
    names.push_back(name);
  return names;
}

template <class Named>
std::string list_of(Named const& by_name) {
  return by_name.empty() ? "there are none"
                         : fmt::format("there are: {}", fmt::join(names_of(by_name), ", "));
}

MethodAnswer shown_card(std::string_view name, base::Skill const& skill) {
  std::string data;
  JsonObject object{data};
  object.text("skill", name).text("content", skill.content);
  append_json_array(object.key("actions"), names_of(skill.actions),
                    [](std::string& out, std::string const& action) { append_json_string(out, action); });
  object.close();
  return MethodResult{std::move(data)};
}

MethodAnswer shown_action(std::string_view name, base::Skill const& skill, std::string_view action) {
  auto const found = skill.actions.find(action);
  if (found == skill.actions.end()) {
    return MethodFailure{kNotFound,
                         fmt::format("the skill {} has no such action; {}", name, list_of(skill.actions))};
  }
  std::string data;
  JsonObject object{data};
  object.text("skill", name).text("action", found->first).text("content", found->second);
  object.close();
  return MethodResult{std::move(data)};
}

MethodAnswer read_skill(base::Skills const& loaded, boost::json::object const& input) {
  auto const found = loaded.find(std::string_view{input.at("skill").as_string()});
  if (found == loaded.end())
    return MethodFailure{kNotFound, fmt::format("there is no such skill; {}", list_of(loaded))};
  auto const* const action = input.if_contains("action");
  if (action == nullptr) return shown_card(found->first, found->second);
  return shown_action(found->first, found->second, action->as_string());
}

Async<MethodAnswer> run_read(std::shared_ptr<base::Skills const> loaded, MethodCall call) {
  co_return read_skill(*loaded, call.input);
}

}  // namespace

std::vector<Method> skill_methods(std::shared_ptr<base::Skills const> loaded) {
  return {{"skills.read", kReadInput,
           [loaded = std::move(loaded)](MethodCall call) { return run_read(loaded, std::move(call)); }}};
}

}  // namespace runnel::modules::skills
