#include "runnel/model/profile.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

TEST(Profile, USE_1_BuiltInProfilesAreFoundByName) {
  for (auto const& name : profile_names()) {
    auto const profile = find_profile(name);
    ASSERT_TRUE(profile) << name;
    EXPECT_EQ(profile->name, name);
  }
  EXPECT_EQ(profile_names(), (std::vector<std::string>{"deepseek", "dashscope", "openai", "local"}));
  EXPECT_FALSE(find_profile("other"));
}

TEST(Profile, USE_1_OnlyDeepSeekThinksUnlessToldNotTo) {
  for (auto const& name : profile_names()) {
    ProviderOptions options;
    options.profile = find_profile(name).value();
    EXPECT_EQ(options.thinks(), name == "deepseek");
    options.thinking = Thinking::off;
    EXPECT_FALSE(options.thinks());
    options.thinking = Thinking::on;
    EXPECT_TRUE(options.thinks());
  }
}

TEST(Profile, RUN_1_PatternsStandForFamilies) {
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
