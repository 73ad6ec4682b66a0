#include "runnel/app/startup_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "runnel/app/flows.h"
#include "runnel/app/models.h"
#include "runnel/app/tools/tools.h"
#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kNow = 1'800'000'000'000;

StartupReport report_of(Settings const& settings, std::vector<char const*> environment = {}) {
  environment.push_back(nullptr);
  auto const models = check_models(settings, environment.data(), kNow);
  EXPECT_THAT(models.problems, IsEmpty());
  auto const flows = check_flows(settings, models.registry.get(), {}, nullptr);
  EXPECT_THAT(flows.problems, IsEmpty());
  return make_startup_report(
      {settings, environment.data(), *models.registry, *models.prices, *flows.catalog, kNow});
}

ProviderSettings provider(std::string name, std::string base_url) {
  ProviderSettings out;
  out.name = std::move(name);
  out.profile = "local";
  out.base_url = std::move(base_url);
  out.models = {"a-model"};
  out.free = true;
  return out;
}

TEST(StartupReport, CFG_3_SaysWhatAServerWithoutSettingsDoes) {
  auto const report = report_of(Settings{});
  auto const text = to_text(report);

  EXPECT_THAT(text, HasSubstr("version   runnel "));
  EXPECT_THAT(text,
              HasSubstr("\nmode      dev mode: this machine only, user demo, because auth.keys is empty\n"));
  EXPECT_THAT(text, HasSubstr("/runnel-data (sqlite)\n"));
  EXPECT_THAT(text, HasSubstr("\nmodel     offline (default): free, built in\n"));
  EXPECT_THAT(
      text,
      HasSubstr("\nflows     chat, intent_execution_organization, router_worker (default); built in\n"));
  EXPECT_THAT(text, HasSubstr("\nbudgets   none\n"));
  EXPECT_THAT(text,
              HasSubstr("\nlimits    per user: 50 requests per second (bursts of 200), 100 streams, 32 runs, "
                        "16 MiB of bodies and 16 MiB of answers in flight, 1 GiB stored\n"));
  EXPECT_THAT(text, HasSubstr("\n          per request: a body of 4 MiB (64 KiB if it holds no message), a "
                              "message of 256 KiB, 20000 JSON values, 64 levels deep\n"));
  EXPECT_THAT(text,
              HasSubstr("\n          in total: 64 MiB of bodies in flight; a model call gets up to 1 MiB of "
                        "its thread\n"));
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(StartupReport, CFG_3_TellsLimitsThatAreNoRoundNumberToTheByteAndThoseThatAreNone) {
  Settings settings;
  settings.message_limit_bytes = 1;
  settings.body_limit_bytes = 1025;
  settings.body_bytes_total = 1536 * 1024;
  settings.runs_per_user = 0;
  settings.storage_bytes_per_user = 0;

  auto const text = to_text(report_of(settings));

  EXPECT_THAT(text, HasSubstr("any number of runs, "));
  EXPECT_THAT(text, HasSubstr(", any number of bytes stored\n"));
  EXPECT_THAT(text, HasSubstr("a body of 1025 bytes ("));
  EXPECT_THAT(text, HasSubstr("a message of 1 byte, "));
  EXPECT_THAT(text, HasSubstr("in total: 1536 KiB of bodies"));
}

TEST(StartupReport, CFG_3_SaysWhereAPriceComesFrom) {
  Settings settings;
  settings.providers =
      with_environment({}, std::array<char const*, 2>{"DEEPSEEK_API_KEY=k", nullptr}.data()).value();
  settings.day_budget = Money{1'500'000'000'000};

  auto const text = to_text(report_of(settings, {"DEEPSEEK_API_KEY=k"}));

  EXPECT_THAT(text, HasSubstr("deepseek-flash (default) at https://api.deepseek.com: "));
  EXPECT_THAT(text, HasSubstr(" CNY per million tokens, according to the built-in price list\n"));
  EXPECT_THAT(text, HasSubstr("budgets   per user and day 1.5 CNY\n"));
}

TEST(StartupReport, CFG_3_AKeyThatNothingUsesIsNamedWithTheLineThatWouldUseIt) {
  EXPECT_THAT(report_of(Settings{}, {"OPENAI_API_KEY=k"}).warnings,
              ElementsAre("OPENAI_API_KEY is set, but nothing uses it; to use it, set "
                          "RUNNEL_MODEL_BASE_URL=https://api.openai.com/v1 RUNNEL_MODEL=NAME "
                          "RUNNEL_MODEL_PRICE=INPUT,OUTPUT (CNY per million tokens)"));
  EXPECT_THAT(report_of(Settings{}, {"OPENAI_API_KEY="}).warnings, IsEmpty());

  Settings with_own;
  with_own.providers = {provider("mine", "http://127.0.0.1:1/v1")};
  EXPECT_THAT(
      report_of(with_own, {"DEEPSEEK_API_KEY=k"}).warnings,
      ElementsAre("DEEPSEEK_API_KEY is set, but nothing uses it; to use it, add to models.providers: - "
                  "{name: deepseek}"));
}

TEST(StartupReport, CFG_3_AKeyThatGoesOverPlainHttpIsAWarning) {
  auto const warnings = [](std::string base_url, char const* key) {
    Settings settings;
    settings.providers = {provider("far", std::move(base_url))};
    settings.providers.front().api_key = model::Secret{key};
    return report_of(settings).warnings;
  };

  EXPECT_THAT(
      warnings("http://models.example/v1", "k"),
      ElementsAre("provider 'far' is at http://models.example/v1: its key and all messages of users are sent "
                  "there unencrypted; use https://"));
  EXPECT_THAT(warnings("https://models.example/v1", "k"), IsEmpty());
  EXPECT_THAT(warnings("http://127.0.0.1:11434/v1", "k"), IsEmpty());
  EXPECT_THAT(warnings("http://localhost:11434/v1", "k"), IsEmpty());
  EXPECT_THAT(warnings("http://models.example/v1", ""), IsEmpty());
}

TEST(StartupReport, FLOW_4_AFlowThatTheOfflineModelCannotRunIsAWarning) {
  store::TemporaryFolder const folder;
  std::filesystem::copy(RUNNEL_SOURCE_DIR "/conf", folder.file("conf"),
                        std::filesystem::copy_options::recursive);
  std::ofstream{folder.file("conf/contracts.yaml"), std::ios::app}
      << "\nTripPlan:\n  schema: {type: object, properties: {text: {type: string}}, required: [text]}\n";
  std::ofstream{folder.file("conf/flows/trip.yaml")}
      << "name: trip\nstages:\n  plan: {start: true, task: route_request, contract: TripPlan, answer: {text: "
         "text}}\n";
  Settings settings;
  settings.flows_dir = folder.file("conf");

  EXPECT_THAT(report_of(settings).warnings,
              ElementsAre("flow trip cannot run on the offline model, which cannot write contract TripPlan"));
}

}  // namespace
}  // namespace runnel::app
