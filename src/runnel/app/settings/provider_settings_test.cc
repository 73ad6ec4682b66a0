#include "runnel/app/settings/provider_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace runnel::app {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::string>;
using Environment = std::vector<char const*>;  // Ends with null.

std::vector<ProviderSettings> providers_in(std::string const& yaml) {
  return read_providers(YAML::Load(yaml), "FILE").value();
}

std::string provider_refusal(std::string const& yaml) {
  auto const providers = read_providers(YAML::Load(yaml), "FILE");
  return providers ? "accepted" : providers.error().detail;
}

Texts names_of(std::vector<ProviderSettings> const& providers) {
  Texts out;
  for (auto const& provider : providers)
    out.push_back(provider.name);
  return out;
}

std::vector<ProviderSettings> with_variables(Environment const& environment,
                                             std::vector<ProviderSettings> configured = {}) {
  return with_environment(std::move(configured), environment.data()).value();
}

std::string refused_variables(Environment const& environment) {
  auto const providers = with_environment({}, environment.data());
  return providers ? "accepted" : providers.error().detail;
}

TEST(ProviderSettings, CFG_1_EntryHasAllItSays) {
  auto const provider = providers_in(R"(
- name: mine
  profile: openai
  base_url: https://models.example/v1//
  api_key_file: /run/key
  models: [a, "b-*"]
  free: true
  thinking: "off"
  reasoning_effort: high
  max_output_tokens: 4096
  connect_timeout_s: 1
  first_token_timeout_s: 2
  idle_timeout_s: 3
  total_timeout_s: 4
  http2: true
)")
                            .at(0);

  EXPECT_EQ(provider.name, "mine");
  EXPECT_EQ(provider.profile, "openai");
  EXPECT_EQ(provider.base_url, "https://models.example/v1");
  EXPECT_EQ(provider.api_key_file, "/run/key");
  EXPECT_EQ(provider.api_key_env, "") << "the file is enough";
  EXPECT_EQ(provider.models, (Texts{"a", "b-*"}));
  EXPECT_TRUE(provider.free);
  EXPECT_EQ(provider.thinking, "off");
  EXPECT_EQ(provider.reasoning_effort, "high");
  EXPECT_EQ(provider.max_output_tokens, 4096);
  EXPECT_EQ(provider.connect_timeout_s, 1);
  EXPECT_EQ(provider.first_token_timeout_s, 2);
  EXPECT_EQ(provider.idle_timeout_s, 3);
  EXPECT_EQ(provider.total_timeout_s, 4);
  EXPECT_TRUE(provider.http2);
  EXPECT_FALSE(provider.from_environment);
}

TEST(ProviderSettings, USE_1_VendorIsKnownByItsName) {
  auto const providers = providers_in("- name: deepseek\n- name: dashscope\n  models: [qwen-plus]\n");

  EXPECT_EQ(providers.at(0).profile, "deepseek");
  EXPECT_EQ(providers.at(0).base_url, "https://api.deepseek.com");
  EXPECT_EQ(providers.at(0).api_key_env, "DEEPSEEK_API_KEY");
  EXPECT_EQ(providers.at(0).models.at(0), "deepseek-flash");
  EXPECT_EQ(providers.at(1).base_url, "https://dashscope.aliyuncs.com/compatible-mode/v1");
  EXPECT_EQ(providers.at(1).models, (Texts{"qwen-plus"}));
}

TEST(ProviderSettings, USE_1_ProfileIsGuessedFromTheAddress) {
  struct Guess {
    char const* address;
    char const* profile;
  };
  for (auto const& guess :
       {Guess{"https://api.deepseek.com/beta", "deepseek"},
        Guess{"https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "dashscope"},
        Guess{"https://api.openai.com/v1", "openai"}, Guess{"http://localhost:11434/v1", "local"}}) {
    auto const yaml = std::string{"- {name: x, models: [m], base_url: \""} + guess.address + "\"}";
    EXPECT_EQ(providers_in(yaml).at(0).profile, guess.profile) << guess.address;
  }
}

TEST(ProviderSettings, CFG_1_MistakesAreToldWithFileAndLine) {
  EXPECT_EQ(provider_refusal("x: 1"), "FILE:1: 'models.providers' must be a list of providers");
  EXPECT_EQ(provider_refusal("- 3"), "FILE:1: a provider must be a map of settings");
  EXPECT_THAT(provider_refusal("- name: deepseek\n  modles: [a]\n"),
              HasSubstr("FILE:2: unknown setting 'modles' of a provider; known: name, profile, base_url"));
  EXPECT_EQ(provider_refusal("- name: a\n  name: b\n"), "FILE:2: 'name' is set twice");
  EXPECT_EQ(provider_refusal("- name: [a]\n"), "FILE:1: 'name' must be a single value");
  EXPECT_EQ(provider_refusal("- name: deepseek\n  models: a\n"), "FILE:2: 'models' must be a list");
  EXPECT_EQ(provider_refusal("- name: deepseek\n  models: [\"\"]\n"),
            "FILE:2: 'models' must be a list of names");
  EXPECT_EQ(provider_refusal("- name: deepseek\n  free: yes\n"), "FILE:2: 'free' must be true or false");
  for (auto const* const value : {"0", "601", "soon", "1.5", "[]"}) {
    EXPECT_EQ(provider_refusal(std::string{"- name: deepseek\n  connect_timeout_s: "} + value + "\n"),
              "FILE:2: 'connect_timeout_s' must be a whole number from 1 to 600");
  }
}

TEST(ProviderSettings, CFG_1_EntryThatLacksSomethingSaysWhat) {
  EXPECT_EQ(provider_refusal("- models: [a]\n"), "FILE:1: a provider needs a 'name'");
  EXPECT_THAT(provider_refusal("- {name: a, profile: other}"),
              HasSubstr("FILE:1: unknown profile 'other'; known: "));
  EXPECT_EQ(provider_refusal("- {name: a, models: [m]}"),
            "FILE:1: provider 'a' needs a 'base_url' with http:// or https:// and a host");
  EXPECT_EQ(provider_refusal("- {name: a, base_url: \"ftp://x\", models: [m]}"),
            "FILE:1: provider 'a' needs a 'base_url' with http:// or https:// and a host");
  EXPECT_EQ(provider_refusal("- {name: a, base_url: \"https://x/v1?a=b\", models: [m]}"),
            "FILE:1: 'base_url' of provider 'a' must not have ?, #, @ or spaces");
  EXPECT_EQ(provider_refusal("- {name: a, base_url: \"https://x/v1/chat/completions\", models: [m]}"),
            "FILE:1: 'base_url' of provider 'a' must not end with /chat/completions; leave that part out");
  EXPECT_EQ(
      provider_refusal("- {name: a, base_url: \"http://x\", models: [m], api_key_env: K, api_key_file: f}"),
      "FILE:1: provider 'a' has both 'api_key_env' and 'api_key_file'");
  EXPECT_EQ(provider_refusal("- {name: a, base_url: \"http://x\", models: [m]}\n"
                             "- {name: b, base_url: \"http://y\", models: [m]}"),
            "FILE:2: two providers have a model 'm'; the second one would never be used");
  EXPECT_EQ(provider_refusal("- {name: a, base_url: \"http://x\"}"), "FILE:1: provider 'a' needs 'models'");
  EXPECT_EQ(provider_refusal("- {name: openai}"), "FILE:1: provider 'openai' needs 'models'");
  EXPECT_EQ(provider_refusal("- {name: deepseek, thinking: maybe}"),
            "FILE:1: provider 'deepseek': 'thinking' must be default, on or off");
  EXPECT_EQ(provider_refusal("- name: deepseek\n- name: deepseek\n"),
            "FILE:2: two providers are called 'deepseek'");
}

TEST(ProviderSettings, CFG_2_VariablesNameAModelBeforeAllOthers) {
  auto const providers =
      with_variables({"RUNNEL_MODEL_BASE_URL=http://localhost:11434/v1/", "RUNNEL_MODEL=qwen3",
                      "RUNNEL_MODEL_API_KEY=canary", "RUNNEL_MODEL_PRICE=2,3", nullptr},
                     providers_in("- name: deepseek\n"));

  EXPECT_EQ(names_of(providers), (Texts{"local", "deepseek"}));
  EXPECT_TRUE(providers[0].from_environment);
  EXPECT_EQ(providers[0].base_url, "http://localhost:11434/v1");
  EXPECT_EQ(providers[0].models, (Texts{"qwen3"}));
  EXPECT_EQ(providers[0].api_key.reveal(), "canary");
  EXPECT_EQ(providers[0].price, "2,3");
}

TEST(ProviderSettings, CFG_2_HalfAModelIsAMistake) {
  EXPECT_THAT(refused_variables({"RUNNEL_MODEL=qwen3", nullptr}), HasSubstr("set both"));
  EXPECT_THAT(refused_variables({"RUNNEL_MODEL_BASE_URL=http://x", "RUNNEL_MODEL=", nullptr}),
              HasSubstr("set both"));
  EXPECT_THAT(refused_variables({"RUNNEL_MODEL_BASE_URL=localhost", "RUNNEL_MODEL=m", nullptr}),
              HasSubstr("RUNNEL_MODEL_BASE_URL: "));
}

TEST(ProviderSettings, CFG_2_KeyOfAVendorIsEnough) {
  auto const providers =
      with_variables({"DASHSCOPE_API_KEY=b", "DEEPSEEK_API_KEY=a", "OPENAI_API_KEY=c", nullptr});

  EXPECT_EQ(names_of(providers), (Texts{"deepseek", "dashscope"})) << "OpenAI's models have no price here";
  EXPECT_EQ(providers[0].api_key.reveal(), "a");
  EXPECT_EQ(providers[0].base_url, "https://api.deepseek.com");
  EXPECT_EQ(providers[1].api_key.reveal(), "b");
}

TEST(ProviderSettings, CFG_2_KeyOfAVendorAddsNothingToConfiguredProviders) {
  auto const providers = with_variables({"DEEPSEEK_API_KEY=a", nullptr},
                                        providers_in("- {name: x, base_url: \"http://x\", models: [m]}"));
  EXPECT_EQ(names_of(providers), (Texts{"x"}));
}

TEST(ProviderSettings, CFG_2_WhatTheFileSaysOfAVendorStands) {
  auto const providers = with_variables({"DEEPSEEK_API_KEY=a", nullptr},
                                        providers_in("- {name: deepseek, models: [deepseek-v4-pro]}"));

  EXPECT_EQ(names_of(providers), (Texts{"deepseek"}));
  EXPECT_EQ(providers[0].models, (Texts{"deepseek-v4-pro"}));
  EXPECT_TRUE(providers[0].api_key.empty()) << "found when it is needed, by api_key_env";
}

TEST(ProviderSettings, CFG_2_EmptyVariablesCountAsUnset) {
  EXPECT_TRUE(with_variables({"RUNNEL_MODEL=", "RUNNEL_MODEL_BASE_URL=", "DEEPSEEK_API_KEY=",
                              "DEEPSEEK_API_KEYS=x", nullptr})
                  .empty());
}

TEST(ProviderSettings, TheirVariablesAreNoMistypedSettings) {
  EXPECT_TRUE(is_provider_variable("RUNNEL_MODEL_BASE_URL"));
  EXPECT_FALSE(is_provider_variable("RUNNEL_MODEL_BASE"));
}

TEST(ProviderSettings, VendorsKeyIsForTheVendorsOwnAddress) {
  auto const foreign =
      providers_in("- {name: a, profile: openai, base_url: \"http://gpu.example/v1\", models: [m]}");
  EXPECT_EQ(foreign.at(0).api_key_env, "");
  auto const lookalike =
      providers_in("- {name: a, base_url: \"https://deepseek.com.example/v1\", models: [m]}");
  EXPECT_EQ(lookalike.at(0).profile, "local");
  EXPECT_EQ(lookalike.at(0).api_key_env, "");
}

}  // namespace
}  // namespace runnel::app
