#pragma once

#include <boost/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "runnel/core/money/decimal.h"
#include "runnel/core/money/money.h"
#include "runnel/core/time/instant.h"

// For the tests of prices.
namespace runnel::model {

// Reads a time such as "2026-11-16T08:59:59.999+08:00"; the milliseconds may be left out.
inline std::int64_t instant(std::string text) {
  std::int64_t ms = 0;
  if (auto const point = text.find('.'); point != std::string::npos) {
    ms = std::stoll(text.substr(point + 1, 3));
    text.erase(point, 4);
  }
  return parse_instant(text).value() + ms;
}

// The cost of a call, computed only from the price that is frozen with it.
inline Money recompute(std::string const& frozen) {
  auto const price = boost::json::parse(frozen);
  auto const& tokens = price.at("tokens").as_object();
  std::int64_t pico = 0;
  for (auto const& rate : price.at("per_million_tokens").as_object()) {
    std::string_view const text{rate.value().as_string().data(), rate.value().as_string().size()};
    pico += tokens.at(rate.key()).as_int64() * std::get<std::int64_t>(parse_units(text, 6));
  }
  return {pico};
}

}  // namespace runnel::model
