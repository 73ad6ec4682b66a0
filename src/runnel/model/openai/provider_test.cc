#include "runnel/model/openai/provider.h"

#include <gtest/gtest.h>

#include "tests/support/call_answer.h"

namespace runnel::model {
namespace {

TEST(OpenAiProvider, RUN_1_ServesItsNamesAndPatterns) {
  auto options = options_for("local");
  options.name = "bench";
  options.models = {"qwen3", "tok-*"};
  OpenAiProvider const provider{std::move(options), post_to(std::make_shared<Script>())};

  EXPECT_EQ(provider.name(), "bench");
  EXPECT_EQ(provider.models(), (std::vector<std::string>{"qwen3", "tok-*"}));
  EXPECT_TRUE(provider.serves("qwen3"));
  EXPECT_TRUE(provider.serves("tok-200-1000"));
  EXPECT_FALSE(provider.serves("qwen"));
}

TEST(OpenAiProvider, USE_5_SaysWhetherItsCallsThink) {
  auto options = options_for("dashscope");
  for (auto const thinking : {Thinking::vendor_default, Thinking::on, Thinking::off}) {
    options.thinking = thinking;
    OpenAiProvider const provider{options, post_to(std::make_shared<Script>())};
    EXPECT_EQ(provider.thinks(), thinking == Thinking::on);
  }
}

TEST(OpenAiProvider, USE_9_MostOutputCountsThoughtsThatAreLimitedApart) {
  auto options = options_for("dashscope");
  options.thinking = Thinking::on;
  EXPECT_EQ((OpenAiProvider{options, post_to(std::make_shared<Script>())}.most_output(100)), 200);
  options.thinking = Thinking::off;
  EXPECT_EQ((OpenAiProvider{options, post_to(std::make_shared<Script>())}.most_output(100)), 100);
  EXPECT_EQ((OpenAiProvider{options_for("deepseek"), post_to(std::make_shared<Script>())}.most_output(100)),
            100);
}

TEST(OpenAiProvider, USE_10_SaysWhetherItsCallsMayThinkUnseen) {
  auto const may_think = [](char const* vendor, Thinking thinking) {
    auto options = options_for(vendor);
    options.thinking = thinking;
    return OpenAiProvider{std::move(options), post_to(std::make_shared<Script>())}.may_think();
  };
  EXPECT_TRUE(may_think("openai", Thinking::vendor_default));
  EXPECT_FALSE(may_think("openai", Thinking::off));
  EXPECT_TRUE(may_think("deepseek", Thinking::vendor_default));
  EXPECT_FALSE(may_think("dashscope", Thinking::vendor_default));
  EXPECT_FALSE(may_think("local", Thinking::vendor_default));
}

std::string header_of(net::HttpRequest const& request, std::string const& name) {
  for (auto const& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(OpenAiProvider, USE_1_RequestGoesToTheCompletionsOfTheBase) {
  auto const script = std::make_shared<Script>();
  auto options = options_for("deepseek");
  options.base_url = "https://api.deepseek.com/";
  options.timeouts.connect = std::chrono::milliseconds{7};
  (void)start_call(script, std::move(options));

  EXPECT_EQ(script->request.url, "https://api.deepseek.com/chat/completions");
  EXPECT_EQ(header_of(script->request, "authorization"), "Bearer sk-canary-0123456789abcdef");
  EXPECT_EQ(header_of(script->request, "content-type"), "application/json");
  EXPECT_EQ(header_of(script->request, "accept"), "text/event-stream");
  EXPECT_EQ(script->request.connect_timeout, std::chrono::milliseconds{7});
  EXPECT_TRUE(script->request.body.starts_with(R"({"model":"m")"));
}

TEST(OpenAiProvider, USE_1_KeyIsOptional) {
  auto const script = std::make_shared<Script>();
  auto options = options_for("local");
  options.api_key = Secret{};
  (void)start_call(script, std::move(options));

  EXPECT_EQ(header_of(script->request, "authorization"), "");
}

}  // namespace
}  // namespace runnel::model
