#include "runnel/modules/memory/methods.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "runnel/base/schema/json_schema.h"
#include "runnel/modules/memory/commands.h"
#include "runnel/modules/memory/module.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::memory {
namespace {

namespace json = boost::json;

class MemoryMethods : public testing::Test {
 protected:
  Method method(std::string_view name) {
    for (auto& method : under_test.module().methods()) {
      if (method.name == name) return method;
    }
    throw std::logic_error("there is no method " + std::string{name});
  }
  // What the method's schema has against the input.
  std::vector<std::string> violations(std::string_view name, std::string const& input) {
    auto const schema = base::JsonSchema::load(json::parse(method(name).input_schema), {}).value();
    std::vector<std::string> out;
    for (auto const& violation : schema.check(json::parse(input)))
      out.push_back(to_string(violation));
    return out;
  }
  MethodAnswer answer(std::string_view name, std::string const& input, std::string user = "ann") {
    EXPECT_EQ(violations(name, input), std::vector<std::string>{}) << input;
    return run_async(
               method(name).run(MethodCall{UserId{std::move(user)}, {}, json::parse(input).as_object(), 7}))
        .value();
  }
  // The data of a call after its effect is written, or "CODE: message".
  std::string call(std::string_view name, std::string const& input, std::string user = "ann") {
    auto const got = answer(name, input, std::move(user));
    if (auto const* const failed = std::get_if<MethodFailure>(&got))
      return failed->code + ": " + failed->message;
    auto const& result = std::get<MethodResult>(got);
    if (!result.effect.empty()) run_async(under_test.database().write(result.effect)).value();
    return result.data;
  }
  std::string read(std::string const& input = "{}", std::string user = "ann") {
    return call("memory.read", input, std::move(user));
  }

  ModuleUnderTest under_test{define()};
};

TEST_F(MemoryMethods, TOOL_12_ProgramAndServerKnowTheSameMethods) {
  std::set<std::string> of_program;
  std::set<std::string> of_server;
  auto const table = commands();
  for (auto const& known : table.methods)
    of_program.insert(std::string{table.name} + "." + std::string{known.name});
  for (auto const& known : under_test.module().methods())
    of_server.emplace(known.name);

  EXPECT_EQ(of_program, of_server);
}

TEST_F(MemoryMethods, TOOL_12_WhatIsNotedIsRead) {
  EXPECT_EQ(read(), R"({"items":[],"count":0})");
  EXPECT_EQ(call("memory.update", R"({"kind":"work_profile","content":{"role":"Designer"}})"),
            R"({"outcome":"updated","fields":["role"]})");
  EXPECT_EQ(call("memory.update", R"({"kind":"user","content":{"likes":["tea"],"about":"喜欢茶"}})"),
            R"({"outcome":"updated","fields":["likes","about"]})");

  EXPECT_EQ(read(), R"({"items":[{"kind":"user","content":{"likes":["tea"],"about":"喜欢茶"}},)"
                    R"({"kind":"work_profile","content":{"role":"Designer"}}],"count":2})");
  EXPECT_EQ(read(R"({"kind":"work_profile"})"),
            R"({"items":[{"kind":"work_profile","content":{"role":"Designer"}}],"count":1})");
  EXPECT_EQ(read("{}", "bob"), R"({"items":[],"count":0})");
}

TEST_F(MemoryMethods, TOOL_12_UpdatesMergeUnlessTheyReplace) {
  call("memory.update", R"({"kind":"user","content":{"likes":["tea"],"about":"x"}})");

  EXPECT_EQ(call("memory.update", R"({"kind":"user","mode":"merge","content":{"likes":["chess"]}})"),
            R"({"outcome":"updated","fields":["likes","about"]})");
  EXPECT_EQ(read(),
            R"({"items":[{"kind":"user","content":{"likes":["tea","chess"],"about":"x"}}],"count":1})");
  EXPECT_EQ(call("memory.update", R"({"kind":"user","mode":"replace","content":{"likes":["go"]}})"),
            R"({"outcome":"updated","fields":["likes"]})");
  EXPECT_EQ(read(), R"({"items":[{"kind":"user","content":{"likes":["go"]}}],"count":1})");
  EXPECT_EQ(call("memory.update", R"({"kind":"user","content":{"likes":[]}})"),
            R"({"outcome":"updated","fields":[]})");
  EXPECT_EQ(read(), R"({"items":[],"count":0})");
}

TEST_F(MemoryMethods, TOOL_12_WhatIsKnownChangesNothing) {
  call("memory.update", R"({"kind":"user","content":{"likes":["tea"]}})");

  auto const again = answer("memory.update", R"({"kind":"user","content":{"likes":["TEA"],"about":""}})");
  EXPECT_EQ(std::get<MethodResult>(again).data, R"({"outcome":"unchanged","fields":["likes"]})");
  EXPECT_TRUE(std::get<MethodResult>(again).effect.empty());
  EXPECT_EQ(call("memory.update", R"({"kind":"work_profile","mode":"replace","content":{}})"),
            R"({"outcome":"unchanged","fields":[]})");
}

TEST_F(MemoryMethods, RUN_12_OfTwoUpdatesAtOnceOneIsRefused) {
  auto const first = answer("memory.update", R"({"kind":"user","content":{"likes":["tea"]}})");
  auto const second = answer("memory.update", R"({"kind":"user","content":{"likes":["chess"]}})");
  ASSERT_TRUE(run_async(under_test.database().write(std::get<MethodResult>(first).effect)));

  auto const late = run_async(under_test.database().write(std::get<MethodResult>(second).effect));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::conflict);
  EXPECT_EQ(read(), R"({"items":[{"kind":"user","content":{"likes":["tea"]}}],"count":1})");
}

TEST_F(MemoryMethods, TOOL_4_FailuresNameTheFieldAndTheLimit) {
  EXPECT_EQ(
      call("memory.update",
           R"({"kind":"user","content":{"likes":[" "],"dates":[{"name":"x","date":"2025-02-30"}]}})"),
      "INVALID_ACTION_INPUT: /content/likes/0: must not be blank; /content/dates/0/date: must be a date that "
      "exists, as YYYY-MM-DD, such as 1990-05-01");
  json::array items;
  for (int i = 0; i < 50; ++i)
    items.push_back(json::string{std::to_string(i) + std::string(300, 'x')});
  json::object const large{{"kind", "user"}, {"content", json::object{{"likes", items}, {"habits", items}}}};
  EXPECT_NE(call("memory.update", json::serialize(large)).find("at most 16384 are allowed"),
            std::string::npos);
  EXPECT_EQ(read(), R"({"items":[],"count":0})");
}

TEST_F(MemoryMethods, TOOL_4_InputsOfOtherFormsAreRefused) {
  for (auto const* const input :
       {R"({})", R"({"kind":"user"})", R"({"content":{}})", R"({"kind":"pet","content":{}})",
        R"({"kind":"user","content":{"role":"x"}})", R"({"kind":"work_profile","content":{"likes":["x"]}})",
        R"({"kind":"user","content":{"likes":"tea"}})", R"({"kind":"user","content":{"likes":[""]}})",
        R"({"kind":"user","content":{"about":null}})", R"({"kind":"user","mode":"append","content":{}})",
        R"({"kind":"user","content":{"people":[{"relation":"x"}]}})",
        R"({"kind":"user","content":{"people":[{"name":"x","age":7}]}})",
        R"({"kind":"user","content":{"dates":[{"name":"x","date":"1 May"}]}})",
        R"({"kind":"user","content":{},"owner_id":"bob"})",
        R"({"kind":"work_profile","content":{"working_hours":{"start":"9:00","end":"17:00"}}})",
        R"({"kind":"work_profile","content":{"working_hours":{"start":"24:00","end":"17:00"}}})",
        R"({"kind":"work_profile","content":{"working_hours":{"days":["monday"]}}})",
        R"({"kind":"work_profile","content":{"working_hours":{"days":["mon","mon"]}}})"}) {
    EXPECT_FALSE(violations("memory.update", input).empty()) << input;
  }
  json::object const long_text{{"kind", "user"}, {"content", json::object{{"about", std::string(501, 'x')}}}};
  EXPECT_EQ(violations("memory.update", json::serialize(long_text)),
            std::vector<std::string>{"/content/about: must have at most 500 characters"});
  EXPECT_FALSE(violations("memory.read", R"({"kind":"pet"})").empty());
  EXPECT_FALSE(violations("memory.read", R"({"user":"bob"})").empty());
}

// A value by the schema's examples, with every field that it describes.
json::value example_of(json::value const& schema) {
  auto const& object = schema.as_object();
  if (auto const* const examples = object.if_contains("examples")) return examples->at(0);
  if (auto const* const values = object.if_contains("enum")) return values->at(0);
  if (object.at("type") == "array") return json::array{example_of(object.at("items"))};
  EXPECT_EQ(object.at("type"), "object") << json::serialize(schema);
  json::object out;
  for (auto const& [name, property] : object.at("properties").as_object())
    out[name] = example_of(property);
  return out;
}

TEST_F(MemoryMethods, TOOL_4_ExamplesOfTheSchemaAreValidInputs) {
  auto const schema = json::parse(method("memory.update").input_schema);
  for (auto const& form : schema.at("oneOf").as_array()) {
    auto const input = example_of(form);
    auto const fields = input.at("content").as_object().size();
    EXPECT_EQ(fields, form.at("properties").at("content").at("properties").as_object().size());
    auto const data = json::parse(call("memory.update", json::serialize(input)));
    EXPECT_EQ(data.at("outcome"), "updated");
    EXPECT_EQ(data.at("fields").as_array().size(), fields);
  }
}

TEST_F(MemoryMethods, TOOL_12_EveryFieldIsDescribed) {
  auto const schema = json::parse(method("memory.update").input_schema);
  for (auto const& form : schema.at("oneOf").as_array()) {
    for (auto const& [name, field] : form.at("properties").at("content").at("properties").as_object()) {
      EXPECT_TRUE(field.as_object().contains("description")) << std::string{name};
      auto const* const items = field.as_object().if_contains("items");
      auto const& inner = (items != nullptr ? *items : field).as_object();
      auto const* const members = inner.if_contains("properties");
      if (members == nullptr) continue;
      for (auto const& [member, described] : members->as_object())
        EXPECT_TRUE(described.as_object().contains("description"))
            << std::string{name} << "/" << std::string{member};
    }
  }
}

}  // namespace
}  // namespace runnel::modules::memory
