#include "runnel/model/pricing/price_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runnel/model/testing/pricing_test_support.h"

namespace runnel::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::int64_t now() {
  return instant("2026-11-16T00:00:00Z");
}

std::string problems(std::string const& text) {
  auto const read = parse_price_yaml(text, "p.yaml", now());
  return read ? "" : read.error().detail;
}

// The problems of a file that has these price entries, from line 3, column 5 on.
std::string problems_of_entry(std::string const& entry) {
  return problems("models:\n  m:\n    - " + entry + "\n");
}

TEST(PriceYaml, USE_6_ShippedPricesAreReadAndAllModelsInSaleArePriced) {
  auto const book = load_price_book(RUNNEL_SOURCE_DIR "/conf/prices.yaml", "", now()).value();

  std::vector<std::string> const models{
      "deepseek-flash", "deepseek-v4-flash", "deepseek-v4-pro", "qwen-plus",        "qwen-flash",
      "qwen-max",       "qwen3-max",         "qwen3.5-plus",    "qwen3.5-flash",    "qwen3.6-plus",
      "qwen3.6-flash",  "qwen3.7-plus",      "qwen3.7-flash",   "qwen3.7-max",      "qwen3.8-flash",
      "qwen-turbo",     "qwen-long",         "offline",         "qwen3-coder-plus", "tok-5-0"};
  EXPECT_THAT(book.unpriced(models, now()), IsEmpty());
  std::vector<std::string> const others{"deepseek-chat", "deepseek-3.2"};
  EXPECT_THAT(book.unpriced(others, now()), ElementsAre("deepseek-chat", "deepseek-3.2"));
}

TEST(PriceYaml, USE_6_ReadsEverythingThatAnEntryMaySay) {
  auto const models = parse_price_yaml(R"(
currency: CNY
models:
  m:
    - from: 2026-03-01T00:00:00+08:00
      until: 2026-03-02T00:00:00+08:00
      zone: Asia/Shanghai
      tiers:
        - max_prompt_tokens: 1e3
          per_million_tokens: {input: 0.8, output: 2, cache_hit: 0.16, cache_write: 1, thinking_output: 8}
        - per_million_tokens: {input: 2.4, output: 20}
      windows:
        - name: peak
          days: [mon, sun]
          hours: ["09:00-12:00", "14:00-18:00"]
          except: [2026-10-01]
          per_million_tokens: {input: 10000, output: 0.000001}
)",
                                       "p.yaml", now())
                          .value();

  ASSERT_EQ(models.size(), 1U);
  ASSERT_EQ(models[0].entries.size(), 1U);
  auto const& entry = models[0].entries[0];
  EXPECT_EQ(entry.from, "2026-03-01T00:00:00+08:00");
  EXPECT_EQ(entry.from_ms, instant("2026-02-28T16:00:00Z"));
  EXPECT_EQ(entry.until_ms, instant("2026-03-01T16:00:00Z"));
  EXPECT_EQ(entry.zone->name(), "Asia/Shanghai");
  EXPECT_THAT(entry.tiers, ElementsAre(Tier{1000, {800'000, 2'000'000, 160'000, 1'000'000, 8'000'000}},
                                       Tier{std::nullopt, {2'400'000, 20'000'000, 0, 0, 0}}));
  ASSERT_EQ(entry.windows.size(), 1U);
  auto const& window = entry.windows[0];
  EXPECT_EQ(window.name, "peak");
  EXPECT_THAT(window.days, ElementsAre(std::chrono::Monday, std::chrono::Sunday));
  EXPECT_THAT(window.hours, ElementsAre(Hours{540, 720}, Hours{840, 1080}));
  EXPECT_THAT(window.except, ElementsAre(parse_day("2026-10-01").value()));
  EXPECT_THAT(window.tiers, ElementsAre(Tier{std::nullopt, {kHighestRate, 1, 0, 0, 0}}));
}

TEST(PriceYaml, USE_6_EntriesAreInTheOrderOfTime) {
  auto const models = parse_price_yaml(R"(
{currency: CNY, zone: UTC, models: {m: [
  {from: 2026-03-01, per_million_tokens: {input: 2, output: 2}},
  {until: 2026-03-01, per_million_tokens: {input: 1, output: 1}}]}})",
                                       "p.yaml", now())
                          .value();

  EXPECT_EQ(models[0].entries[0].until, "2026-03-01");
  EXPECT_EQ(models[0].entries[1].from, "2026-03-01");
}

struct Mistake {
  std::string text;
  std::string expected;
};

TEST(PriceYaml, USE_6_EachMistakeInAnEntryHasItsPlace) {
  std::vector<Mistake> const mistakes{
      {"{per_million_tokens: {input: 1, output: 1}}", "p.yaml:3:7: 'currency' is missing; add currency: CNY"},
      {"{currency: USD, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:18: the currency must be CNY: threads are billed in it, and nothing is converted"},
      {"{currency: [CNY], per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:18: the currency must be CNY"},
      {"{currency: CNY, price: 3, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:23: unknown key 'price'; known here: currency, from, until, zone, per_million_tokens, "
       "tiers, "
       "windows"},
      {"{currency: CNY, currency: CNY, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:23: 'currency' is set twice"},
      {"{currency: CNY}",
       "p.yaml:3:7: the price must be given once, in either 'per_million_tokens' or 'tiers'"},
      {"{currency: CNY, per_million_tokens: {input: 1, output: 1}, tiers: []}",
       "p.yaml:3:7: the price must be given once, in either 'per_million_tokens' or 'tiers'"},
      {"{currency: CNY, tiers: []}", "p.yaml:3:30: 'tiers' must have at least one tier"},
      {"{currency: CNY, per_million_tokens: {output: 1}}", "p.yaml:3:43: 'input' is missing"},
      {"{currency: CNY, per_million_tokens: {input: 1}}", "p.yaml:3:43: 'output' is missing"},
      {"{currency: CNY, per_million_tokens: {input: 0, output: 1}}",
       "p.yaml:3:51: 'input' must be more than 0; for a model that costs nothing write free: true"},
      {"{currency: CNY, per_million_tokens: {input: cheap, output: 1}}",
       "p.yaml:3:51: the price 'cheap' must be a decimal number"},
      {"{currency: CNY, per_million_tokens: {input: [1], output: 1}}",
       "p.yaml:3:51: must be a decimal number"},
      {"{currency: CNY, per_million_tokens: {input: .nan, output: 1}}",
       "p.yaml:3:51: the price '.nan' must be a decimal number"},
      {"{currency: CNY, per_million_tokens: {input: -1, output: 1}}",
       "p.yaml:3:51: the price '-1' must not be negative"},
      {"{currency: CNY, per_million_tokens: {input: 0.0000001, output: 1}}",
       "p.yaml:3:51: the price '0.0000001' is finer than 1e-12 CNY per token"},
      {"{currency: CNY, per_million_tokens: {input: 10000.1, output: 1}}",
       "p.yaml:3:51: the price '10000.1' is more than 10000 CNY per million tokens"},
      {"{currency: CNY, per_million_tokens: {input: 1e99, output: 1}}",
       "p.yaml:3:51: the price '1e99' is more than 10000 CNY per million tokens"},
      {"{currency: CNY, from: 2026-03-01, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:29: 'from' is a day, which begins at a different time in each zone; add a 'zone'"},
      {"{currency: CNY, until: yesterday, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:30: 'until' must be a day such as 2026-10-17 or an instant such as 2026-07-24T15:59:00Z"},
      {"{currency: CNY, until: 2026-03-01T00:00Z, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:30: 'until' must be a day such as 2026-10-17 or an instant such as 2026-07-24T15:59:00Z"},
      {"{currency: CNY, zone: Mars/Utopia, per_million_tokens: {input: 1, output: 1}}",
       "p.yaml:3:29: 'Mars/Utopia' is not a time zone in the IANA database"},
      {"{currency: CNY, from: 2026-03-01T00:00:00Z, until: 2026-03-01T00:00:00Z, per_million_tokens: {input: "
       "1, "
       "output: 1}}",
       "p.yaml:3:7: 'until' must be later than 'from'"},
      {"{currency: CNY, tiers: [{per_million_tokens: {input: 1, output: 1}}, {per_million_tokens: {input: 1, "
       "output: 1}}]}",
       "p.yaml:3:31: 'max_prompt_tokens' is missing; only the last tier has none"},
      {"{currency: CNY, tiers: [{max_prompt_tokens: 5, per_million_tokens: {input: 1, output: 1}}]}",
       "p.yaml:3:51: the last tier must not have 'max_prompt_tokens'"},
      {"{currency: CNY, tiers: [{max_prompt_tokens: many, per_million_tokens: {input: 1, output: 1}}, "
       "{per_million_tokens: {input: 1, output: 1}}]}",
       "p.yaml:3:51: 'max_prompt_tokens' must be a whole number above 0"},
      {"{currency: CNY, tiers: [{max_prompt_tokens: 5}, {per_million_tokens: {input: 1, output: 1}}]}",
       "p.yaml:3:31: 'per_million_tokens' is missing"},
  };
  for (auto const& mistake : mistakes) {
    auto const detail = problems_of_entry(mistake.text);
    EXPECT_THAT(detail, HasSubstr(mistake.expected)) << mistake.text;
    EXPECT_EQ(std::count(detail.begin(), detail.end(), '\n'), 0) << detail;
  }
}

TEST(PriceYaml, USE_5_PricesPerTokenAreTakenToo) {
  auto const models = parse_price_yaml(R"(
currency: CNY
models:
  flat:
    - {input_cost_per_token: 2e-06, output_cost_per_token: 0.000003, cache_hit_cost_per_token: 2e-7}
  tiered:
    - pricing_tiers:
        - {max_prompt_tokens: 128000, input_cost_per_token: 1e-06, output_cost_per_token: 2e-06,
           cache_hit_cost_per_token: 1e-07}
        - {max_prompt_tokens: 256000, input_cost_per_token: 3e-06, output_cost_per_token: 4e-06}
)",
                                       "p.yaml", now())
                          .value();

  EXPECT_THAT(models.at(0).entries.at(0).tiers,
              ElementsAre(Tier{std::nullopt, {2'000'000, 3'000'000, 200'000, 0, 0}}));
  EXPECT_THAT(models.at(1).entries.at(0).tiers,
              ElementsAre(Tier{128'000, {1'000'000, 2'000'000, 100'000, 0, 0}},
                          Tier{std::nullopt, {3'000'000, 4'000'000, 0, 0, 0}}));
}

TEST(PriceYaml, USE_5_MistakesInPricesPerTokenHaveTheirPlaces) {
  EXPECT_EQ(problems_of_entry("{currency: CNY, input_cost_per_token: 1e-6}"),
            "p.yaml:3:7: 'output_cost_per_token' is missing");
  EXPECT_EQ(problems_of_entry(
                "{currency: CNY, input_cost_per_token: 1e-6, per_million_tokens: {input: 1, output: 1}}"),
            "p.yaml:3:7: the price must be given once, in either 'per_million_tokens' or 'tiers'");
  EXPECT_EQ(problems_of_entry("{currency: CNY, pricing_tiers: 5}"),
            "p.yaml:3:38: 'pricing_tiers' must be a list of at least one tier");
  EXPECT_THAT(problems_of_entry("{currency: CNY, pricing_tiers: [{input_cost_per_token: 1e-6, hit_cost: 1, "
                                "output_cost_per_token: 1e-6}]}"),
              HasSubstr("unknown key 'hit_cost'"));
}

TEST(PriceYaml, USE_6_TiersAscend) {
  auto const detail = problems_of_entry(
      "{currency: CNY, tiers: [{max_prompt_tokens: 5, per_million_tokens: {input: 1, output: 1}},\n"
      "       {max_prompt_tokens: 5, per_million_tokens: {input: 1, output: 1}},\n"
      "       {per_million_tokens: {input: 1, output: 1}}]}");

  EXPECT_EQ(detail, "p.yaml:4:8: 'max_prompt_tokens' must be more than in the tier before");
}

// The problems of an entry with this window, which begins in line 6, column 11.
std::string problems_of_window(std::string const& windows) {
  return problems_of_entry(
      "currency: CNY\n      per_million_tokens: {input: 1, output: 1}\n      windows:\n        - " + windows +
      "\n      zone: Asia/Shanghai");
}

TEST(PriceYaml, USE_6_EachMistakeInAWindowHasItsPlace) {
  std::string const rates = "per_million_tokens: {input: 1, output: 1}}";
  std::vector<Mistake> const mistakes{
      {"{days: [mon], hours: [\"09:00-12:00\"], " + rates, "p.yaml:6:11: a window needs a 'name'"},
      {"{name: peak, hours: [\"09:00-12:00\"], " + rates, "p.yaml:6:11: 'days' is missing"},
      {"{name: peak, days: [mon], " + rates,
       "p.yaml:6:11: 'hours' is missing; for the whole day write 00:00-24:00"},
      {"{name: peak, days: mon, hours: [\"09:00-12:00\"], " + rates, "p.yaml:6:30: 'days' must be a list"},
      {"{name: peak, days: [Montag], hours: [\"09:00-12:00\"], " + rates,
       "p.yaml:6:31: 'days' must be mon, tue, wed, thu, fri, sat or sun"},
      {"{name: peak, days: [mon], hours: [\"22:00-06:00\"], " + rates,
       "p.yaml:6:45: 'hours' must be times of one day such as 09:00-12:00, and the end must be later than "
       "the beginning"},
      {"{name: peak, days: [mon], hours: [\"09:00-12:00\", \"11:59-13:00\"], " + rates,
       "p.yaml:6:11: 'hours' overlap"},
      {"{name: peak, days: [mon], hours: [\"09:00-12:00\"], except: [Easter], " + rates,
       "p.yaml:6:70: 'except' must be a day such as 2026-10-01"},
      {"{name: peak, days: [mon], hours: [\"09:00-12:00\"]}",
       "p.yaml:6:11: the price must be given once, in either 'per_million_tokens' or 'tiers'"},
      {"{name: peak, days: [mon], hours: [\"09:00-12:00\"], zone: UTC, " + rates,
       "p.yaml:6:61: unknown key 'zone'"},
      {"{name: a, days: [mon, tue], hours: [\"09:00-12:00\"], " + rates +
           "\n        - {name: b, days: [tue], hours: [\"11:59-13:00\"], " + rates,
       "p.yaml:7:11: window 'b' overlaps window 'a'"},
  };
  for (auto const& mistake : mistakes) {
    auto const detail = problems_of_window(mistake.text);
    EXPECT_THAT(detail, HasSubstr(mistake.expected)) << mistake.text;
    EXPECT_EQ(std::count(detail.begin(), detail.end(), '\n'), 0) << detail;
  }
  EXPECT_EQ(problems_of_window("{name: a, days: [mon], hours: [\"09:00-12:00\"], " + rates +
                               "\n        - {name: b, days: [mon], hours: [\"12:00-13:00\"], " + rates),
            "");
}

TEST(PriceYaml, USE_6_WindowsNeedAZone) {
  EXPECT_EQ(problems_of_entry(
                "{currency: CNY, per_million_tokens: {input: 1, output: 1}, windows: [{name: a, days: "
                "[mon], hours: [\"09:00-12:00\"], per_million_tokens: {input: 1, output: 1}}]}"),
            "p.yaml:3:7: an entry with windows needs a 'zone', such as Asia/Shanghai");
}

TEST(PriceYaml, USE_6_EntriesMayNotOverlap) {
  std::string const head = "currency: CNY\nzone: UTC\nmodels:\n  m:\n";
  std::string const rates = "per_million_tokens: {input: 1, output: 1}}\n";

  EXPECT_EQ(problems(head + "    - {until: 2026-03-02, " + rates + "    - {from: 2026-03-01, " + rates),
            "p.yaml:6:7: this entry overlaps the entry of 'm' in line 5");
  EXPECT_EQ(problems(head + "    - {" + rates + "    - {" + rates),
            "p.yaml:6:7: this entry overlaps the entry of 'm' in line 5");
  EXPECT_EQ(problems(head + "    - {until: 2026-03-01, " + rates + "    - {from: 2026-03-01, " + rates), "");
}

TEST(PriceYaml, USE_6_AGapIsAMistakeWhereThePresentLiesInIt) {
  std::string const head = "currency: CNY\nzone: UTC\nmodels:\n  m:\n";
  std::string const rates = "per_million_tokens: {input: 1, output: 1}}\n";

  EXPECT_EQ(
      problems(head + "    - {until: 2026-11-16, " + rates + "    - {from: 2026-11-17, " + rates),
      "p.yaml:6:7: 'm' has no price now: the entry in line 5 ended 2026-11-16, this one begins 2026-11-17");
  EXPECT_EQ(problems(head + "    - {until: 2026-11-15, " + rates + "    - {from: 2026-11-16, " + rates), "");
  EXPECT_EQ(problems(head + "    - {until: 2026-11-17, " + rates + "    - {from: 2026-11-18, " + rates), "");
}

TEST(PriceYaml, USE_6_EachMistakeOfTheFileHasItsPlace) {
  EXPECT_EQ(problems("models: {m: {free: true}}\nmodel: {}"),
            "p.yaml:2:1: unknown key 'model'; known here: currency, zone, models; did you mean models?");
  EXPECT_EQ(problems("currency: CNY"), "p.yaml:1:1: 'models' is missing");
  EXPECT_EQ(problems("currency: EUR\nmodels: {m: {free: true}}"),
            "p.yaml:1:11: the currency must be CNY: threads are billed in it, and nothing is converted");
  EXPECT_EQ(problems("zone: Moon\nmodels: {m: [{currency: CNY, from: 2026-01-01, per_million_tokens: {input: "
                     "1, output: 1}}]}"),
            "p.yaml:1:7: 'Moon' is not a time zone in the IANA database, such as Asia/Shanghai");
  EXPECT_EQ(problems("models:\n  m: {free: yes}"),
            "p.yaml:2:6: a model needs a list of price entries, or free: true");
  EXPECT_EQ(problems("models:\n  m: 3"),
            "p.yaml:2:3: model 'm' needs a list of price entries, or free: true");
  EXPECT_EQ(problems("models:\n  m: []"),
            "p.yaml:2:3: model 'm' needs a list of price entries, or free: true");
  EXPECT_EQ(problems("models:\n  m: {free: true}\n  m: {free: true}"), "p.yaml:3:3: 'm' is set twice");
  EXPECT_EQ(problems("models: 3"), "p.yaml:1:9: expected a map");
  EXPECT_EQ(
      problems("models:\n  m: [3]"),
      "p.yaml:2:7: expected a map\np.yaml:2:7: 'currency' is missing; add currency: CNY, here or for "
      "the whole file\np.yaml:2:7: the price must be given once, in either 'per_million_tokens' or 'tiers'");
  EXPECT_THAT(problems("models:\n  m: [}"), HasSubstr("p.yaml:2:7: "));
  EXPECT_THAT(problems(""), HasSubstr("p.yaml"));
}

TEST(PriceYaml, USE_6_AllMistakesAreToldAtOnceAndThoseOfAnAliasOnce) {
  auto const detail = problems(R"(currency: USD
models:
  a: &a
    - per_million_tokens: {input: x, output: 1}
  b: *a
  c: []
)");

  EXPECT_EQ(detail,
            "p.yaml:1:11: the currency must be CNY: threads are billed in it, and nothing is converted\n"
            "p.yaml:4:35: the price 'x' must be a decimal number\n"
            "p.yaml:6:3: model 'c' needs a list of price entries, or free: true");
}

TEST(PriceSetting, USE_6_IsFreeOrTwoOrThreePricesPerMillion) {
  auto const three = parse_price_setting("m", "2,3,0.2").value();
  auto const two = parse_price_setting("m", "2,3").value();

  EXPECT_THAT(three.entries[0].tiers, ElementsAre(Tier{std::nullopt, {2'000'000, 3'000'000, 200'000, 0, 0}}));
  EXPECT_THAT(two.entries[0].tiers, ElementsAre(Tier{std::nullopt, {2'000'000, 3'000'000, 0, 0, 0}}));
  EXPECT_TRUE(parse_price_setting("m", "free").value().entries[0].free);
  for (auto const* text :
       {"", "2", "2,", ",3", "2,3,", "2,3,0.2,1", "0,3", "2,0", "2,-3", "2, 3", "cheap", "2,1e-7", "1e9,1"}) {
    auto const refused = parse_price_setting("m", text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().detail, HasSubstr("RUNNEL_MODEL_PRICE must be `free`"));
  }
}

TEST(PriceFiles, USE_6_AFileThatCannotBeReadIsNamed) {
  auto const book = load_price_book("/nowhere/p.yaml", "/nowhere/l.json", now());

  ASSERT_FALSE(book);
  EXPECT_EQ(book.error().detail, "/nowhere/p.yaml: cannot be read\n/nowhere/l.json: cannot be read");
  EXPECT_TRUE(load_price_book("", "", now()));
}

}  // namespace
}  // namespace runnel::model
