#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/model/pricing/prices.h"

// Reads prices; docs/pricing.md describes the formats. Every function fails with `invalid`, and the detail is
// for the operator: one line per mistake, with file, line and column.
namespace runnel::model {

// Reads the text of a price file in Runnel's own format. `now_ms` decides whether a gap between two entries
// leaves a model without a price; `file` is for messages.
Result<std::vector<ModelPrices>> parse_price_yaml(std::string const& text, std::string const& file,
                                                  std::int64_t now_ms);

// Reads the text of a price file in LiteLLM's format that has "currency": "CNY" at its top.
Result<std::vector<ModelPrices>> parse_litellm_json(std::string const& text, std::string const& file);

// Reads the value of RUNNEL_MODEL_PRICE for `model`: `free`, or the prices of input, output and optionally
// cached input in CNY per million tokens, such as "2,3,0.2". The detail is one line without a place.
Result<ModelPrices> parse_price_setting(std::string model, std::string_view text);

// Reads both files into one book, or fails with the mistakes of both. An empty name stands for no file.
Result<PriceBook> load_price_book(std::string const& yaml_file, std::string const& litellm_file,
                                  std::int64_t now_ms);

}  // namespace runnel::model
