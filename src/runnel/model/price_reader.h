#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/base/yaml_fields.h"
#include "runnel/model/prices.h"

namespace runnel::model {

using base::for_each_member;
using base::YamlFields;
using base::YamlProblems;

// What a price file says for all its entries.
struct PriceDefaults {
  std::optional<std::string> currency;
  std::optional<Zone> zone;
};

// The rate in `node`, a decimal number of CNY per 10^`per_tokens` tokens, as 1e-12 CNY per token. What is no
// such number, finer than can be kept or beyond kHighestRate becomes a problem.
std::optional<std::int64_t> read_rate(YAML::Node const& node, int per_tokens, YamlProblems& problems);

// Reads a list of tiers whose prices are per token: `max_prompt_tokens`, `input_cost_per_token` and so on.
// The last one holds for all prompts beyond the others, whatever limit it names.
std::vector<Tier> read_pricing_tiers(YAML::Node const& list, YamlProblems& problems);

// Reads one entry of a model. What it returns is of use only where `problems` has none.
PriceEntry read_price_entry(YAML::Node const& node, PriceDefaults const& defaults, YamlProblems& problems);

// Reads a zone's name.
std::optional<Zone> read_zone(YAML::Node const& node, YamlProblems& problems);

// Reads a currency's name; one that is not CNY is a problem.
void check_currency(YAML::Node const& node, YamlProblems& problems);

}  // namespace runnel::model
