#include "runnel/model/openai/vendor.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

TEST(Vendor, USE_1_BuiltInProfilesAreFoundByName) {
  for (auto const& name : vendor_names()) {
    auto const vendor = find_vendor(name);
    ASSERT_TRUE(vendor) << name;
    EXPECT_EQ(vendor->name, name);
  }
  EXPECT_EQ(vendor_names(), (std::vector<std::string>{"deepseek", "dashscope", "openai", "local"}));
  EXPECT_FALSE(find_vendor("other"));
}

TEST(Vendor, USE_1_OnlyDeepSeekThinksUnlessToldNotTo) {
  for (auto const& name : vendor_names()) {
    ProviderOptions options;
    options.vendor = find_vendor(name).value();
    EXPECT_EQ(options.thinks(), name == "deepseek");
    options.thinking = Thinking::off;
    EXPECT_FALSE(options.thinks());
    options.thinking = Thinking::on;
    EXPECT_TRUE(options.thinks());
  }
}

TEST(Vendor, RUN_1_PatternsStandForFamilies) {
  EXPECT_TRUE(matches_pattern("tok-*", "tok-5-0"));
  EXPECT_TRUE(matches_pattern("tok-*", "tok-"));
  EXPECT_TRUE(matches_pattern("*", "anything"));
  EXPECT_TRUE(matches_pattern("*/qwen*-max", "x/qwen3-max"));
  EXPECT_FALSE(matches_pattern("tok-*", "xtok-5"));
  EXPECT_FALSE(matches_pattern("*-max", "qwen-max-1"));
  EXPECT_TRUE(matches_pattern("m", "m"));
  EXPECT_FALSE(matches_pattern("m", "mm"));
}

}  // namespace
}  // namespace runnel::model
