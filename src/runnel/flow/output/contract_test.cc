#include "runnel/flow/output/contract.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/core/text/text.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;
using Rules = std::vector<Contract::Rule>;
using Problems = std::vector<std::string>;

constexpr char const* kIntentSchema = R"({"type":"object","required":["route","intent_summary"],"properties":{
  "route":{"type":"string","enum":["DIRECT_EXECUTION","NEEDS_EXECUTION"]},
  "intent_summary":{"type":"string","minLength":1},
  "safety_flags":{"type":"array","items":{"type":"string"}},
  "execution_brief":{"type":"string","nullable":true},
  "assistant_text":{"type":"string","nullable":true}}})";

Contract intent_contract() {
  Rules rules{{"route", "DIRECT_EXECUTION", "assistant_text"},
              {"route", "NEEDS_EXECUTION", "execution_brief"}};
  return Contract::make("IntentResult", json::parse(kIntentSchema).get_object(), std::move(rules)).value();
}

Problems problems_of(std::string const& output) {
  return intent_contract().check(json::parse(output).get_object());
}

std::string make_problem(std::string const& schema, Rules rules = {}) {
  auto const made = Contract::make("X", json::parse(schema).get_object(), std::move(rules));
  return made ? "made" : made.error().detail;
}

TEST(Contract, FLOW_4_TellsTheModelWhatIsWrongAndWhatItWrote) {
  EXPECT_EQ(problems_of(R"({"route":"DIRECT_EXECUTION","intent_summary":"x","assistant_text":"Hi"})"),
            Problems{});
  EXPECT_EQ(problems_of(R"({"route":"direct","safety_flags":[1,"a"]})"),
            (Problems{"/intent_summary: is required",
                      "/route: must be one of DIRECT_EXECUTION or NEEDS_EXECUTION; it is \"direct\"",
                      "/safety_flags/0: must be a string; it is 1"}));
  EXPECT_EQ(problems_of(R"({"route":{"a":1},"intent_summary":""})"),
            (Problems{"/route: must be a string", "/intent_summary: must not be empty; it is \"\""}));
}

TEST(Contract, FLOW_4_UnknownFieldsAreIgnored) {
  EXPECT_EQ(problems_of(
                R"({"route":"NEEDS_EXECUTION","intent_summary":"x","execution_brief":"y","mood":{"a":[]}})"),
            Problems{});
}

TEST(Contract, FLOW_4_ARuleAsksForATextWhereAnotherFieldHasAValue) {
  Problems const direct{
      "/assistant_text: must be a text that is not empty, where \"route\" is \"DIRECT_EXECUTION\""};
  auto const with = [](std::string const& more) {
    return problems_of(R"({"route":"DIRECT_EXECUTION","intent_summary":"x")" + more + "}");
  };

  EXPECT_EQ(with(""), direct);
  EXPECT_EQ(with(R"(,"execution_brief":"y")"), direct);
  EXPECT_EQ(with(R"(,"assistant_text":null)"), Problems{direct[0] + "; it is null"});
  EXPECT_EQ(with(R"(,"assistant_text":" \n\t")"), Problems{direct[0] + R"(; it is " \n\t")"});
  EXPECT_EQ(with(R"(,"assistant_text":7)"), Problems{"/assistant_text: must be a string or null; it is 7"});
  EXPECT_EQ(with(",\"assistant_text\":\"\u00a0\u3000\u2003\""),
            Problems{direct[0] + "; it is \"\u00a0\u3000\u2003\""});
  EXPECT_EQ(with(R"(,"assistant_text":" .")"), Problems{});
  EXPECT_EQ(with(",\"assistant_text\":\"\u200b\""), Problems{}) << "a zero width space is not white space";
}

TEST(Contract, FLOW_4_ProblemsAreFewAndShortWhateverTheOutputHolds) {
  json::object output{{"route", std::string(100'000, 'x')}, {"intent_summary", "x"}};
  json::array flags(1000, json::value(1));
  output["safety_flags"] = flags;
  output["assistant_text"] = json::array{};

  auto const problems = intent_contract().check(output);

  EXPECT_EQ(problems.size(), base::kMostViolations);
  for (auto const& problem : problems)
    EXPECT_LT(problem.size(), 600U);
  output["route"] = "NEEDS_EXECUTION";
  EXPECT_EQ(intent_contract().check(output).size(), base::kMostViolations) << "with a broken rule";

  std::string long_text;
  while (long_text.size() < 1000)
    long_text += "日本";
  auto const quoted = intent_contract().check({{"route", long_text}, {"intent_summary", "x"}});
  ASSERT_EQ(quoted.size(), 1U);
  EXPECT_TRUE(is_utf8(quoted[0]) && quoted[0].ends_with("…") && quoted[0].size() < 200) << quoted[0];
  EXPECT_EQ(quoted[0].find("\uFFFD"), std::string::npos) << quoted[0];
}

TEST(Contract, FLOW_4_SaysWhatItAsksForInTheAuthorsOrder) {
  auto const contract = intent_contract();

  EXPECT_EQ(contract.name(), "IntentResult");
  EXPECT_EQ(contract.schema_text(), json::serialize(json::parse(kIntentSchema)));
  EXPECT_EQ(contract.schema_text().find('\n'), std::string::npos);
  EXPECT_LT(contract.schema_text().find("\"safety_flags\""),
            contract.schema_text().find("\"assistant_text\""));
  EXPECT_EQ(
      contract.rule_texts(),
      (Problems{
          R"(where "route" is "DIRECT_EXECUTION", "assistant_text" must be a text that is not empty)",
          R"(where "route" is "NEEDS_EXECUTION", "execution_brief" must be a text that is not empty)"}));
}

TEST(Contract, FLOW_4_KnowsItsFields) {
  auto const contract = intent_contract();

  EXPECT_TRUE(contract.has_field("safety_flags"));
  EXPECT_FALSE(contract.has_field("mood"));
  EXPECT_TRUE(contract.requires_field("route"));
  EXPECT_FALSE(contract.requires_field("assistant_text"));
  EXPECT_FALSE(contract.requires_field("mood"));
  EXPECT_EQ(contract.choices("route"), (Problems{"DIRECT_EXECUTION", "NEEDS_EXECUTION"}));
  EXPECT_EQ(contract.choices("intent_summary"), Problems{});
  EXPECT_EQ(contract.choices("mood"), Problems{});

  auto const bare = Contract::make("Any", json::parse(R"({"type":"object"})").get_object(), {}).value();
  EXPECT_FALSE(bare.has_field("route"));
  EXPECT_FALSE(bare.requires_field("route"));
  EXPECT_EQ(bare.check({}), Problems{});
}

TEST(Contract, FLOW_1_AnAuthorsMistakeIsNamed) {
  struct Case {
    char const* schema;
    Rules rules;
    char const* problem;
  };
  std::string const fields =
      R"("properties":{"a":{"enum":["x"]},"b":{"type":"string"},"c":{"type":"integer"}}})";
  std::string const object = R"({"type":"object",)" + fields;
  EXPECT_EQ(make_problem(object, {{"a", "x", "b"}}), "made");
  EXPECT_EQ(make_problem(object, {{"b", "anything", "b"}}), "made");

  Case const cases[] = {
      {R"({"type":"array"})", {}, R"(the schema must describe an object: "type" must be "object")"},
      {"{}", {}, R"(the schema must describe an object: "type" must be "object")"},
      {object.c_str(), {{"z", "x", "b"}}, R"(the rule's field "z" is not in the schema)"},
      {object.c_str(), {{"a", "x", "z"}}, R"(the rule's field "z" is not in the schema)"},
      {object.c_str(), {{"a", "y", "b"}}, R"(the rule's field "a" can never be "y")"},
      {object.c_str(), {{"a", "x", "c"}}, R"(the rule's field "c" can never be a text)"},
  };
  for (auto const& c : cases)
    EXPECT_EQ(make_problem(c.schema, c.rules), c.problem);
  EXPECT_NE(make_problem(R"({"type":"object","requiered":["a"]})").find("requiered"), std::string::npos);
}

}  // namespace
}  // namespace runnel::flow
