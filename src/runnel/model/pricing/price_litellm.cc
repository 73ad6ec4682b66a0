#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runnel/core/json/parse.h"
#include "runnel/core/money/decimal.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/model/pricing/price_keys.h"
#include "runnel/model/pricing/price_reader.h"

namespace runnel::model {
namespace {

using Members = std::map<std::string, YAML::Node, std::less<>>;

// The format's keys for the rates of one tier. If two keys for the same rate are present, the later one in
// this list counts.
struct Word {
  std::string_view key;
  std::int64_t Rates::*rate;
};
constexpr std::array kWords{
    Word{"input_cost_per_token", &Rates::input},
    Word{"output_cost_per_token", &Rates::output},
    Word{"input_cost_per_token_cache_hit", &Rates::cache_hit},
    Word{"cache_read_input_token_cost", &Rates::cache_hit},
    Word{"cache_hit_cost_per_token", &Rates::cache_hit},
    Word{"cache_creation_input_token_cost", &Rates::cache_write},
    // LiteLLM applies it only to the reasoning tokens; Runnel applies it to all output of a call in thinking
    // mode (USE-5).
    Word{"output_cost_per_reasoning_token", &Rates::thinking_output},
};

// 128000 for "input_cost_per_token_above_128k_tokens". Empty if the key is not `word` with a threshold.
std::optional<std::int64_t> threshold_of(std::string_view key, std::string_view word) {
  constexpr std::string_view above = "_above_";
  constexpr std::string_view unit = "k_tokens";
  if (!key.starts_with(word)) return std::nullopt;
  key.remove_prefix(word.size());
  if (!key.starts_with(above) || !key.ends_with(unit) || key.size() <= above.size() + unit.size())
    return std::nullopt;
  auto const thousands = parse_units(key.substr(above.size(), key.size() - above.size() - unit.size()), 0);
  auto const* const value = std::get_if<std::int64_t>(&thousands);
  if (value == nullptr || *value == 0 || *value > 1'000'000'000) return std::nullopt;
  return *value * 1000;
}

class CatalogReader {
 public:
  explicit CatalogReader(std::string const& file) : problems_{file} {}

  Result<std::vector<ModelPrices>> read(YAML::Node const& root) {
    bool has_currency = false;
    for_each_member(root, problems_, [&](YAML::Node const& key, YAML::Node const& value) {
      if (key.Scalar() == "currency") {
        has_currency = true;
        check_currency(value, problems_);
      } else if (key.Scalar() != "sample_spec") {
        read_model(key, value);
      }
    });
    if (!has_currency) {
      problems_.add(root,
                    "the file does not say its currency; if its prices are in CNY, add \"currency\": \"CNY\" "
                    "at the top (LiteLLM's own file is in USD, and nothing is converted)");
    }
    if (problems_.any()) return problems_.error();
    return with_short_names();
  }

 private:
  void read_model(YAML::Node const& name, YAML::Node const& node) {
    auto const members = members_of(node);
    ModelPrices model{name.Scalar(), PriceList::litellm_catalog, {}};
    bool const for_text = is_for_text(members);
    if (for_text) model.unusable = check_keys(node);
    if (!for_text && members.contains("tiered_pricing")) return;  // These prices are not for tokens.
    auto tiers = tiers_of(members, model.unusable);
    if (tiers.empty() || !is_priced(tiers)) return;
    PriceEntry entry;
    entry.tiers = std::move(tiers);
    if (model.unusable.empty()) model.entries.push_back(std::move(entry));
    if (auto const provider = members.find("litellm_provider");
        provider != members.end() && provider->second.IsScalar()) {
      auto const prefix = provider->second.Scalar() + "/";
      if (name.Scalar().starts_with(prefix))
        short_names_.emplace(name.Scalar().substr(prefix.size()), name.Scalar());
    }
    models_[name.Scalar()] = std::move(model);
  }

  std::vector<Tier> tiers_of(Members const& members, std::string& unusable) {
    if (auto const list = members.find("pricing_tiers"); list != members.end())
      return read_pricing_tiers(list->second, problems_);
    if (auto const list = members.find("tiered_pricing"); list != members.end())
      return ranges_of(list->second, unusable);
    return thresholds_of(members);
  }

  // Whether a run can use the model. It cannot use models for embeddings, images and the like.
  static bool is_for_text(Members const& members) {
    auto const mode = members.find("mode");
    if (mode == members.end() || !mode->second.IsScalar()) return true;
    auto const& name = mode->second.Scalar();
    return name == "chat" || name == "completion" || name == "responses";
  }

  static bool is_known(std::string const& key) {
    if (key == "tiered_pricing" || key == "pricing_tiers") return true;
    return std::any_of(kWords.begin(), kWords.end(), [&](Word const& word) {
      return key == word.key || threshold_of(key, word.key).has_value();
    });
  }

  // An ignored price would make a bill wrong, so a key that looks like a price but is not known becomes a
  // problem. Returns why the model cannot be used if it has a price that is known but not supported. Empty if
  // it can be used.
  std::string check_keys(YAML::Node const& node) {
    std::string unusable;
    if (!node.IsMap()) return unusable;
    for (auto const& member : node) {
      if (!member.first.IsScalar() || is_known(member.first.Scalar())) continue;
      auto const& key = member.first.Scalar();
      auto const kind = classify_price_key(key);
      if (kind == PriceKey::unknown)
        problems_.add(member.first, fmt::format("'{}' looks like a price, but is not a known key", key));
      if (kind == PriceKey::unsupported)
        unusable = fmt::format("'{}' ({}:{}) is a price that is not supported", key, problems_.file(),
                               member.first.Mark().line + 1);
    }
    return unusable;
  }

  Members members_of(YAML::Node const& node) {
    Members members;
    for_each_member(node, problems_, [&](YAML::Node const& key, YAML::Node const& value) {
      if (!value.IsNull()) members.emplace(key.Scalar(), value);
    });
    return members;
  }

  // Models for images and the like have other prices, and a model whose price is unknown has 0, which does
  // not make it free.
  static bool is_priced(std::vector<Tier> const& tiers) {
    return std::all_of(tiers.begin(), tiers.end(),
                       [](Tier const& tier) { return tier.rates.input > 0 && tier.rates.output > 0; });
  }

  void take_rates(Members const& members, std::string const& suffix, Rates& rates) {
    for (auto const& word : kWords) {
      auto const it = members.find(std::string{word.key} + suffix);
      if (it == members.end()) continue;
      if (auto const value = read_rate(it->second, 0, problems_)) rates.*word.rate = *value;
    }
  }

  // A flat price, and other prices for prompts above a number of tokens. A rate that those leave out is the
  // same as in the tier below.
  std::vector<Tier> thresholds_of(Members const& members) {
    std::set<std::int64_t> thresholds;
    for (auto const& [key, value] : members) {
      for (auto const& word : kWords) {
        if (auto const threshold = threshold_of(key, word.key)) thresholds.insert(*threshold);
      }
    }
    Rates rates;
    take_rates(members, "", rates);
    std::vector<Tier> tiers;
    for (auto const threshold : thresholds) {
      tiers.push_back({threshold, rates});
      take_rates(members, fmt::format("_above_{}k_tokens", threshold / 1000), rates);
    }
    tiers.push_back({std::nullopt, rates});
    return tiers;
  }

  // A list of prices, each with the range of prompt tokens that it is for. The last one also applies beyond
  // its range.
  std::vector<Tier> ranges_of(YAML::Node const& list, std::string& unusable) {
    std::vector<Tier> tiers;
    std::int64_t end = 0;
    if (!list.IsSequence()) problems_.add(list, "'tiered_pricing' must be a list");
    for (auto const& node : list) {
      auto const members = members_of(node);
      if (auto why = check_keys(node); !why.empty()) unusable = std::move(why);
      end = range_end(node, members, end);
      Rates rates;
      take_rates(members, "", rates);
      tiers.push_back({end, rates});
    }
    if (!tiers.empty()) tiers.back().max_prompt_tokens.reset();
    return tiers;
  }

  std::int64_t range_end(YAML::Node const& node, Members const& members, std::int64_t before) {
    auto const range = members.find("range");
    if (range == members.end() || !range->second.IsSequence() || range->second.size() != 2) {
      problems_.add(node, "a price of 'tiered_pricing' needs \"range\": [from, to]");
      return before;
    }
    auto const from = tokens(range->second[0]);
    auto const to = tokens(range->second[1]);
    if (!from || !to || *to <= before || (*from != before && *from != before + 1)) {
      problems_.add(range->second, "each range must begin where the one before ends, and end later");
      return before;
    }
    return *to;
  }

  static std::optional<std::int64_t> tokens(YAML::Node const& node) {
    if (!node.IsScalar()) return std::nullopt;
    auto const units = parse_units(node.Scalar(), 0);
    auto const* const value = std::get_if<std::int64_t>(&units);
    return value == nullptr ? std::nullopt : std::optional{*value};
  }

  // The price of "dashscope/qwen-plus", whose provider is dashscope, is also the price of qwen-plus, unless
  // the file has that name itself or several providers have it.
  std::vector<ModelPrices> with_short_names() {
    std::vector<ModelPrices> all;
    for (auto const& [name, model] : models_)
      all.push_back(model);
    for (auto const& [name, full] : short_names_) {
      if (models_.contains(name) || short_names_.count(name) > 1) continue;
      auto model = models_.at(full);
      model.name = name;
      all.push_back(std::move(model));
    }
    return all;
  }

  YamlProblems problems_;
  std::map<std::string, ModelPrices, std::less<>> models_;
  std::multimap<std::string, std::string, std::less<>> short_names_;
};

}  // namespace

// The text is first checked to be JSON, and then read as YAML, so that numbers keep all their digits and the
// place of every value is known.
Result<std::vector<ModelPrices>> parse_litellm_json(std::string const& text, std::string const& file) {
  if (auto const problem = check_json_text(text)) {
    return Error{Errc::invalid,
                 fmt::format("{}:{}:{}: {}", file, problem->line, problem->column, problem->what)};
  }
  try {
    return CatalogReader{file}.read(YAML::Load(text));
  } catch (YAML::Exception const& error) {
    YamlProblems problem{file};
    problem.add(error.mark, error.msg);
    return problem.error();
  }
}

}  // namespace runnel::model
