#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/base/yaml/fields.h"
#include "runnel/model/pricing/prices.h"

namespace runnel::model {

using base::for_each_member;
using base::YamlFields;
using base::YamlProblems;

// The values that a price file sets for all its entries.
struct PriceDefaults {
  std::optional<std::string> currency;
  std::optional<Zone> zone;
};

// The rate in `node`, a decimal number of CNY per 10^`per_tokens` tokens, as 1e-12 CNY per token. If the
// value is not such a number, is finer than this unit or is above kHighestRate, it becomes a problem and the
// result is empty.
std::optional<std::int64_t> read_rate(YAML::Node const& node, int per_tokens, YamlProblems& problems);

// Reads a list of tiers whose prices are per token: `max_prompt_tokens`, `input_cost_per_token` and so on.
// The last tier applies to all larger prompts, whatever limit it names.
std::vector<Tier> read_pricing_tiers(YAML::Node const& list, YamlProblems& problems);

// Reads one entry of a model. The result is usable only if `problems` has none.
PriceEntry read_price_entry(YAML::Node const& node, PriceDefaults const& defaults, YamlProblems& problems);

// Reads the name of a time zone. An unknown name is a problem.
std::optional<Zone> read_zone(YAML::Node const& node, YamlProblems& problems);

// Checks the name of a currency. Any currency except CNY is a problem.
void check_currency(YAML::Node const& node, YamlProblems& problems);

}  // namespace runnel::model
