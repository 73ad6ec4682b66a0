#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/model/pricing/call_cost.h"
#include "runnel/model/pricing/price_files.h"

namespace runnel::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ModelPrices> read_catalog(std::string const& text) {
  return parse_litellm_json(text, "l.json").value();
}

std::string catalog_problems(std::string const& text) {
  auto const catalog = parse_litellm_json(text, "l.json");
  return catalog ? "" : catalog.error().detail;
}

std::vector<std::string> names(std::vector<ModelPrices> const& models) {
  std::vector<std::string> out;
  for (auto const& model : models)
    out.push_back(model.name);
  return out;
}

std::vector<Tier> tiers_of(std::string const& members) {
  auto const models = read_catalog(R"({"currency": "CNY", "m": {)" + members + "}}");
  return models.empty() ? std::vector<Tier>{} : models.at(0).entries.at(0).tiers;
}

TEST(LiteLlmPrices, USE_6_AFileThatIsNotInCnyIsRefused) {
  EXPECT_THAT(catalog_problems(R"({"m": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}})"),
              HasSubstr("l.json:1:1: the file does not say its currency; if its prices are in CNY, add "
                        "\"currency\": \"CNY\" at the top"));
  EXPECT_EQ(catalog_problems("{\"currency\":\n \"USD\"}"),
            "l.json:2:2: the currency must be CNY: threads are billed in it, and nothing is converted");
}

TEST(LiteLlmPrices, USE_6_RatesAreReadAsTextExactly) {
  EXPECT_THAT(tiers_of(R"("input_cost_per_token": 1.4e-07, "output_cost_per_token": 2.8E-7,
                          "cache_read_input_token_cost": 0.000000000001, "cache_creation_input_token_cost": 1e-06,
                          "output_cost_per_reasoning_token": 4.2e-07)"),
              ElementsAre(Tier{std::nullopt, {140'000, 280'000, 1, 1'000'000, 420'000}}));
  EXPECT_THAT(
      tiers_of(
          R"("input_cost_per_token":2e-6,"output_cost_per_token":3e-6,"input_cost_per_token_cache_hit":2e-7)"),
      ElementsAre(Tier{std::nullopt, {2'000'000, 3'000'000, 200'000, 0, 0}}));
  EXPECT_THAT(tiers_of(R"("input_cost_per_token":2e-6,"output_cost_per_token":3e-6,
                          "input_cost_per_token_cache_hit":2e-7,"cache_read_input_token_cost":1e-7)"),
              ElementsAre(Tier{std::nullopt, {2'000'000, 3'000'000, 100'000, 0, 0}}));
}

TEST(LiteLlmPrices, USE_5_RangesAreTiersAndTheLastHasNoLimit) {
  EXPECT_THAT(tiers_of(R"("tiered_pricing": [
                {"range": [0, 128000.0], "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
                {"range": [128000, 1e6], "input_cost_per_token": 3e-06, "output_cost_per_token": 4e-06,
                 "output_cost_per_reasoning_token": 5e-06, "cache_read_input_token_cost": 6e-07}])"),
              ElementsAre(Tier{128'000, {1'000'000, 2'000'000, 0, 0, 0}},
                          Tier{std::nullopt, {3'000'000, 4'000'000, 600'000, 0, 5'000'000}}));
}

TEST(LiteLlmPrices, USE_5_ThresholdsAreTiersAndWhatTheyLeaveOutStays) {
  EXPECT_THAT(tiers_of(R"("input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                          "cache_read_input_token_cost": 1e-07,
                          "input_cost_per_token_above_200k_tokens": 3e-06,
                          "output_cost_per_token_above_200k_tokens": 4e-06,
                          "input_cost_per_token_above_512k_tokens": 5e-06,
                          "cache_read_input_token_cost_above_512k_tokens": 5e-07,
                          "cache_creation_input_token_cost_above_1hr": 9e-06)"),
              ElementsAre(Tier{200'000, {1'000'000, 2'000'000, 100'000, 0, 0}},
                          Tier{512'000, {3'000'000, 4'000'000, 100'000, 0, 0}},
                          Tier{std::nullopt, {5'000'000, 4'000'000, 500'000, 0, 0}}));
}

TEST(LiteLlmPrices, USE_5_TiersByPromptTokensAreTaken) {
  EXPECT_THAT(tiers_of(R"("input_cost_per_token": 9e-06, "pricing_tiers": [
                {"max_prompt_tokens": 128000, "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                 "cache_hit_cost_per_token": 1e-07},
                {"max_prompt_tokens": 256000, "input_cost_per_token": 3e-06, "output_cost_per_token": 4e-06},
                {"max_prompt_tokens": 1000000, "input_cost_per_token": 5e-06, "output_cost_per_token": 6e-06,
                 "cache_hit_cost_per_token": 0}])"),
              ElementsAre(Tier{128'000, {1'000'000, 2'000'000, 100'000, 0, 0}},
                          Tier{256'000, {3'000'000, 4'000'000, 0, 0, 0}},
                          Tier{std::nullopt, {5'000'000, 6'000'000, 0, 0, 0}}));
  EXPECT_THAT(tiers_of(R"("pricing_tiers": [
                {"max_prompt_tokens": null, "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}])"),
              ElementsAre(Tier{std::nullopt, {1'000'000, 2'000'000, 0, 0, 0}}));
}

TEST(LiteLlmPrices, USE_5_TheCacheHitRateHasThreeNames) {
  for (auto const* name :
       {"cache_hit_cost_per_token", "cache_read_input_token_cost", "input_cost_per_token_cache_hit"}) {
    EXPECT_THAT(tiers_of(R"("input_cost_per_token": 2e-06, "output_cost_per_token": 3e-06, ")" +
                         std::string{name} + R"(": 2e-07)"),
                ElementsAre(Tier{std::nullopt, {2'000'000, 3'000'000, 200'000, 0, 0}}))
        << name;
  }
}

TEST(LiteLlmPrices, USE_6_AnUnknownPriceIsAMistakeWithItsPlace) {
  EXPECT_EQ(catalog_problems(R"({"currency": "CNY",
"a": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
      "cached_cost_per_token": 1e-07, "input_cost_per_token_above_1m_tokens": 3e-06},
"b": {"price_tiers": [], "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
"c": {"pricing_tiers": [{"max_tokens": 5, "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
                        {"input_cost_per_token": 1e-06}]},
"d": {"tiered_pricing": [{"range": [0, 5], "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
                          "hit_cost": 1}]},
"e": {"pricing_tiers": {}}
})"),
            "l.json:3:7: 'cached_cost_per_token' looks like a price, but is not a known key\n"
            "l.json:3:39: 'input_cost_per_token_above_1m_tokens' looks like a price, but is not a known key\n"
            "l.json:4:7: 'price_tiers' looks like a price, but is not a known key\n"
            "l.json:5:25: 'max_prompt_tokens' is missing; only the last tier has none\n"
            "l.json:5:26: unknown key 'max_tokens'; known here: max_prompt_tokens, input_cost_per_token, "
            "output_cost_per_token, cache_hit_cost_per_token\n"
            "l.json:6:25: 'output_cost_per_token' is missing\n"
            "l.json:8:27: 'hit_cost' looks like a price, but is not a known key\n"
            "l.json:9:24: 'pricing_tiers' must be a list of at least one tier");
}

TEST(LiteLlmPrices, USE_6_PricesOfWhatNoCallAsksForArePassedOver) {
  EXPECT_THAT(tiers_of(R"("mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
    "input_cost_per_image": 1, "output_cost_per_audio_token": 1, "input_cost_per_video_per_second": 1,
    "input_cost_per_character": 1, "input_cost_per_token_batches": 1, "output_cost_per_token_priority": 1,
    "cache_read_input_token_cost_above_272k_tokens_flex": 1, "cache_creation_input_token_cost_above_1hr": 1,
    "search_context_cost_per_query": {"search_context_size_low": 1}, "code_interpreter_cost_per_session": 1,
    "input_dbu_cost_per_token": 1, "supports_service_tier": true, "max_tokens": 5)"),
              ElementsAre(Tier{std::nullopt, {1'000'000, 2'000'000, 0, 0, 0}}));
  EXPECT_EQ(catalog_problems(R"({"currency": "CNY", "ocr": {"mode": "ocr", "ocr_cost_per_sheet": 1},
    "find": {"mode": "search", "tiered_pricing": [{"input_cost_per_query": 1, "max_results_range": [0, 5]}]}})"),
            "");
}

TEST(LiteLlmPrices, USE_6_AModelWithAPriceThatIsNotSupportedIsRefusedOnlyWhereItIsUsed) {
  PriceBook book;
  for (auto& model : read_catalog(R"({"currency": "CNY",
    "pplx": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "input_cost_per_request": 0.005},
    "tiers": {"tiered_pricing": [{"range": [0, 5], "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
                                  "input_cost_per_request": 0.005}]},
    "plain": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}})"))
    book.put(std::move(model));
  std::vector<std::string> const plain{"plain"};
  std::vector<std::string> const used{"pplx"};
  std::vector<std::string> const tiers{"tiers"};

  EXPECT_TRUE(book.require(plain, 0, "p.yaml"));
  EXPECT_THAT(
      book.require(used, 0, "p.yaml").error().detail,
      HasSubstr("model 'pplx' has no price: 'input_cost_per_request' (l.json:2) is a price that is not "
                "supported"));
  EXPECT_THAT(book.require(tiers, 0, "p.yaml").error().detail,
              HasSubstr("model 'tiers' has no price: 'input_cost_per_request' (l.json:4) is a price"));
}

TEST(LiteLlmPrices, USE_6_WhatHasNoPriceForTokensIsNotPriced) {
  auto const models =
      read_catalog(R"({"sample_spec": {"input_cost_per_token": "as documented"}, "currency": "CNY",
    "image": {"mode": "image_generation", "output_cost_per_image": 0.04},
    "embedding": {"input_cost_per_token": 1e-07, "output_cost_per_token": 0.0},
    "unknown": {"input_cost_per_token": 0, "output_cost_per_token": 0},
    "null": {"input_cost_per_token": null, "output_cost_per_token": 1e-07},
    "chat": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "supports_vision": true}})");

  EXPECT_THAT(names(models), ElementsAre("chat"));
  EXPECT_EQ(models[0].list, PriceList::litellm_catalog);
}

TEST(LiteLlmPrices, ANameWithItsProviderInFrontIsKnownWithoutToo) {
  std::string const rates = R"("input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06})";
  auto const models = read_catalog(R"({"currency": "CNY",
    "dashscope/qwen-plus": {"litellm_provider": "dashscope", )" +
                                   rates + R"(,
    "azure/both": {"litellm_provider": "azure", )" +
                                   rates + R"(,
    "groq/both": {"litellm_provider": "groq", )" +
                                   rates + R"(,
    "deepseek/chat": {"litellm_provider": "deepseek", )" +
                                   rates + R"(,
    "chat": {"litellm_provider": "deepseek", )" +
                                   rates + R"(,
    "other/model": {"litellm_provider": "third", )" +
                                   rates + "}");

  EXPECT_THAT(names(models), ElementsAre("azure/both", "chat", "dashscope/qwen-plus", "deepseek/chat",
                                         "groq/both", "other/model", "qwen-plus"));
}

TEST(LiteLlmPrices, USE_6_EachMistakeHasItsPlaceAndAllAreToldAtOnce) {
  EXPECT_EQ(
      catalog_problems(R"({"currency": "CNY",
"a": {"input_cost_per_token": 1.4e-13, "output_cost_per_token": -1},
"b": {"input_cost_per_token": "NaN", "output_cost_per_token": 1},
"c": {"tiered_pricing": [{"input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06}]},
"d": {"tiered_pricing": [{"range": [0, 5]}, {"range": [7, 9]}]},
"e": {"tiered_pricing": {}},
"f": 5
})"),
      "l.json:2:31: the price '1.4e-13' is finer than 1e-12 CNY per token, the smallest unit that is kept\n"
      "l.json:2:65: the price '-1' must not be negative\n"
      "l.json:3:31: the price 'NaN' must be a decimal number\n"
      "l.json:3:63: the price '1' is more than 10000 CNY per million tokens\n"
      "l.json:4:26: a price of 'tiered_pricing' needs \"range\": [from, to]\n"
      "l.json:5:55: each range must begin where the one before ends, and end later\n"
      "l.json:6:25: 'tiered_pricing' must be a list\n"
      "l.json:7:6: expected a map");
  EXPECT_EQ(catalog_problems("{\"currency\": \"CNY\",\n  a: 1}"), "l.json:2:3: not valid JSON");
  EXPECT_EQ(catalog_problems("{\"currency\": \"CNY\", \"m\": {}, \"m\": {}}"),
            "l.json:1:32: the key 'm' occurs twice in one object");
  EXPECT_THAT(catalog_problems("[]"), HasSubstr("l.json:1:1: expected a map"));
}

TEST(LiteLlmPrices, USE_5_CostsAreOfTheCatalog) {
  PriceBook book;
  for (auto& model : read_catalog(
           R"({"currency": "CNY", "m": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
    "cache_read_input_token_cost": 1e-07, "output_cost_per_reasoning_token": 5e-06,
    "input_cost_per_token_above_128k_tokens": 3e-06}})"))
    book.put(std::move(model));
  ReportedUsage usage;
  usage.cached_tokens = 28'000;
  TokenCounts tokens;
  tokens.input = 128'000;
  tokens.output = 1000;
  tokens.reasoning = 400;

  // 100,000 × 1 + 28,000 × 0.1 + 1,000 × 2, per million.
  EXPECT_EQ(to_decimal(price_call(book, "m", 0, tokens, false, usage).catalog), "0.1048");
  // 100,000 × 1 + 28,000 × 0.1 + 1,000 × 5: thinking, so all output at the reasoning rate.
  EXPECT_EQ(to_decimal(price_call(book, "m", 0, tokens, true, usage).catalog), "0.1078");
  tokens.input = 128'001;
  // 100,001 × 3 + 28,000 × 0.1 + 1,000 × 2.
  EXPECT_EQ(to_decimal(price_call(book, "m", 0, tokens, false, usage).catalog), "0.304803");
  EXPECT_EQ(price_call(book, "m", 0, tokens, false, usage).list, PriceList::litellm_catalog);
}

}  // namespace
}  // namespace runnel::model
