#include "runnel/model/profile.h"

namespace runnel::model {
namespace {

Profile deepseek() {
  Profile profile;
  profile.name = "deepseek";
  profile.thinking_switch = ThinkingSwitch::thinking_type;
  profile.required_tool_while_thinking = false;
  profile.parallel_tool_calls = false;
  profile.wants_reasoning_back = true;
  profile.cost_currency = "CNY";
  return profile;
}

Profile dashscope() {
  Profile profile;
  profile.name = "dashscope";
  profile.thinking_switch = ThinkingSwitch::enable_flag;
  profile.required_tool_while_thinking = false;
  profile.quota_recovers = true;
  profile.thinking_budget = true;
  profile.cost_currency = "CNY";
  return profile;
}

Profile openai() {
  Profile profile;
  profile.name = "openai";
  profile.max_completion_tokens = true;
  profile.hides_thinking = true;
  return profile;
}

Profile local() {
  Profile profile;
  profile.name = "local";
  profile.parallel_tool_calls = false;
  profile.think_tags = true;
  return profile;
}

}  // namespace

std::optional<Profile> find_profile(std::string_view name) {
  for (auto const& profile : {deepseek(), dashscope(), openai(), local()}) {
    if (profile.name == name) return profile;
  }
  return std::nullopt;
}

std::vector<std::string> profile_names() {
  return {"deepseek", "dashscope", "openai", "local"};
}

bool ProviderOptions::thinks() const {
  if (thinking != Thinking::vendor_default) return thinking == Thinking::on;
  return profile.thinking_switch == ThinkingSwitch::thinking_type;
}

bool ProviderOptions::may_think() const {
  return thinks() || (profile.hides_thinking && thinking != Thinking::off);
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  auto const star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (;; name.remove_prefix(1)) {
    if (matches_pattern(pattern, name)) return true;
    if (name.empty()) return false;
  }
}

}  // namespace runnel::model
