#include "runnel/model/pricing/usage_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runnel/model/pricing/call_cost.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/model/testing/pricing_test_support.h"

namespace runnel::model {
namespace {

using testing::ElementsAre;

PriceBook const& known_prices() {
  static PriceBook const shipped =
      load_price_book(RUNNEL_SOURCE_DIR "/conf/prices.yaml", "", instant("2026-11-16T00:00:00Z")).value();
  return shipped;
}

// A call of qwen-max with 1,000 input and 100 output tokens. By the price list it costs
// (1,000 × 2.4 + 100 × 9.6) / 1,000,000 = 0.00336. If its usage is missing, the estimates are 500 and 50
// tokens, which cost half of that.
struct BookedCall {
  std::optional<std::string> cost = std::nullopt;
  bool usage = true;
  std::string currency = "CNY";
  CallOutcome outcome = CallOutcome::answered;
};

CallRecord record(BookedCall const& call) {
  ReportedUsage reported;
  if (call.usage) {
    reported.input_tokens = 1000;
    reported.output_tokens = 100;
  }
  reported.cost = call.cost;
  reported.cost_currency = call.currency;
  CallRecord made{"dashscope", "qwen-max", settle_tokens(reported, {500, 50}), {}, 250, call.outcome};
  made.cost =
      price_call(known_prices(), made.model, instant("2026-11-16T10:00:00Z"), made.tokens, false, reported);
  return made;
}

std::vector<CallRecord> records(std::vector<BookedCall> const& calls) {
  std::vector<CallRecord> out;
  for (auto const& call : calls)
    out.push_back(record(call));
  return out;
}

struct Case {
  char const* what;
  std::vector<BookedCall> calls;
  CostSource source;
  char const* cost;
};

BookedCall no_usage(std::optional<std::string> cost) {
  return {std::move(cost), false};
}

BookedCall in_dollars(std::string cost) {
  return {std::move(cost), true, "USD"};
}

BookedCall refused() {
  return {std::nullopt, false, "", CallOutcome::refused};
}

TEST(UsageSummary, USE_5_CostAndItsSourceAreDecidedForAllCallsTogether) {
  using enum CostSource;
  std::vector<Case> const rows{
      {"no call", {}, catalog_fallback, "0"},
      {"no cost", {{}}, catalog_fallback, "0.00336"},
      {"no cost, twice", {{}, {}}, catalog_fallback, "0.00672"},
      {"a cost", {{"0.005"}}, provider, "0.005"},
      {"a cost of zero", {{"0"}}, provider, "0"},
      {"a cost for each", {{"0.005"}, {"1e-12"}}, provider, "0.005000000001"},
      {"a cost for one of two", {{"0.005"}, {}}, catalog_fallback_incomplete_provider_cost, "0.00672"},
      {"a negative one", {{"-0.005"}}, catalog_fallback_incomplete_provider_cost, "0.00336"},
      {"one negative of two", {{"0.005"}, {"-1"}}, catalog_fallback_incomplete_provider_cost, "0.00672"},
      {"not a number", {{"NaN"}}, catalog_fallback_incomplete_provider_cost, "0.00336"},
      {"infinite", {{"Infinity"}}, catalog_fallback_incomplete_provider_cost, "0.00336"},
      {"another currency", {in_dollars("0.005")}, catalog_fallback, "0.00336"},
      {"another currency and ours",
       {in_dollars("0.005"), {"0.005"}},
       catalog_fallback_incomplete_provider_cost,
       "0.00672"},
      {"usage missing", {no_usage(std::nullopt)}, incomplete_usage_fallback, "0.00168"},
      {"usage missing in one of two", {{}, no_usage(std::nullopt)}, incomplete_usage_fallback, "0.00504"},
      {"a cost without usage", {no_usage("0.005")}, incomplete_usage_fallback, "0.00168"},
      {"costs for all, usage for one", {{"0.005"}, no_usage("0.005")}, incomplete_usage_fallback, "0.00504"},
      {"a negative cost without usage", {no_usage("-1")}, incomplete_usage_fallback, "0.00168"},
      {"a refused attempt before an answer", {refused(), {"0.005"}}, provider, "0.005"},
      {"a refused attempt alone", {refused()}, catalog_fallback, "0"},
  };
  for (auto const& row : rows) {
    auto const calls = records(row.calls);
    auto const summary = summarize(calls);

    EXPECT_EQ(summary.cost_source, row.source) << row.what << ": " << to_string(summary.cost_source);
    EXPECT_EQ(to_decimal(summary.cost), row.cost) << row.what;
    ASSERT_EQ(summary.booked.size(), calls.size()) << row.what;
    Money sum;
    for (auto const cost : summary.booked)
      sum = checked_add(sum, cost).value();
    EXPECT_EQ(sum, summary.cost) << row.what;
    bool const listed = summary.price_list != PriceList::none;
    EXPECT_EQ(listed, row.source != provider && summary.model_call_records > 0) << row.what;
  }
}

TEST(UsageSummary, USE_4_SumsTheCallsAndCountsTheRecords) {
  auto calls = records({{"0.005"}, {"-1"}, {}, no_usage(std::nullopt), refused()});
  calls[0].tokens.cached = 1;
  calls[0].tokens.cache_hit = 2;
  calls[1].tokens.cache_miss = 3;
  calls[1].tokens.reasoning = 4;

  auto const summary = summarize(calls);
  std::string text;
  append_usage_summary(text, summary);

  EXPECT_EQ(
      text,
      R"({"input_tokens":3500,"output_tokens":350,"total_tokens":3850,"latency_ms":1000,)"
      R"("cached_prompt_tokens":1,"prompt_cache_hit_tokens":2,"prompt_cache_miss_tokens":3,)"
      R"("reasoning_tokens":4,"direct_cost":"0.005","direct_cost_observed":1,"direct_cost_complete":0,)"
      R"("model_call_records":4,"usage_records":3,"direct_cost_records":2,"cost_source":"catalog_fallback"})");
  EXPECT_FALSE(summary.usage_complete());
}

TEST(UsageSummary, USE_4_CompleteMeansThatEachCallGaveACostValidOrNot) {
  EXPECT_TRUE(summarize(records({{"0.005"}, {"NaN"}})).direct_cost_complete);
  EXPECT_TRUE(summarize(records({{"0.005"}, refused()})).direct_cost_complete);
  EXPECT_FALSE(summarize({}).direct_cost_complete);

  std::string text;
  append_usage_summary(text, summarize(records({{"0.005"}})));
  EXPECT_NE(text.find(R"("direct_cost_complete":1,)"), std::string::npos);
  EXPECT_NE(text.find(R"("cost_source":"provider"})"), std::string::npos);
}

TEST(UsageSummary, USE_5_CustomPricesAreNamedWhereBothListsWereUsed) {
  auto calls = records({{}, {}});
  calls[0].cost.list = PriceList::litellm_catalog;
  EXPECT_EQ(summarize(calls).price_list, PriceList::custom_pricing);
  calls[1].cost.list = PriceList::litellm_catalog;
  EXPECT_EQ(summarize(calls).price_list, PriceList::litellm_catalog);
}

TEST(UsageSummary, USE_8_CallsAreMergedByProviderAndModel) {
  auto calls = records({{}, no_usage(std::nullopt), {}, refused()});
  calls[2].model = "qwen-flash";
  calls[3].model = "never-answered";

  auto const usage = merge_by_model(calls, summarize(calls));

  ASSERT_EQ(usage.size(), 2U);
  EXPECT_EQ(usage[0].provider, "dashscope");
  EXPECT_EQ(usage[0].model, "qwen-max");
  EXPECT_EQ(usage[0].tokens.input, 1500);
  EXPECT_EQ(usage[0].tokens.output, 150);
  EXPECT_EQ(usage[0].tokens.total, 1650);
  EXPECT_EQ(to_decimal(usage[0].cost), "0.00504");
  EXPECT_FALSE(usage[0].tokens.complete);
  EXPECT_EQ(usage[1].model, "qwen-flash");
  EXPECT_TRUE(usage[1].tokens.complete);
  EXPECT_EQ(usage[1].cost_source, CostSource::incomplete_usage_fallback);
}

TEST(UsageSummary, ASumBeyondAllMoneyStaysAtTheMost) {
  auto calls = records({{}, {}});
  calls[0].cost.catalog = calls[1].cost.catalog = Money{INT64_MAX};

  EXPECT_EQ(summarize(calls).cost, Money{INT64_MAX});
}

CallRecord random_call(std::mt19937_64& random) {
  static std::vector<std::string> const models{"deepseek-flash", "deepseek-v4-pro", "qwen-plus",
                                               "qwen3-coder-plus", "qwen3.7-flash"};
  auto const up_to = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>{0, most}(random);
  };
  ReportedUsage usage;
  usage.input_tokens = up_to(1'000'000);
  usage.output_tokens = up_to(400'000);
  if (up_to(1) == 0) usage.cache_hit_tokens = up_to(*usage.input_tokens);
  if (up_to(1) == 0) usage.cache_write_tokens = up_to(1000);
  if (up_to(19) == 0) usage.output_tokens.reset();
  CallRecord made{"p", models[static_cast<std::size_t>(up_to(4))], settle_tokens(usage, {300, 30}), {}, 1,
                  {}};
  static auto const first = instant("2026-10-17T00:00:00Z");
  auto const start = first + up_to(std::int64_t{60} * 24 * 3600 * 1000);
  made.cost = price_call(known_prices(), made.model, start, made.tokens, up_to(1) == 0, usage);
  return made;
}

// Adds the texts that rows show.
std::string add_decimals(std::string const& a, std::string const& b) {
  auto const pico = [](std::string const& text) { return std::get<std::int64_t>(parse_units(text, 12)); };
  return to_decimal({pico(a) + pico(b)});
}

TEST(UsageSummary, USE_8_SumOfAHundredThousandRowsIsTheAggregateToTheLastDigit) {
  std::mt19937_64 random{4};
  std::vector<CallRecord> calls;
  for (int n = 0; n < 100'000; ++n)
    calls.push_back(random_call(random));

  auto const summary = summarize(calls);

  std::string rows = "0";
  for (auto const cost : summary.booked)
    rows = add_decimals(rows, to_decimal(cost));
  EXPECT_EQ(rows, to_decimal(summary.cost));
  std::string models = "0";
  for (auto const& usage : merge_by_model(calls, summary))
    models = add_decimals(models, to_decimal(usage.cost));
  EXPECT_EQ(models, rows);
}

TEST(UsageSummary, USE_6_TheFrozenPricesOfRandomCallsGiveTheirCosts) {
  std::mt19937_64 random{5};
  for (int n = 0; n < 3000; ++n) {
    auto const call = random_call(random);
    ASSERT_EQ(recompute(call.cost.price), call.cost.catalog) << call.cost.price;
  }
}

}  // namespace
}  // namespace runnel::model
