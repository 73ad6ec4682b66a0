#include "runnel/model/pricing/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace runnel::model {
namespace {

// Whether `text` matches `pattern`, in which each * stands for any number of characters, including none.
bool matches(std::string_view pattern, std::string_view text) {
  auto const star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  text.remove_prefix(star);
  for (auto next = pattern.find('*'); next != std::string_view::npos; next = pattern.find('*')) {
    auto const found = text.find(pattern.substr(0, next));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + next);
    pattern.remove_prefix(next + 1);
  }
  return text.ends_with(pattern);
}

bool is_pattern(ModelPrices const& prices) {
  return prices.list == PriceList::custom_pricing && prices.name.find('*') != std::string::npos;
}

PriceEntry const* entry_at(ModelPrices const& prices, std::int64_t at_ms) {
  auto const it = std::find_if(prices.entries.begin(), prices.entries.end(),
                               [&](PriceEntry const& entry) { return entry.holds(at_ms); });
  return it == prices.entries.end() ? nullptr : &*it;
}

Window const* window_at(PriceEntry const& entry, std::int64_t at_ms) {
  if (entry.windows.empty()) return nullptr;
  auto const local = entry.zone->at(at_ms);
  auto const it = std::find_if(entry.windows.begin(), entry.windows.end(),
                               [&](Window const& window) { return window.holds(local); });
  return it == entry.windows.end() ? nullptr : &*it;
}

Tier const& tier_for(std::vector<Tier> const& tiers, std::int64_t prompt_tokens) {
  auto const it = std::find_if(tiers.begin(), tiers.end(), [&](Tier const& tier) {
    return !tier.max_prompt_tokens || prompt_tokens <= *tier.max_prompt_tokens;
  });
  return it == tiers.end() ? tiers.back() : *it;
}

std::string why_unpriced(ModelPrices const* prices, std::int64_t at_ms) {
  if (prices != nullptr && !prices->unusable.empty()) return "has no price: " + prices->unusable;
  if (prices == nullptr || prices->entries.empty()) return "has no price";
  auto const& last = prices->entries.back();
  if (last.until_ms && at_ms >= *last.until_ms) return "has no price now: its last one ended " + last.until;
  return "has no price now: the next one begins later";
}

}  // namespace

bool Window::holds(LocalMinute const& at) const {
  if (std::find(except.begin(), except.end(), at.day) != except.end()) return false;
  if (std::find(days.begin(), days.end(), std::chrono::weekday{at.day}) == days.end()) return false;
  return std::any_of(hours.begin(), hours.end(),
                     [&](Hours const& span) { return at.minute >= span.from && at.minute < span.until; });
}

ModelPrices free_model(std::string name) {
  PriceEntry entry;
  entry.free = true;
  entry.tiers.emplace_back();
  return {std::move(name), PriceList::custom_pricing, {std::move(entry)}};
}

void PriceBook::put(ModelPrices prices) {
  if (is_pattern(prices)) {
    auto const it = std::find_if(patterns_.begin(), patterns_.end(),
                                 [&](ModelPrices const& known) { return known.name == prices.name; });
    if (it == patterns_.end()) {
      patterns_.push_back(std::move(prices));
    } else {
      *it = std::move(prices);
    }
    return;
  }
  auto& list = prices.list == PriceList::custom_pricing ? custom_ : catalog_;
  auto name = prices.name;
  list.insert_or_assign(std::move(name), std::move(prices));
}

ModelPrices const* PriceBook::look_up(std::string_view model) const {
  if (auto const it = custom_.find(model); it != custom_.end()) return &it->second;
  auto const pattern = std::find_if(patterns_.begin(), patterns_.end(),
                                    [&](ModelPrices const& prices) { return matches(prices.name, model); });
  if (pattern != patterns_.end()) return &*pattern;
  if (auto const it = catalog_.find(model); it != catalog_.end()) return &it->second;
  return nullptr;
}

std::optional<Price> PriceBook::find(std::string_view model, std::int64_t at_ms,
                                     std::int64_t prompt_tokens) const {
  auto const* prices = look_up(model);
  if (prices == nullptr) return std::nullopt;
  auto const* entry = entry_at(*prices, at_ms);
  if (entry == nullptr) return std::nullopt;
  auto const* window = window_at(*entry, at_ms);
  auto const& tier = tier_for(window == nullptr ? entry->tiers : window->tiers, prompt_tokens);
  return Price{prices, entry, window, &tier};
}

std::vector<std::string> PriceBook::unpriced(std::span<std::string const> models, std::int64_t at_ms) const {
  std::vector<std::string> without;
  for (auto const& model : models) {
    if (!find(model, at_ms, 0)) without.push_back(model);
  }
  return without;
}

Result<void> PriceBook::require(std::span<std::string const> models, std::int64_t at_ms,
                                std::string_view file) const {
  std::string detail;
  for (auto const& model : unpriced(models, at_ms)) {
    if (!detail.empty()) detail += '\n';
    detail += fmt::format(
        "{}: model '{}' {}; add to this price list, under its models:  \"{}\": [{{currency: CNY, "
        "per_million_tokens: {{input: …, "
        "output: …}}}}]  or, if it costs nothing,  \"{}\": {{free: true}}",
        file, model, why_unpriced(look_up(model), at_ms), model, model);
  }
  if (detail.empty()) return {};
  return Error{Errc::invalid, std::move(detail)};
}

}  // namespace runnel::model
