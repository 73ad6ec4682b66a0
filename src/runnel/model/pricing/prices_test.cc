#include "runnel/model/pricing/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runnel/model/testing/pricing_test_support.h"

namespace runnel::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ModelPrices flat(std::string name, PriceList list, std::int64_t input) {
  PriceEntry entry;
  entry.tiers.push_back({std::nullopt, {input, input, 0, 0, 0}});
  return {std::move(name), list, {std::move(entry)}};
}

std::int64_t input_rate(PriceBook const& book, std::string const& model) {
  auto const price = book.find(model, 0, 1);
  return price ? price->tier->rates.input : -1;
}

TEST(PriceBook, USE_5_CustomPricesWinOverTheCatalog) {
  PriceBook book;
  book.put(flat("a", PriceList::custom_pricing, 1));
  book.put(flat("a", PriceList::litellm_catalog, 2));
  book.put(flat("b", PriceList::litellm_catalog, 3));

  EXPECT_EQ(input_rate(book, "a"), 1);
  EXPECT_EQ(input_rate(book, "b"), 3);
  EXPECT_EQ(book.find("b", 0, 1)->model->list, PriceList::litellm_catalog);
  EXPECT_EQ(input_rate(book, "c"), -1);
}

TEST(PriceBook, USE_6_ANameWinsOverAPatternAndTheFirstPatternOverLaterOnes) {
  PriceBook book;
  book.put(flat("llama*", PriceList::custom_pricing, 1));
  book.put(flat("*-local*x", PriceList::custom_pricing, 2));
  book.put(flat("*", PriceList::custom_pricing, 3));
  book.put(flat("llama-3", PriceList::custom_pricing, 4));
  book.put(flat("lla*ma", PriceList::litellm_catalog, 5));

  EXPECT_EQ(input_rate(book, "llama-3"), 4);
  EXPECT_EQ(input_rate(book, "llama-3.1"), 1);
  EXPECT_EQ(input_rate(book, "llama"), 1);
  EXPECT_EQ(input_rate(book, "qwen-local-8x"), 2);
  EXPECT_EQ(input_rate(book, "qwen-localx"), 2);
  EXPECT_EQ(input_rate(book, "qwen-local"), 3);
  EXPECT_EQ(input_rate(book, ""), 3);
}

TEST(PriceBook, AStarInTheCatalogIsAStar) {
  PriceBook book;
  book.put(flat("openrouter/*", PriceList::litellm_catalog, 1));

  EXPECT_EQ(input_rate(book, "openrouter/x"), -1);
}

TEST(PriceBook, LaterPricesOfANameReplaceEarlierOnes) {
  PriceBook book;
  book.put(flat("a", PriceList::custom_pricing, 1));
  book.put(flat("p*", PriceList::custom_pricing, 1));
  book.put(flat("a", PriceList::custom_pricing, 2));
  book.put(flat("p*", PriceList::custom_pricing, 2));

  EXPECT_EQ(input_rate(book, "a"), 2);
  EXPECT_EQ(input_rate(book, "p1"), 2);
}

TEST(PriceBook, USE_6_TellsWhichModelsHaveNoPriceAndWhatToAdd) {
  PriceBook book;
  auto old = flat("old", PriceList::custom_pricing, 1);
  old.entries[0].until = "2026-07-24T15:59:00Z";
  old.entries[0].until_ms = instant("2026-07-24T15:59:00Z");
  auto early = flat("early", PriceList::custom_pricing, 1);
  early.entries[0].from_ms = instant("2027-01-01T00:00:00Z");
  book.put(std::move(old));
  book.put(std::move(early));
  book.put(free_model("tok-*"));
  auto const now = instant("2026-11-16T00:00:00Z");

  std::vector<std::string> const models{"old", "tok-*", "deepseek-3.2", "early", "tok-5-0"};
  EXPECT_THAT(book.unpriced(models, now), ElementsAre("old", "deepseek-3.2", "early"));
  EXPECT_THAT(book.unpriced(models, instant("2026-07-24T15:58:59.999Z")),
              ElementsAre("deepseek-3.2", "early"));

  auto const checked = book.require(models, now, "conf/prices.yaml");
  ASSERT_FALSE(checked);
  auto const& detail = checked.error().detail;
  EXPECT_THAT(
      detail,
      HasSubstr(
          "conf/prices.yaml: model 'deepseek-3.2' has no price; add to this price list, under its models:"));
  EXPECT_THAT(detail, HasSubstr("\"deepseek-3.2\": {free: true}"));
  EXPECT_THAT(detail, HasSubstr("model 'old' has no price now: its last one ended 2026-07-24T15:59:00Z"));
  EXPECT_THAT(detail, HasSubstr("model 'early' has no price now: the next one begins later"));
  EXPECT_THAT(detail, Not(HasSubstr("'tok-5-0'")));
  EXPECT_TRUE(book.require(std::vector<std::string>{"tok-5-0"}, now, "conf/prices.yaml"));
  EXPECT_THAT(book.unpriced(std::vector<std::string>{}, now), IsEmpty());
}

}  // namespace
}  // namespace runnel::model
