#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/model/prices.h"

// Reading prices (docs/pricing.md has the formats). All fail with `invalid`; the detail is for the operator:
// a line for each mistake, with file, line and column.
namespace runnel::model {

// The text of a price file in our own format. `now_ms` decides whether a gap between two entries leaves a
// model without a price; `file` is for messages.
Result<std::vector<ModelPrices>> parse_price_yaml(std::string const& text, std::string const& file,
                                                  std::int64_t now_ms);

// The text of a price file in LiteLLM's format that has "currency": "CNY" at its top.
Result<std::vector<ModelPrices>> parse_litellm_json(std::string const& text, std::string const& file);

// What RUNNEL_MODEL_PRICE says of `model`: `free`, or the prices of input, output and, if it has a third,
// cached input, in CNY per million tokens: "2,3,0.2".
Result<ModelPrices> parse_price_setting(std::string model, std::string_view text);

// The book of both files, with the mistakes of both; an empty name: none.
Result<PriceBook> load_price_book(std::string const& yaml_file, std::string const& litellm_file,
                                  std::int64_t now_ms);

}  // namespace runnel::model
