#include "runnel/model/pricing/price_keys.h"

#include <algorithm>
#include <array>

namespace runnel::model {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPriceWords{"cost"sv, "price"sv, "pricing"sv, "tier"sv};

constexpr std::array kUnsupported{"input_cost_per_request"sv, "output_cost_per_request"sv,
                                  "citation_cost_per_token"sv};

constexpr std::array kOtherWords{
    // Other media, and text that is not counted in tokens.
    "image"sv, "audio"sv, "video"sv, "pixel"sv, "character"sv, "per_second"sv, "per_page"sv, "per_credit"sv,
    // The vendor's own tools.
    "per_query"sv, "per_session"sv, "computer_use"sv, "file_search"sv, "code_interpreter"sv, "vector_store"sv,
    "gb_per_day"sv,
    // Kinds of requests that Runnel does not make, and the same price in a vendor's own unit.
    "_batch"sv, "_priority"sv, "_flex"sv, "_above_1hr"sv, "_dbu_"sv};

template <class Words>
bool has_one_of(Words const& words, std::string_view key) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return key.find(word) != std::string_view::npos; });
}

}  // namespace

PriceKey classify_price_key(std::string_view key) {
  if (key.starts_with("supports_") || !has_one_of(kPriceWords, key)) return PriceKey::none;
  if (std::find(kUnsupported.begin(), kUnsupported.end(), key) != kUnsupported.end())
    return PriceKey::unsupported;
  return has_one_of(kOtherWords, key) ? PriceKey::other : PriceKey::unknown;
}

}  // namespace runnel::model
