#include "runnel/model/openai/vendor.h"

namespace runnel::model {
namespace {

Vendor deepseek() {
  Vendor vendor;
  vendor.name = "deepseek";
  vendor.thinking_switch = ThinkingSwitch::thinking_type;
  vendor.required_tool_while_thinking = false;
  vendor.parallel_tool_calls = false;
  vendor.wants_reasoning_back = true;
  vendor.cost_currency = "CNY";
  return vendor;
}

Vendor dashscope() {
  Vendor vendor;
  vendor.name = "dashscope";
  vendor.thinking_switch = ThinkingSwitch::enable_flag;
  vendor.required_tool_while_thinking = false;
  vendor.quota_recovers = true;
  vendor.thinking_budget = true;
  vendor.cost_currency = "CNY";
  return vendor;
}

Vendor openai() {
  Vendor vendor;
  vendor.name = "openai";
  vendor.max_completion_tokens = true;
  vendor.hides_thinking = true;
  return vendor;
}

Vendor local() {
  Vendor vendor;
  vendor.name = "local";
  vendor.parallel_tool_calls = false;
  vendor.think_tags = true;
  return vendor;
}

}  // namespace

std::optional<Vendor> find_vendor(std::string_view name) {
  for (auto const& vendor : {deepseek(), dashscope(), openai(), local()}) {
    if (vendor.name == name) return vendor;
  }
  return std::nullopt;
}

std::vector<std::string> vendor_names() {
  return {"deepseek", "dashscope", "openai", "local"};
}

bool ProviderOptions::thinks() const {
  if (thinking != Thinking::vendor_default) return thinking == Thinking::on;
  return vendor.thinking_switch == ThinkingSwitch::thinking_type;
}

bool ProviderOptions::may_think() const {
  return thinks() || (vendor.hides_thinking && thinking != Thinking::off);
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
