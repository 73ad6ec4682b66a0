#include "runnel/app/models.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::app {
namespace {

using testing::HasSubstr;
using testing::Not;

// 2026-11-16T10:00:00+08:00.
constexpr std::int64_t kStart = 1'794'794'400'000;
constexpr char const* kNoVariables[] = {nullptr};

ProviderSettings provider_of(std::string model) {
  ProviderSettings out;
  out.name = "mine";
  out.profile = "local";
  out.base_url = "https://models.example/v1";
  out.models = {std::move(model)};
  return out;
}

Settings settings_with(ProviderSettings provider) {
  Settings settings;
  settings.providers = {std::move(provider)};
  return settings;
}

// A model that RUNNEL_MODEL and RUNNEL_MODEL_BASE_URL name.
ProviderSettings named(std::string address, std::string price = {}) {
  auto out = provider_of("odd");
  out.base_url = std::move(address);
  out.price = std::move(price);
  out.from_environment = true;
  return out;
}

std::string models_refusal(Settings const& settings, char const* const* environment = kNoVariables) {
  auto const checked = check_models(settings, environment, kStart);
  return checked.problems.empty() ? "accepted" : fmt::format("{}", fmt::join(checked.problems, "\n"));
}

std::optional<model::Rates> rates_of(Settings const& settings, std::string const& model) {
  auto const book = load_prices(settings, kStart).value();
  auto const shared = settings.providers.empty() ? "" : shared_price(settings.providers.front());
  auto const price = book.find(shared.empty() ? model : shared, kStart, 1);
  if (!price) return std::nullopt;
  return price->tier->rates;
}

class ModelsOfSettings : public testing::Test {
 protected:
  std::string write(std::string const& name, std::string const& text, mode_t mode = 0600) {
    auto const path = folder.file(name);
    std::ofstream{path} << text;
    chmod(path.c_str(), mode);
    return path;
  }

  std::string default_of(Settings const& settings) {
    base::Cores cores{1};
    auto const models = make_models(settings, kNoVariables, cores, kStart).value();
    EXPECT_EQ(models.clients.size(), 1U);
    return models.registry->default_name();
  }

  store::TemporaryFolder folder;
};

TEST_F(ModelsOfSettings, USE_2_WithoutAnyProviderTheOfflineModelServes) {
  EXPECT_EQ(models_refusal(Settings{}), "accepted");
  EXPECT_EQ(default_of(Settings{}), "offline");
  EXPECT_EQ(rates_of(Settings{}, "offline"), model::Rates{});
}

TEST_F(ModelsOfSettings, USE_6_TheVendorsModelsHaveShippedPrices) {
  char const* const environment[] = {"DEEPSEEK_API_KEY=a", "DASHSCOPE_API_KEY=b", nullptr};
  Settings settings;
  settings.providers = with_environment({}, environment).value();

  EXPECT_EQ(models_refusal(settings), "accepted");
  EXPECT_EQ(default_of(settings), "deepseek-flash");
}

TEST_F(ModelsOfSettings, USE_6_ModelWithoutAPriceIsRefusedAtTheStart) {
  auto const refusal = models_refusal(settings_with(provider_of("odd")));

  EXPECT_THAT(refusal, HasSubstr("odd"));
  EXPECT_THAT(refusal, HasSubstr("conf/prices.yaml"));
  EXPECT_THAT(refusal, HasSubstr("copy conf/prices.yaml and name the copy in models.prices"));
}

TEST_F(ModelsOfSettings, USE_6_ProviderMaySayThatItCostsNothing) {
  auto provider = provider_of("odd-*");
  provider.free = true;

  EXPECT_EQ(models_refusal(settings_with(provider)), "accepted");
  EXPECT_EQ(rates_of(settings_with(provider), "odd-one"), model::Rates{});
}

TEST_F(ModelsOfSettings, USE_6_NamedModelOnThisMachineIsFree) {
  for (auto const* const address :
       {"http://localhost:11434/v1", "http://127.0.0.1:8000", "http://[::1]:8000/v1"}) {
    EXPECT_EQ(models_refusal(settings_with(named(address))), "accepted") << address;
    EXPECT_EQ(rates_of(settings_with(named(address)), "odd"), model::Rates{}) << address;
  }
}

TEST_F(ModelsOfSettings, USE_6_NamedModelElsewhereNeedsItsPrice) {
  for (auto const* const address :
       {"https://models.example/v1", "https://localhost.models.example/v1",
        "https://localhost@models.example/v1", "http://10.0.0.7:8000/localhost"}) {
    EXPECT_THAT(models_refusal(settings_with(named(address))), HasSubstr("set RUNNEL_MODEL_PRICE"))
        << address;
  }
}

TEST_F(ModelsOfSettings, USE_6_NamedModelsPriceIsTaken) {
  auto const priced = settings_with(named("https://models.example/v1", "2,3,0.2"));

  EXPECT_EQ(models_refusal(priced), "accepted");
  auto const rates = rates_of(priced, "odd").value();
  EXPECT_EQ(rates.input, 2'000'000);
  EXPECT_EQ(rates.output, 3'000'000);
  EXPECT_EQ(rates.cache_hit, 200'000);
  EXPECT_EQ(rates_of(settings_with(named("http://localhost:1", "2,3")), "odd")->input, 2'000'000)
      << "it has a price, so it is not free";
  EXPECT_EQ(models_refusal(settings_with(named("https://models.example/v1", "free"))), "accepted");
  EXPECT_THAT(models_refusal(settings_with(named("https://models.example/v1", "cheap"))),
              HasSubstr("RUNNEL_MODEL_PRICE must be"));
}

TEST_F(ModelsOfSettings, USE_6_OwnPricesReplaceTheShippedOnes) {
  Settings settings = settings_with(provider_of("odd"));
  settings.prices = write("prices.yaml", "currency: CNY\nmodels:\n  odd: {free: true}\n");
  EXPECT_EQ(models_refusal(settings), "accepted");

  settings.providers = {provider_of("deepseek-flash")};
  EXPECT_THAT(models_refusal(settings), HasSubstr(settings.prices));
  EXPECT_THAT(models_refusal(settings), Not(HasSubstr("built-in")));
}

TEST_F(ModelsOfSettings, USE_6_MistakesInPriceFilesAreToldWithFileAndLine) {
  Settings settings;
  settings.prices = folder.file("none.yaml");
  EXPECT_EQ(models_refusal(settings), settings.prices + ": cannot be read");

  settings.prices = write("prices.yaml", "currency: CNY\nmodels:\n  odd: {free: maybe}\n");
  EXPECT_THAT(models_refusal(settings), HasSubstr(settings.prices + ":3:"));

  settings.prices.clear();
  settings.litellm_prices = write("litellm.json", "{\"currency\":\n \"USD\"}");
  EXPECT_THAT(models_refusal(settings), HasSubstr(settings.litellm_prices + ":2:"));
}

TEST_F(ModelsOfSettings, CFG_2_KeyComesFromTheVariableThatIsNamed) {
  auto provider = provider_of("offline");
  provider.api_key_env = "MY_KEY";
  auto const settings = settings_with(provider);

  EXPECT_THAT(models_refusal(settings), HasSubstr("environment variable MY_KEY, which is not set"));
  char const* const unfilled[] = {"MY_KEY=", "MY_KEY2=x", nullptr};
  EXPECT_THAT(models_refusal(settings, unfilled), HasSubstr("MY_KEY"));
  char const* const filled[] = {"MY_KEY=canary", nullptr};
  EXPECT_EQ(models_refusal(settings, filled), "accepted");
}

TEST_F(ModelsOfSettings, CFG_2_KeyFileThatOthersCanReadIsRefused) {
  auto provider = provider_of("offline");
  provider.api_key_file = write("key", "canary\n", 0644);

  auto const refusal = models_refusal(settings_with(provider));
  EXPECT_THAT(refusal, HasSubstr("provider 'mine': " + provider.api_key_file));
  EXPECT_THAT(refusal, HasSubstr("chmod"));
  EXPECT_THAT(refusal, Not(HasSubstr("canary")));

  chmod(provider.api_key_file.c_str(), 0600);
  EXPECT_EQ(models_refusal(settings_with(provider)), "accepted");
  provider.api_key_file = folder.file("none");
  EXPECT_THAT(models_refusal(settings_with(provider)), HasSubstr("provider 'mine': cannot open"));
}

TEST_F(ModelsOfSettings, USE_1_DefaultIsTheFirstModelThatIsNoPattern) {
  auto pattern = provider_of("offline-*");
  pattern.free = true;
  auto settings = settings_with(pattern);
  EXPECT_EQ(default_of(settings), "offline");

  auto second = provider_of("deepseek-flash");
  second.name = "second";
  settings.providers.push_back(second);
  EXPECT_EQ(default_of(settings), "deepseek-flash");

  settings.default_model = "offline-7";
  EXPECT_EQ(default_of(settings), "offline-7");
}

TEST_F(ModelsOfSettings, CFG_1_ModelOfTheEnvironmentComesBeforeTheFilesDefault) {
  auto settings = settings_with(named("http://localhost:1/v1"));
  settings.default_model = "offline";
  EXPECT_EQ(default_of(settings), "odd");
}

TEST_F(ModelsOfSettings, USE_6_FreeProviderMakesNobodyElsesModelsFree) {
  auto house = provider_of("qwen-*");
  house.free = true;
  auto settings = settings_with(house);
  settings.providers.push_back(provider_of("qwen-plus"));
  EXPECT_EQ(rates_of(settings, "qwen-plus"), model::Rates{}) << "served by the free provider";
  std::swap(settings.providers[0], settings.providers[1]);
  EXPECT_GT(rates_of(settings, "qwen-plus")->input, 0);
}

TEST_F(ModelsOfSettings, USE_1_DefaultAndFallbacksMustBeServed) {
  Settings settings;
  settings.default_model = "nowhere";
  EXPECT_EQ(models_refusal(settings), "models.default: no provider has a model 'nowhere'; known: offline");

  settings.default_model.clear();
  settings.fallbacks = {"offline", "gone"};
  EXPECT_EQ(models_refusal(settings), "models.fallbacks: no provider has a model 'gone'; known: offline");
}

TEST_F(ModelsOfSettings, CFG_3_PricesAndNamesAreCheckedIndependently) {
  Settings settings;
  settings.prices = folder.file("none.yaml");
  settings.default_model = "nowhere";

  auto const checked = check_models(settings, kNoVariables, kStart);

  EXPECT_THAT(checked.problems, testing::ElementsAre(HasSubstr("none.yaml"), HasSubstr("models.default")));
  EXPECT_EQ(checked.registry, nullptr);
}

TEST_F(ModelsOfSettings, TestModelIsServedOnlyWhereItIsAskedFor) {
  Settings settings;
  settings.default_model = "tok-5-0";
  EXPECT_THAT(models_refusal(settings), HasSubstr("no provider has a model 'tok-5-0'"));

  settings.test_model = true;
  EXPECT_EQ(models_refusal(settings), "accepted");
}

}  // namespace
}  // namespace runnel::app
