#include "runnel/model/openai/usage_fields.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

TEST(UsageFields, USE_3_DirectFieldsComeFirst) {
  UsageFields direct;
  direct.input_tokens = 0;
  direct.prompt_tokens = 5;
  direct.output_tokens = 0;
  direct.completion_tokens = 6;
  direct.cost = "0";
  direct.total_cost = "7";
  UsageFields metadata;
  metadata.prompt_tokens = 8;
  metadata.completion_tokens = 9;
  metadata.cost = "1";

  auto const usage = collect_usage(direct, metadata);

  EXPECT_EQ(usage.input_tokens, 0);  // A 0 is a value.
  EXPECT_EQ(usage.output_tokens, 0);
  EXPECT_EQ(usage.cost, "0");
}

TEST(UsageFields, USE_3_AbsentFieldsFallThroughToMetadata) {
  UsageFields metadata;
  metadata.prompt_tokens = 10;
  metadata.completion_tokens = 20;
  metadata.total_tokens = 30;
  metadata.cached_tokens = 4;
  metadata.cache_hit_tokens = 4;
  metadata.cache_miss_tokens = 6;
  metadata.reasoning_tokens = 3;
  metadata.total_cost = "0.5";

  auto const usage = collect_usage({}, metadata);

  EXPECT_EQ(usage.input_tokens, 10);
  EXPECT_EQ(usage.output_tokens, 20);
  EXPECT_EQ(usage.total_tokens, 30);
  EXPECT_EQ(usage.cached_tokens, 4);
  EXPECT_EQ(usage.cache_hit_tokens, 4);
  EXPECT_EQ(usage.cache_miss_tokens, 6);
  EXPECT_EQ(usage.reasoning_tokens, 3);
  EXPECT_EQ(usage.cost, "0.5");
}

TEST(UsageFields, USE_3_CostComesBeforeTotalCost) {
  UsageFields direct;
  direct.total_cost = "2";
  UsageFields metadata;
  metadata.cost = "1";
  metadata.total_cost = "3";

  EXPECT_EQ(collect_usage(direct, metadata).cost, "1");
}

TEST(UsageFields, USE_3_AbsentIsNotZero) {
  EXPECT_EQ(collect_usage({}, {}), ReportedUsage{});
}

}  // namespace
}  // namespace runnel::model
