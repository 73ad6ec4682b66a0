#include "runnel/model/pricing/price_files.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "runnel/core/money/decimal.h"

namespace runnel::model {
namespace {

constexpr int kPicoPerMillion = 6;  // The decimals of a price in CNY per million tokens.

Result<std::string> read_whole(std::string const& file) {
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in.is_open() || in.bad()) return Error{Errc::invalid, fmt::format("{}: cannot be read", file)};
  return text;
}

Result<std::vector<ModelPrices>> load_yaml(std::string const& file, std::int64_t now_ms) {
  if (file.empty()) return std::vector<ModelPrices>{};
  auto const text = read_whole(file);
  if (!text) return text.error();
  return parse_price_yaml(*text, file, now_ms);
}

Result<std::vector<ModelPrices>> load_litellm(std::string const& file) {
  if (file.empty()) return std::vector<ModelPrices>{};
  auto const text = read_whole(file);
  if (!text) return text.error();
  return parse_litellm_json(*text, file);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> positive_rate(std::string_view text) {
  auto const units = parse_units(text, kPicoPerMillion);
  auto const* const rate = std::get_if<std::int64_t>(&units);
  if (rate == nullptr || *rate == 0 || *rate > kHighestRate) return std::nullopt;
  return *rate;
}

}  // namespace

Result<ModelPrices> parse_price_setting(std::string model, std::string_view text) {
  if (text == "free") return free_model(std::move(model));
  auto const parts = split(text);
  auto const input = positive_rate(parts[0]);
  auto const output = parts.size() > 1 ? positive_rate(parts[1]) : std::nullopt;
  auto const hit = parts.size() > 2 ? positive_rate(parts[2]) : std::optional<std::int64_t>{0};
  if (!input || !output || !hit || parts.size() > 3) {
    return Error{Errc::invalid,
                 fmt::format("RUNNEL_MODEL_PRICE must be `free`, or the prices in CNY per million tokens as "
                             "INPUT,OUTPUT or INPUT,OUTPUT,CACHE_HIT such as 2,3,0.2; it is '{}'",
                             text)};
  }
  PriceEntry entry;
  entry.tiers.push_back({std::nullopt, {*input, *output, *hit, 0, 0}});
  return ModelPrices{std::move(model), PriceList::custom_pricing, {std::move(entry)}};
}

Result<PriceBook> load_price_book(std::string const& yaml_file, std::string const& litellm_file,
                                  std::int64_t now_ms) {
  auto const custom = load_yaml(yaml_file, now_ms);
  auto const catalog = load_litellm(litellm_file);
  if (!custom && !catalog) return Error{Errc::invalid, custom.error().detail + "\n" + catalog.error().detail};
  if (!custom) return custom.error();
  if (!catalog) return catalog.error();
  PriceBook book;
  for (auto const* list : {&*custom, &*catalog}) {
    for (auto const& prices : *list)
      book.put(prices);
  }
  return book;
}

}  // namespace runnel::model
