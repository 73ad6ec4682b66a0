#include "runnel/model/pricing/call_cost.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "runnel/core/money/token_estimate.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/model/testing/pricing_test_support.h"

namespace runnel::model {
namespace {

PriceBook costs() {
  PriceBook out;
  for (auto& model : parse_price_yaml(R"(
currency: CNY
models:
  m:
    - until: 2026-12-31T00:00:00Z
      zone: Asia/Shanghai
      tiers:
        - max_prompt_tokens: 100
          per_million_tokens: {input: 1, output: 2, cache_hit: 0.1, cache_write: 1.25, thinking_output: 8}
        - per_million_tokens: {input: 3, output: 4}
      windows:
        - name: peak
          days: [mon]
          hours: ["09:00-12:00"]
          per_million_tokens: {input: 10, output: 20}
  gratis: {free: true}
)",
                                      "p.yaml", 0)
                         .value())
    out.put(std::move(model));
  return out;
}

ReportedUsage whole_usage() {
  ReportedUsage usage;
  usage.input_tokens = 100;
  usage.output_tokens = 50;
  usage.total_tokens = 150;
  return usage;
}

TEST(SettleTokens, USE_3_ReportedNumbersAreTakenFieldByField) {
  ReportedUsage usage = whole_usage();
  usage.cached_tokens = 60;
  usage.cache_hit_tokens = 61;
  usage.cache_miss_tokens = 39;
  usage.cache_write_tokens = 7;
  usage.reasoning_tokens = 20;

  auto const tokens = settle_tokens(usage, {1, 1});

  EXPECT_EQ(tokens, (TokenCounts{100, 50, 150, 60, 61, 39, 7, 20, true}));
}

TEST(SettleTokens, USE_3_AZeroIsAValueAndATotalThatIsMissingIsTheSum) {
  ReportedUsage usage;
  usage.input_tokens = 0;
  usage.output_tokens = 0;
  EXPECT_EQ(settle_tokens(usage, {40, 20}), (TokenCounts{0, 0, 0, 0, 0, 0, 0, 0, true}));

  usage.input_tokens = 100;
  usage.output_tokens = 50;
  EXPECT_EQ(settle_tokens(usage, {40, 20}).total, 150);
}

TEST(SettleTokens, USE_3_HitsAreCachedTokensWhereOnlyTheyAreTold) {
  ReportedUsage usage = whole_usage();
  usage.cache_hit_tokens = 60;

  EXPECT_EQ(settle_tokens(usage, {}).cached, 60);
}

TEST(SettleTokens, USE_10_WhatIsMissingIsEstimatedAndNeverZero) {
  EXPECT_EQ(settle_tokens({}, {40, 20}), (TokenCounts{40, 20, 60, 0, 0, 0, 0, 0, false}));
  EXPECT_EQ(settle_tokens({}, {0, 0}), (TokenCounts{1, 1, 2, 0, 0, 0, 0, 0, false}));
  EXPECT_EQ(settle_tokens({}, {-5, INT64_MAX}),
            (TokenCounts{1, kMostTokens, kMostTokens + 1, 0, 0, 0, 0, 0, false}));

  ReportedUsage usage = whole_usage();
  usage.output_tokens.reset();
  EXPECT_EQ(settle_tokens(usage, {40, 20}), (TokenCounts{100, 20, 120, 0, 0, 0, 0, 0, false}));
}

TEST(SettleTokens, USE_10_NegativeAndAbsurdNumbersAreNotReported) {
  for (auto const absurd : {std::int64_t{-1}, INT64_MIN, kMostTokens + 1, INT64_MAX}) {
    ReportedUsage usage = whole_usage();
    usage.input_tokens = absurd;
    EXPECT_EQ(settle_tokens(usage, {40, 20}), (TokenCounts{40, 50, 90, 0, 0, 0, 0, 0, false})) << absurd;

    usage = whole_usage();
    usage.total_tokens = usage.cached_tokens = usage.cache_hit_tokens = usage.cache_miss_tokens = absurd;
    usage.cache_write_tokens = usage.reasoning_tokens = absurd;
    EXPECT_EQ(settle_tokens(usage, {40, 20}), (TokenCounts{100, 50, 150, 0, 0, 0, 0, 0, true})) << absurd;
  }
}

TEST(SettleTokens, USE_10_ReasoningOutsideOfTheOutputIsSeenByTheTotal) {
  ReportedUsage usage;
  usage.input_tokens = 307;
  usage.output_tokens = 26;
  usage.reasoning_tokens = 227;
  usage.total_tokens = 560;
  EXPECT_EQ(settle_tokens(usage, {}), (TokenCounts{307, 253, 560, 0, 0, 0, 0, 227, true}));

  usage.output_tokens = 253;
  EXPECT_EQ(settle_tokens(usage, {}).output, 253);
}

TEST(PriceCall, USE_6_FreezesWhatTheCostWasComputedFrom) {
  ReportedUsage usage = whole_usage();
  usage.cached_tokens = 30;
  usage.cache_write_tokens = 20;
  auto const tokens = settle_tokens(usage, {});

  auto const evening = price_call(costs(), "m", instant("2026-11-16T20:00:00+08:00"), tokens, true, usage);
  auto const morning = price_call(costs(), "m", instant("2026-11-16T10:00:00+08:00"), tokens, false, usage);
  auto const gratis = price_call(costs(), "gratis", 0, tokens, false, usage);

  EXPECT_EQ(
      evening.price,
      R"({"list":"custom_pricing","model":"m","currency":"CNY","from":null,"until":"2026-12-31T00:00:00Z","zone":"Asia/Shanghai","window":null,"max_prompt_tokens":100,"thinking":true,"free":false,"per_million_tokens":{"input":"1","cache_hit":"0.1","cache_write":"1.25","output":"8"},"tokens":{"input":50,"cache_hit":30,"cache_write":20,"output":50}})");
  EXPECT_EQ(to_decimal(evening.catalog), "0.000478");  // 50 × 1 + 30 × 0.1 + 20 × 1.25 + 50 × 8, per million.
  EXPECT_EQ(
      morning.price,
      R"({"list":"custom_pricing","model":"m","currency":"CNY","from":null,"until":"2026-12-31T00:00:00Z","zone":"Asia/Shanghai","window":"peak","max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"10","cache_hit":"10","cache_write":"10","output":"20"},"tokens":{"input":50,"cache_hit":30,"cache_write":20,"output":50}})");
  EXPECT_EQ(to_decimal(morning.catalog), "0.002");  // 100 × 10 + 50 × 20, per million.
  EXPECT_EQ(gratis.catalog, Money{});
  EXPECT_EQ(gratis.list, PriceList::custom_pricing);
  EXPECT_NE(gratis.price.find(R"("free":true)"), std::string::npos);
}

TEST(PriceCall, WithoutAPriceThereIsNoneInTheOutcome) {
  auto const cost = price_call(costs(), "m", instant("2026-12-31T00:00:00Z"), {}, false, {});

  EXPECT_EQ(cost, CallCost{});
  EXPECT_EQ(cost.list, PriceList::none);
}

TEST(PriceCall, ACostBeyondAllMoneyStaysAtTheMost) {
  TokenCounts tokens;
  tokens.input = tokens.output = INT64_MAX / 2;

  EXPECT_EQ(price_call(costs(), "m", 0, tokens, false, {}).catalog, Money{INT64_MAX});
}

CallCost direct(std::optional<std::string> text, std::string currency) {
  ReportedUsage usage = whole_usage();
  usage.cost = std::move(text);
  usage.cost_currency = std::move(currency);
  return price_call(costs(), "m", 0, settle_tokens(usage, {}), false, usage);
}

TEST(PriceCall, USE_5_AProvidersCostIsValidWhereItIsANonNegativeNumberInCny) {
  struct Case {
    char const* text;
    std::int64_t pico;
  };
  for (auto const& [text, pico] : std::vector<Case>{{"0", 0},
                                                    {"0.0012", 1'200'000'000},
                                                    {"1.2e-3", 1'200'000'000},
                                                    {"1.2300000000000001e-05", 12'300'000},
                                                    {"-0.0", 0},
                                                    {"9223372", 9'223'372'000'000'000'000}}) {
    auto const cost = direct(text, "CNY");
    EXPECT_TRUE(cost.direct_observed) << text;
    EXPECT_EQ(cost.direct, Money{pico}) << text;
  }
}

TEST(PriceCall, USE_5_AnotherTextIsObservedButNotValid) {
  for (auto const* text : {"-1", "-1e-30", "NaN", "Infinity", "", "free", "null", "{}", "[]", "true", "1,5",
                           "9223373", "1e300"}) {
    auto const cost = direct(text, "CNY");
    EXPECT_TRUE(cost.direct_observed) << text;
    EXPECT_EQ(cost.direct, std::nullopt) << text;
  }
}

TEST(PriceCall, USE_6_ACostInAnotherCurrencyIsNotObserved) {
  EXPECT_FALSE(direct("0.0012", "USD").direct_observed);
  EXPECT_FALSE(direct("NaN", "USD").direct_observed);
  EXPECT_FALSE(direct(std::nullopt, "CNY").direct_observed);
  EXPECT_EQ(direct("0.0012", "USD").direct, std::nullopt);

  EXPECT_FALSE(direct("0.0012", "").direct_observed) << "the currency is unknown";
  EXPECT_EQ(direct("0.0012", "").direct, std::nullopt);
}

TEST(WorstCaseCost, USE_9_TakesTheDearestRateOfTheTierAndTheWindow) {
  auto const evening = instant("2026-11-16T20:00:00+08:00");
  auto const morning = instant("2026-11-16T10:00:00+08:00");

  EXPECT_EQ(to_decimal(worst_case_cost(costs(), "m", evening, 100, 10).value()),
            "0.000205");  // 100 × 1.25 + 10 × 8
  EXPECT_EQ(to_decimal(worst_case_cost(costs(), "m", evening, 101, 10).value()),
            "0.000343");  // 101 × 3 + 10 × 4
  EXPECT_EQ(to_decimal(worst_case_cost(costs(), "m", morning, 100, 10).value()),
            "0.0012");  // 100 × 10 + 10 × 20
  EXPECT_EQ(worst_case_cost(costs(), "gratis", evening, 100, 10).value(), Money{});
  EXPECT_EQ(worst_case_cost(costs(), "m", evening, INT64_MAX, INT64_MAX).value(), Money{INT64_MAX});
}

TEST(WorstCaseCost, USE_6_FailsForAModelWithoutAPrice) {
  EXPECT_EQ(worst_case_cost(costs(), "other", 0, 1, 1).error().code, Errc::invalid);
  EXPECT_EQ(worst_case_cost(costs(), "m", instant("2026-12-31T00:00:00Z"), 1, 1).error().code, Errc::invalid);
}

TEST(EstimateTokens, USE_10_CountsCharactersByTheirScript) {
  EXPECT_EQ(estimate_tokens(""), 0);
  EXPECT_EQ(estimate_tokens("a"), 1);
  EXPECT_EQ(estimate_tokens("The quick brown fox jumps over the lazy dog."), 14);  // 44 × 0.3 = 13.2
  EXPECT_EQ(estimate_tokens("今天天气很好，我们去公园散步吧。"), 10);              // 16 × 0.6 = 9.6
  EXPECT_EQ(estimate_tokens("Привет"), 3);                                         // 6 × 0.5
  EXPECT_EQ(estimate_tokens("🙂"), 2);
  EXPECT_EQ(estimate_tokens("你好 ok"), 3);  // 2 × 0.6 + 3 × 0.3 = 2.1
  EXPECT_EQ(estimate_tokens("\xff\xfe"), 1);
}

}  // namespace
}  // namespace runnel::model
