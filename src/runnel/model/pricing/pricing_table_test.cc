#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/model/pricing/call_cost.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/model/testing/pricing_test_support.h"

// The costs of calls, computed by hand from the shipped prices, and from other prices for corner cases.
namespace runnel::model {
namespace {

constexpr auto kCorners = R"(
currency: CNY
zone: Asia/Shanghai
models:
  moves:
    - {from: 2026-03-01, per_million_tokens: {input: 3, output: 4}}
    - {until: 2026-03-01, per_million_tokens: {input: 1, output: 2}}
  bare:
    - per_million_tokens: {input: 5, output: 7, cache_hit: 0}
  tiny:
    - per_million_tokens: {input: 0.000001, output: 2e-06}
  mixed:
    - zone: UTC
      per_million_tokens: {input: 5, output: 6}
      windows:
        - name: weekend
          days: [sat, sun]
          hours: ["00:00-24:00"]
          tiers:
            - {max_prompt_tokens: 10, per_million_tokens: {input: 1, output: 2}}
            - {per_million_tokens: {input: 3, output: 4}}
)";

PriceBook const& shipped_prices() {
  static PriceBook const all = [] {
    auto shipped =
        load_price_book(RUNNEL_SOURCE_DIR "/conf/prices.yaml", "", instant("2026-11-16T00:00:00Z")).value();
    for (auto& prices : parse_price_yaml(kCorners, "corners.yaml", instant("2026-11-16T00:00:00Z")).value())
      shipped.put(std::move(prices));
    return shipped;
  }();
  return all;
}

struct Use {
  std::optional<std::int64_t> in = std::nullopt;
  std::optional<std::int64_t> out = std::nullopt;
  std::optional<std::int64_t> hit = std::nullopt;
  std::optional<std::int64_t> cached = std::nullopt;
  std::optional<std::int64_t> write = std::nullopt;
  std::optional<std::int64_t> reasoning = std::nullopt;
  std::optional<std::int64_t> total = std::nullopt;
  bool thinking = false;
};

struct Row {
  char const* what;
  char const* model;
  char const* start;
  Use use;
  char const* cost;
};

ReportedUsage reported(Use const& use) {
  ReportedUsage usage;
  usage.input_tokens = use.in;
  usage.output_tokens = use.out;
  usage.cache_hit_tokens = use.hit;
  usage.cached_tokens = use.cached;
  usage.cache_write_tokens = use.write;
  usage.reasoning_tokens = use.reasoning;
  usage.total_tokens = use.total;
  return usage;
}

// clang-format off
std::vector<Row> const kRows{
    // Cached tokens: none, all and some, under both names for them.
    // (1000 × 1 + 500 × 4) / 1,000,000
    {"nothing said of a cache", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500}, "0.003"},
    // (1000 × 1 + 500 × 4) / 1,000,000
    {"no hit", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 0}, "0.003"},
    // (1000 × 0.02 + 500 × 4) / 1,000,000
    {"all hit", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 1000}, "0.00202"},
    // (400 × 1 + 600 × 0.02 + 500 × 4) / 1,000,000
    {"some hit", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 600}, "0.002412"},
    // (1 × 1 + 999 × 0.02 + 500 × 4) / 1,000,000
    {"all but one hit", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 999}, "0.00202098"},
    // (400 × 1 + 600 × 0.02 + 500 × 4) / 1,000,000
    {"cached_tokens alone", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .cached = 600}, "0.002412"},
    // (400 × 1 + 600 × 0.02 + 500 × 4) / 1,000,000
    {"hit before cached_tokens", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 600, .cached = 100}, "0.002412"},
    // (1000 × 1 + 500 × 4) / 1,000,000
    {"a hit of 0 is a value", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 0, .cached = 600}, "0.003"},
    // (400 × 1 + 600 × 0.02 + 500 × 4) / 1,000,000
    {"a negative hit is none", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = -1, .cached = 600}, "0.002412"},
    // (0 × 1 + 1200 × 0.02 + 500 × 4) / 1,000,000
    {"more cached than there is", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 1200}, "0.002024"},
    // (0 × 1 + 0 × 4) / 1,000,000
    {"no token at all", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 0, .out = 0}, "0"},
    // (1 × 1) / 1,000,000
    {"one token", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1, .out = 0}, "0.000001"},
    // (1 × 0.02) / 1,000,000
    {"one cached token", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1, .out = 0, .hit = 1}, "0.00000002"},
    // (1000000 × 1 + 384000 × 4) / 1,000,000
    {"as much as the model takes", "deepseek-flash", "2026-11-16T20:00:00+08:00", {.in = 1000000, .out = 384000}, "2.536"},
    // (400 × 2 + 600 × 0.04 + 500 × 8) / 1,000,000
    {"cached at peak", "deepseek-flash", "2026-11-16T10:00:00+08:00", {.in = 1000, .out = 500, .hit = 600}, "0.004824"},
    // (400 × 2 + 600 × 0.04 + 500 × 8) / 1,000,000
    {"billed as flash", "deepseek-v4-flash", "2026-11-16T10:00:00+08:00", {.in = 1000, .out = 500, .hit = 600}, "0.004824"},
    // (400 × 4.5 + 600 × 0.15 + 500 × 13.5) / 1,000,000
    {"pro off-peak", "deepseek-v4-pro", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 600}, "0.00864"},
    // (400 × 9 + 600 × 0.3 + 500 × 27) / 1,000,000
    {"pro at peak", "deepseek-v4-pro", "2026-11-16T10:00:00+08:00", {.in = 1000, .out = 500, .hit = 600}, "0.01728"},
    // Peak hours, on both sides of each boundary. 16 November 2026 is a Monday.
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"before the morning", "deepseek-flash", "2026-11-16T08:59:59.999+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the morning begins", "deepseek-flash", "2026-11-16T09:00:00+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the morning's last moment", "deepseek-flash", "2026-11-16T11:59:59.999+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"the morning is over", "deepseek-flash", "2026-11-16T12:00:00+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"before the afternoon", "deepseek-flash", "2026-11-16T13:59:59.999+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the afternoon begins", "deepseek-flash", "2026-11-16T14:00:00+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the afternoon's last moment", "deepseek-flash", "2026-11-16T17:59:59.999+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"the afternoon is over", "deepseek-flash", "2026-11-16T18:00:00+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the same instant told in UTC", "deepseek-flash", "2026-11-16T01:00:00Z", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"and the one before", "deepseek-flash", "2026-11-16T00:59:59.999Z", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"Sunday in New York, Monday in Shanghai", "deepseek-flash", "2026-11-15T20:00:00-05:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"Friday", "deepseek-flash", "2026-11-20T17:59:59.999+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"Saturday", "deepseek-flash", "2026-11-14T10:00:00+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"Sunday", "deepseek-flash", "2026-11-15T15:00:00+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the day before a holiday", "deepseek-flash", "2026-12-31T10:00:00+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"a holiday on a Friday", "deepseek-flash", "2027-01-01T10:00:00+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 1 + 1000000 × 4) / 1,000,000
    {"a holiday's afternoon", "deepseek-flash", "2027-01-01T17:59:59.999+08:00", {.in = 1000000, .out = 1000000}, "5"},
    // (1000000 × 2 + 1000000 × 8) / 1,000,000
    {"the Monday after", "deepseek-flash", "2027-01-04T10:00:00+08:00", {.in = 1000000, .out = 1000000}, "10"},
    // Effective dates. A day begins in the entry's zone.
    // (400 × 2 + 600 × 0.2 + 500 × 3) / 1,000,000
    {"deepseek-chat's last moment", "deepseek-chat", "2026-07-24T15:58:59.999Z", {.in = 1000, .out = 500, .hit = 600}, "0.00242"},
    // (1000 × 1 + 1000 × 2) / 1,000,000
    {"the old price's last moment", "moves", "2026-02-28T23:59:59.999+08:00", {.in = 1000, .out = 1000}, "0.003"},
    // (1000 × 3 + 1000 × 4) / 1,000,000
    {"the new price's first", "moves", "2026-03-01T00:00:00+08:00", {.in = 1000, .out = 1000}, "0.007"},
    // (1000 × 1 + 1000 × 2) / 1,000,000
    {"the last moment in UTC", "moves", "2026-02-28T15:59:59.999Z", {.in = 1000, .out = 1000}, "0.003"},
    // (1000 × 3 + 1000 × 4) / 1,000,000
    {"the first in UTC", "moves", "2026-02-28T16:00:00Z", {.in = 1000, .out = 1000}, "0.007"},
    // A rate that is 0 or missing is not set: another rate applies.
    // (400 × 5 + 600 × 5 + 500 × 7) / 1,000,000
    {"cached at a rate of 0", "bare", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .hit = 600}, "0.0085"},
    // (900 × 5 + 100 × 5 + 500 × 7) / 1,000,000
    {"written at no rate", "bare", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .write = 100}, "0.0085"},
    // (1000 × 5 + 500 × 7) / 1,000,000
    {"thinking at no rate", "bare", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .thinking = true}, "0.0085"},
    // (1000 × 2.4 + 500 × 9.6) / 1,000,000
    {"thinking where there is no such rate", "qwen-max", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .thinking = true}, "0.0072"},
    // (3 × 0.000001 + 4 × 0.000002) / 1,000,000
    {"the smallest rate there is", "tiny", "2026-11-16T20:00:00+08:00", {.in = 3, .out = 4}, "0.000000000011"},
    // (1000000 × 0 + 500 × 0) / 1,000,000
    {"free", "offline", "2026-11-16T20:00:00+08:00", {.in = 1000000, .out = 500}, "0"},
    // (1000000 × 0 + 500 × 0) / 1,000,000
    {"free by its pattern", "tok-5-0", "2026-11-16T20:00:00+08:00", {.in = 1000000, .out = 500}, "0"},
    // Tiers: one tier for all tokens of a call, chosen by its prompt tokens.
    // (127999 × 0.8 + 1000 × 2) / 1,000,000
    {"below the first limit", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 127999, .out = 1000}, "0.1043992"},
    // (128000 × 0.8 + 1000 × 2) / 1,000,000
    {"at the first limit", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 128000, .out = 1000}, "0.1044"},
    // (128001 × 2.4 + 1000 × 20) / 1,000,000
    {"one above it", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 128001, .out = 1000}, "0.3272024"},
    // (256000 × 2.4 + 1000 × 20) / 1,000,000
    {"at the second limit", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 256000, .out = 1000}, "0.6344"},
    // (256001 × 4.8 + 1000 × 48) / 1,000,000
    {"one above it", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 256001, .out = 1000}, "1.2768048"},
    // (3000000 × 4.8 + 1000 × 48) / 1,000,000
    {"the last has no limit", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 3000000, .out = 1000}, "14.448"},
    // (50000 × 2.4 + 150000 × 0.48 + 1000 × 20) / 1,000,000
    {"cached tokens count for the tier", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 200000, .out = 1000, .cached = 150000}, "0.212"},
    // (128001 × 0.48 + 1000 × 20) / 1,000,000
    {"all cached, one above the limit", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 128001, .out = 1000, .cached = 128001}, "0.08144048"},
    // (128000 × 0.8 + 300000 × 2) / 1,000,000
    {"output does not", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 128000, .out = 300000}, "0.7024"},
    // (300000 × 1.2 + 1000 × 12) / 1,000,000
    {"not sliced", "qwen-flash", "2026-11-16T20:00:00+08:00", {.in = 300000, .out = 1000}, "0.372"},
    // (32000 × 2.5 + 700 × 10) / 1,000,000
    {"shipped", "qwen3-max", "2026-11-16T20:00:00+08:00", {.in = 32000, .out = 700}, "0.087"},
    // (32001 × 4 + 700 × 16) / 1,000,000
    {"shipped", "qwen3-max", "2026-11-16T20:00:00+08:00", {.in = 32001, .out = 700}, "0.139204"},
    // (128000 × 4 + 700 × 16) / 1,000,000
    {"shipped", "qwen3-max", "2026-11-16T20:00:00+08:00", {.in = 128000, .out = 700}, "0.5232"},
    // (128001 × 7 + 700 × 28) / 1,000,000
    {"shipped", "qwen3-max", "2026-11-16T20:00:00+08:00", {.in = 128001, .out = 700}, "0.915607"},
    // (32000 × 4 + 700 × 16) / 1,000,000
    {"shipped", "qwen3-coder-plus", "2026-11-16T20:00:00+08:00", {.in = 32000, .out = 700}, "0.1392"},
    // (32001 × 6 + 700 × 24) / 1,000,000
    {"shipped", "qwen3-coder-plus", "2026-11-16T20:00:00+08:00", {.in = 32001, .out = 700}, "0.208806"},
    // (128001 × 10 + 700 × 40) / 1,000,000
    {"shipped", "qwen3-coder-plus", "2026-11-16T20:00:00+08:00", {.in = 128001, .out = 700}, "1.30801"},
    // (256000 × 10 + 700 × 40) / 1,000,000
    {"shipped", "qwen3-coder-plus", "2026-11-16T20:00:00+08:00", {.in = 256000, .out = 700}, "2.588"},
    // (256001 × 20 + 700 × 200) / 1,000,000
    {"shipped", "qwen3-coder-plus", "2026-11-16T20:00:00+08:00", {.in = 256001, .out = 700}, "5.26002"},
    // (256000 × 2 + 700 × 12) / 1,000,000
    {"shipped", "qwen3.5-plus", "2026-11-16T20:00:00+08:00", {.in = 256000, .out = 700}, "0.5204"},
    // (256001 × 1.2 + 700 × 12) / 1,000,000
    {"shipped", "qwen3.5-flash", "2026-11-16T20:00:00+08:00", {.in = 256001, .out = 700}, "0.3156012"},
    // (256001 × 8 + 700 × 48) / 1,000,000
    {"shipped", "qwen3.6-plus", "2026-11-16T20:00:00+08:00", {.in = 256001, .out = 700}, "2.081608"},
    // (256000 × 1.2 + 700 × 7.2) / 1,000,000
    {"shipped", "qwen3.6-flash", "2026-11-16T20:00:00+08:00", {.in = 256000, .out = 700}, "0.31224"},
    // (256001 × 4.8 + 700 × 28.8) / 1,000,000
    {"shipped", "qwen3.6-flash", "2026-11-16T20:00:00+08:00", {.in = 256001, .out = 700}, "1.2489648"},
    // (32001 × 0.6 + 700 × 2.4) / 1,000,000
    {"shipped", "qwen3.7-flash", "2026-11-16T20:00:00+08:00", {.in = 32001, .out = 700}, "0.0208806"},
    // (500000 × 2 + 700 × 8) / 1,000,000
    {"shipped", "qwen3.7-plus", "2026-11-16T20:00:00+08:00", {.in = 500000, .out = 700}, "1.0056"},
    // (1000 × 12 + 700 × 36) / 1,000,000
    {"shipped", "qwen3.7-max", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 700}, "0.0372"},
    // (1000 × 0.8 + 700 × 2.7) / 1,000,000
    {"shipped", "qwen3.8-flash", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 700}, "0.00269"},
    // (1000 × 0.5 + 700 × 2) / 1,000,000
    {"shipped", "qwen-long", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 700}, "0.0019"},
    // (10 × 1 + 1 × 2) / 1,000,000
    {"in a window, at the limit", "mixed", "2026-11-14T10:00:00Z", {.in = 10, .out = 1}, "0.000012"},
    // (11 × 3 + 1 × 4) / 1,000,000
    {"in a window, above it", "mixed", "2026-11-14T10:00:00Z", {.in = 11, .out = 1}, "0.000037"},
    // (11 × 5 + 1 × 6) / 1,000,000
    {"outside, where there is no tier", "mixed", "2026-11-16T10:00:00Z", {.in = 11, .out = 1}, "0.000061"},
    // Tokens written to an explicit cache are subtracted from the uncached ones.
    // (6000 × 0.8 + 4000 × 1 + 100 × 2) / 1,000,000
    {"written", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 10000, .out = 100, .write = 4000}, "0.009"},
    // (3000 × 0.8 + 3000 × 0.16 + 4000 × 1 + 100 × 2) / 1,000,000
    {"written and cached", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 10000, .out = 100, .cached = 3000, .write = 4000}, "0.00708"},
    // (10000 × 1 + 100 × 2) / 1,000,000
    {"all written", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 10000, .out = 100, .write = 10000}, "0.0102"},
    // (0 × 0.8 + 800 × 0.16 + 500 × 1 + 100 × 2) / 1,000,000
    {"more than there is", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 100, .cached = 800, .write = 500}, "0.000828"},
    // (200000 × 3 + 100 × 20) / 1,000,000
    {"written in the second tier", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 200000, .out = 100, .write = 200000}, "0.602"},
    // Thinking: the rate of this mode applies to all output.
    // (1000 × 0.8 + 500 × 2) / 1,000,000
    {"off", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500}, "0.0018"},
    // (1000 × 0.8 + 500 × 8) / 1,000,000
    {"on", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .thinking = true}, "0.0048"},
    // (1000 × 0.8 + 500 × 8) / 1,000,000
    {"on, with some reasoning", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .reasoning = 300, .thinking = true}, "0.0048"},
    // (1000 × 0.8 + 500 × 2) / 1,000,000
    {"off, with reasoning all the same", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .reasoning = 300}, "0.0018"},
    // (128001 × 2.4 + 500 × 24) / 1,000,000
    {"on, second tier", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 128001, .out = 500, .thinking = true}, "0.3192024"},
    // (256001 × 4.8 + 500 × 64) / 1,000,000
    {"on, third tier", "qwen-plus", "2026-11-16T20:00:00+08:00", {.in = 256001, .out = 500, .thinking = true}, "1.2608048"},
    // (1000 × 0.3 + 500 × 0.6) / 1,000,000
    {"turbo, off", "qwen-turbo", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500}, "0.0006"},
    // (1000 × 0.3 + 500 × 3) / 1,000,000
    {"turbo, on", "qwen-turbo", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 500, .thinking = true}, "0.0018"},
    // (307 × 5 + 253 × 7) / 1,000,000
    {"reasoning outside of the output", "bare", "2026-11-16T20:00:00+08:00", {.in = 307, .out = 26, .reasoning = 227, .total = 560}, "0.003306"},
    // (307 × 5 + 253 × 7) / 1,000,000
    {"reasoning inside of it", "bare", "2026-11-16T20:00:00+08:00", {.in = 307, .out = 253, .reasoning = 227, .total = 560}, "0.003306"},
    // (307 × 5 + 253 × 7) / 1,000,000
    {"reasoning, and no total to tell", "bare", "2026-11-16T20:00:00+08:00", {.in = 307, .out = 253, .reasoning = 227}, "0.003306"},
    // Usage that is missing or absurd: the estimates of 40 and 20 are used.
    // (40 × 5 + 20 × 7) / 1,000,000
    {"none", "bare", "2026-11-16T20:00:00+08:00", {}, "0.00034"},
    // (1000 × 5 + 20 × 7) / 1,000,000
    {"no output", "bare", "2026-11-16T20:00:00+08:00", {.in = 1000}, "0.00514"},
    // (40 × 5 + 500 × 7) / 1,000,000
    {"no input", "bare", "2026-11-16T20:00:00+08:00", {.out = 500}, "0.0037"},
    // (40 × 5 + 500 × 7) / 1,000,000
    {"negative", "bare", "2026-11-16T20:00:00+08:00", {.in = -1, .out = 500}, "0.0037"},
    // (1000 × 5 + 20 × 7) / 1,000,000
    {"absurd", "bare", "2026-11-16T20:00:00+08:00", {.in = 1000, .out = 1000000000001}, "0.00514"},
    // (400000000 × 5 + 400000000 × 7) / 1,000,000
    {"the most that is believed", "bare", "2026-11-16T20:00:00+08:00", {.in = 400000000, .out = 400000000}, "4800"},
    // (40 × 2 + 20 × 8) / 1,000,000
    {"none at peak", "deepseek-flash", "2026-11-16T10:00:00+08:00", {}, "0.00024"},
};
// clang-format on

TEST(PricingTable, USE_5_CostsOfCallsAsComputedByHand) {
  ASSERT_GE(kRows.size(), 60U);
  for (auto const& row : kRows) {
    auto const usage = reported(row.use);
    auto const tokens = settle_tokens(usage, {40, 20});
    auto const cost =
        price_call(shipped_prices(), row.model, instant(row.start), tokens, row.use.thinking, usage);

    EXPECT_EQ(to_decimal(cost.catalog), row.cost) << row.model << ": " << row.what << ", " << cost.price;
    EXPECT_EQ(cost.list, PriceList::custom_pricing) << row.model << ": " << row.what;
  }
}

TEST(PricingTable, USE_5_TheFrozenPriceGivesTheSameCostAgain) {
  for (auto const& row : kRows) {
    auto const usage = reported(row.use);
    auto const tokens = settle_tokens(usage, {40, 20});
    auto const cost =
        price_call(shipped_prices(), row.model, instant(row.start), tokens, row.use.thinking, usage);

    EXPECT_EQ(recompute(cost.price), cost.catalog) << row.model << ": " << row.what << ", " << cost.price;
  }
}

}  // namespace
}  // namespace runnel::model
