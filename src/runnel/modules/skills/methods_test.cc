#include "runnel/modules/skills/methods.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

#include "runnel/base/schema/json_schema.h"
#include "runnel/modules/skills/commands.h"
#include "runnel/modules/skills/module.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::skills {
namespace {

namespace json = boost::json;

std::shared_ptr<base::Skills const> some_skills() {
  base::Skills skills;
  skills["tea"] = {"Makes tea.", "# Tea", {{"boil", "Hot."}, {"pour", "Slowly, \"please\"."}}};
  skills["water"] = {"Is water.", "# Water", {}};
  return std::make_shared<base::Skills const>(std::move(skills));
}

class SkillsRead : public testing::Test {
 protected:
  Method method() { return under_test.module().methods().at(0); }
  bool is_valid(json::value const& input) {
    return base::JsonSchema::load(json::parse(method().input_schema), {}).value().check(input).empty();
  }
  // The data of a call, or "CODE: message".
  std::string read(json::object input) {
    EXPECT_TRUE(is_valid(input)) << input;
    auto const answer = run_async(method().run(MethodCall{UserId{"ann"}, {}, std::move(input), 0})).value();
    if (auto const* const failed = std::get_if<MethodFailure>(&answer))
      return failed->code + ": " + failed->message;
    EXPECT_TRUE(std::get<MethodResult>(answer).effect.empty());
    return std::get<MethodResult>(answer).data;
  }

  ModuleUnderTest under_test{define(some_skills())};
};

TEST_F(SkillsRead, TOOL_12_ProgramAndServerKnowTheSameMethods) {
  std::set<std::string> of_program;
  auto const table = commands();
  for (auto const& known : table.methods)
    of_program.insert(std::string{table.name} + "." + std::string{known.name});

  EXPECT_EQ(of_program, std::set<std::string>{std::string{method().name}});
}

TEST_F(SkillsRead, TOOL_11_ShowsTheCardAndThenOneAction) {
  EXPECT_EQ(read({{"skill", "tea"}}), R"({"skill":"tea","content":"# Tea","actions":["boil","pour"]})");
  EXPECT_EQ(read({{"skill", "water"}}), R"({"skill":"water","content":"# Water","actions":[]})");
  EXPECT_EQ(read({{"skill", "tea"}, {"action", "pour"}}),
            R"({"skill":"tea","action":"pour","content":"Slowly, \"please\"."})");
}

TEST_F(SkillsRead, TOOL_11_WhatThereIsNotBringsTheListOfWhatThereIs) {
  EXPECT_EQ(read({{"skill", "coffee"}}), "NOT_FOUND: there is no such skill; there are: tea, water");
  EXPECT_EQ(read({{"skill", "tea"}, {"action", "drink"}}),
            "NOT_FOUND: the skill tea has no such action; there are: boil, pour");
  EXPECT_EQ(read({{"skill", "water"}, {"action", "pour"}}),
            "NOT_FOUND: the skill water has no such action; there are none");
}

TEST_F(SkillsRead, TOOL_11_NamesAreNoPaths) {
  for (std::string const& name :
       {std::string{"../tea"}, std::string{"tea/../tea"}, std::string{"./tea"}, std::string{"tea/"},
        std::string{"/etc/passwd"}, std::string{"%2e%2e%2ftea"}, std::string{"..\\tea"},
        std::string{"tea\0", 4}, std::string{"tea\0.md", 7}, std::string{"TEA"}, std::string{"tea/SKILL.md"},
        std::string{"ｔea"}}) {
    EXPECT_TRUE(read({{"skill", name}}).starts_with("NOT_FOUND: ")) << name;
    EXPECT_TRUE(read({{"skill", "tea"}, {"action", name}}).starts_with("NOT_FOUND: ")) << name;
  }
  EXPECT_TRUE(read({{"skill", "tea"}, {"action", "SKILL"}}).starts_with("NOT_FOUND: "));
  EXPECT_TRUE(read({{"skill", "tea"}, {"action", "pour.md"}}).starts_with("NOT_FOUND: "));
}

TEST_F(SkillsRead, TOOL_4_InputsOfOtherFormsAreRefused) {
  for (auto const* const input :
       {R"({})", R"({"skill":""})", R"({"skill":7})", R"({"skill":null})", R"({"skill":["tea"]})",
        R"({"action":"pour"})", R"({"skill":"tea","action":""})", R"({"skill":"tea","action":null})",
        R"({"skill":"tea","path":"../x"})"}) {
    EXPECT_FALSE(is_valid(json::parse(input))) << input;
  }
}

}  // namespace
}  // namespace runnel::modules::skills
