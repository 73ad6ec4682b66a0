#include "runnel/tools/custom/load_custom_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace runnel::tools {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kWeather[] = R"(
module: weather
program: weather.sh
network: true
processes: 4
timeout_s: 5
read: [data]
environment: [WEATHER_KEY]
methods:
  forecast:
    description: Tells the weather of a place.
    idempotent: true
    input:
      type: object
      additionalProperties: false
      required: [place]
      properties:
        place: {type: string, maxLength: 100}
  order_rain:
    description: Orders rain.
    approval: required
    allow: [chat]
    input: {type: object, additionalProperties: false}
)";

class CustomModuleFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "runnel-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    for (auto const* const name : {"data", "server"})
      std::filesystem::create_directory(folder / name);
    std::filesystem::create_directory_symlink("data", folder / "link");
    write("weather.sh", "#!/bin/sh\n");
    ::chmod((folder / "weather.sh").c_str(), 0755);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(std::string const& name, std::string const& text) const { std::ofstream{folder / name} << text; }
  [[nodiscard]] LoadedCustomModules load() const {
    CustomModuleFiles files;
    files.folder = folder;
    files.taken = {"calendar"};
    files.closed = {(folder / "server").string()};
    files.environment = environment.data();
    return load_custom_modules(files);
  }
  // The problems of kWeather with one part of it replaced.
  std::vector<std::string> problems_with(std::string const& part, std::string const& other) {
    std::string text = kWeather;
    auto const at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    write("weather.yaml", text.replace(at, part.size(), other));
    return load().problems;
  }

  std::filesystem::path folder;
  std::array<char const*, 3> environment{"WEATHER_KEY=a secret of the weather", "LD_PRELOAD=x", nullptr};
};

TEST_F(CustomModuleFolder, TOOL_13_FileDescribesAModule) {
  write("weather.yaml", kWeather);

  auto const loaded = load();

  ASSERT_THAT(loaded.problems, ElementsAre());
  ASSERT_EQ(loaded.modules.size(), 1U);
  auto const& module = loaded.modules.front();
  EXPECT_EQ(module.name, "weather");
  EXPECT_EQ(module.program, (folder / "weather.sh").string());
  EXPECT_TRUE(module.network);
  EXPECT_EQ(module.processes, 4);
  EXPECT_EQ(module.timeout_s, 5);
  EXPECT_THAT(module.readable, Contains((folder / "data").string()));
  EXPECT_THAT(module.readable, Contains("/usr"));
  EXPECT_THAT(module.variables, ElementsAre("WEATHER_KEY=a secret of the weather"));
  ASSERT_EQ(module.methods.size(), 2U);
  EXPECT_EQ(module.methods[0].name, "forecast");
  EXPECT_EQ(module.methods[0].description, "Tells the weather of a place.");
  EXPECT_TRUE(module.methods[0].idempotent);
  EXPECT_FALSE(module.methods[0].needs_approval);
  EXPECT_THAT(module.methods[0].flows, ElementsAre());
  EXPECT_TRUE(module.methods[1].needs_approval);
  EXPECT_FALSE(module.methods[1].idempotent);
  EXPECT_THAT(module.methods[1].flows, ElementsAre("chat"));
}

TEST_F(CustomModuleFolder, TOOL_4_InputIsCheckedByTheSchema) {
  write("weather.yaml", kWeather);
  CustomModules const modules{load().modules};
  auto const callee = modules.find("weather.forecast").value();

  EXPECT_FALSE(refuse_input(callee, JsonText::parse(R"({"place":"Oslo"})").value()));
  auto const refused = refuse_input(callee, JsonText::parse(R"({"town":"Oslo"})").value());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->summary, "INVALID_ACTION_INPUT");
  EXPECT_THAT(refused->result.str(), HasSubstr("weather.forecast input does not match method schema: "));
  EXPECT_THAT(refused->result.str(), HasSubstr("place"));
  EXPECT_THAT(refused->result.str(), HasSubstr(R"("input_schema":{"type":"object")"));
  EXPECT_FALSE(modules.find("weather.storm"));
  EXPECT_FALSE(modules.find("calendar.create"));
}

TEST_F(CustomModuleFolder, TOOL_13_MistakesAreToldWithTheirPlaces) {
  struct Mistake {
    char const* part;
    char const* other;
    char const* told;
  };
  for (auto const& [part, other, told] : std::initializer_list<Mistake>{
           {"module: weather", "module: calendar", "weather.yaml:2:9: there is a module 'calendar' already"},
           {"module: weather", "module: ../x", "a module is called '../x'"},
           {"module: weather\n", "", "'module' is missing"},
           {"network: true", "netwrok: true", "netwrok"},
           {"network: true", "network: yes", "'network' must be true or false"},
           {"program: weather.sh", "program: storm.sh", "there is no program"},
           {"program: weather.sh", "program: data", "there is no program"},
           {"processes: 4", "processes: -1", "'processes' must be a whole number"},
           {"read: [data]", "read: [/proc]", "it shows other processes"},
           {"read: [data]", "read: [/]", "it shows other processes"},
           {"read: [data]", "read: [nothing]", "there is no file or folder"},
           {"[WEATHER_KEY]", "[STORM_KEY]", "the variable STORM_KEY is not set"},
           {"[WEATHER_KEY]", "[KEY=value]", "give only the name"},
           {"read: [data]", "read: [server]", "server belongs to the server"},
           {"read: [data]", "read: [.]", "server belongs to the server"},
           {"[WEATHER_KEY]", "[PATH]", "PATH cannot be passed to a module"},
           {"[WEATHER_KEY]", "[LD_PRELOAD]", "LD_PRELOAD cannot be passed to a module"},
           {"[WEATHER_KEY]", "[RUNNEL_MODEL_API_KEY]", "RUNNEL_MODEL_API_KEY cannot be passed to a module"},
           {"forecast:", "Forecast:", "a method is called 'Forecast'"},
           {"approval: required", "approval: yes", "'approval' must be required or none"},
           {"allow: [chat]", "allow: []", "'allow' must name at least one flow"},
           {"    description: Orders rain.\n", "", "'description' is missing"},
           {"maxLength: 100", "maxlength: 100", "maxlength"},
           {"input: {type: object, additionalProperties: false}", "input: {type: object}",
            "'input' must have 'additionalProperties: false'"},
           {"input: {type: object, additionalProperties: false}", "input: {type: string}",
            "'input' must be a JSON Schema with 'type: object'"},
           {"\n    input: {type: object, additionalProperties: false}", "", "'input' is missing"},
       }) {
    EXPECT_THAT(problems_with(part, other), Contains(HasSubstr(told))) << other;
  }
}

TEST_F(CustomModuleFolder, TOOL_13_LinkThatIsChangedLaterLeadsNowhereElse) {
  EXPECT_THAT(problems_with("read: [data]", "read: [link]"), ElementsAre());

  EXPECT_THAT(load().modules.front().readable,
              Contains(std::filesystem::canonical(folder / "data").string()));
}

TEST_F(CustomModuleFolder, TOOL_13_FolderWithoutModulesIsAMistake) {
  EXPECT_THAT(load().problems, ElementsAre(HasSubstr("has no YAML file")));
}

TEST_F(CustomModuleFolder, TOOL_13_ProgramMustBeExecutable) {
  ::chmod((folder / "weather.sh").c_str(), 0640);
  write("weather.yaml", kWeather);

  EXPECT_THAT(load().problems, ElementsAre(HasSubstr("run: chmod a+rx")));
}

TEST_F(CustomModuleFolder, TOOL_13_TwoFilesCannotHaveOneName) {
  write("a.yaml", kWeather);
  write("b.yml", kWeather);

  EXPECT_THAT(load().problems, ElementsAre(HasSubstr("b.yml:2:9: there is a module 'weather' already")));
}

TEST_F(CustomModuleFolder, TOOL_13_MissingFolderIsAMistake) {
  CustomModuleFiles files;
  files.folder = folder / "none";

  EXPECT_THAT(load_custom_modules(files).problems, ElementsAre(HasSubstr("is not a folder")));
}

}  // namespace
}  // namespace runnel::tools
