#include "runnel/modules/contacts/methods.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/json/parse.h"
#include "runnel/modules/contacts/commands.h"
#include "runnel/modules/contacts/module.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::contacts {
namespace {

namespace json = boost::json;

class ContactsRead : public testing::Test {
 protected:
  void add(std::string id, std::string name, std::string user = "ann") {
    Contact contact;
    contact.id = std::move(id);
    contact.name = std::move(name);
    ASSERT_TRUE(run_async(Repository{under_test.database()}.add(UserId{std::move(user)}, contact)));
  }
  Method method() { return under_test.module().methods().at(0); }
  // What the method's schema has against the input.
  std::vector<std::string> violations(std::string const& input) {
    auto const schema = base::JsonSchema::load(json::parse(method().input_schema), {}).value();
    std::vector<std::string> out;
    for (auto const& violation : schema.check(json::parse(input)))
      out.push_back(to_string(violation));
    return out;
  }
  // The data of a call, or "CODE: message".
  std::string read(std::string const& input, std::string user = "ann") {
    EXPECT_EQ(violations(input), std::vector<std::string>{}) << input;
    auto const answer =
        run_async(method().run(MethodCall{UserId{std::move(user)}, {}, json::parse(input).as_object(), 0}))
            .value();
    if (auto const* const failed = std::get_if<MethodFailure>(&answer))
      return failed->code + ": " + failed->message;
    EXPECT_TRUE(std::get<MethodResult>(answer).effect.empty());
    return std::get<MethodResult>(answer).data;
  }

  ModuleUnderTest under_test{define()};
};

TEST_F(ContactsRead, TOOL_12_ProgramAndServerKnowTheSameMethods) {
  std::set<std::string> of_program;
  auto const table = commands();
  for (auto const& known : table.methods)
    of_program.insert(std::string{table.name} + "." + std::string{known.name});

  EXPECT_EQ(of_program, std::set<std::string>{std::string{method().name}});
}

TEST_F(ContactsRead, TOOL_12_ListIsByNameAndHasPages) {
  add("c1", "Wei");
  add("c2", "Ada");
  add("c3", "Bob", "bob");

  auto const first = json::parse(read(R"({"mode":"list","limit":1})"));
  EXPECT_EQ(json::serialize(first.at("items")), R"([{"contact_id":"c2","name":"Ada"}])");
  EXPECT_EQ(first.at("more"), true);
  auto const cursor = std::string{first.at("next_cursor").as_string()};
  EXPECT_EQ(read(R"({"mode":"list","limit":1,"cursor":")" + cursor + "\"}"),
            R"({"items":[{"contact_id":"c1","name":"Wei"}],"count":1,"more":false})");
  EXPECT_EQ(read(R"({"mode":"list","cursor":"x"})"),
            "INVALID_ACTION_INPUT: cursor must be the next_cursor of an earlier list");
}

TEST_F(ContactsRead, TOOL_12_SearchIgnoresCaseAndWidth) {
  add("c1", "王伟 Wang");

  auto const found = R"({"items":[{"contact_id":"c1","name":"王伟 Wang"}],"count":1,"more":false})";
  EXPECT_EQ(read(R"({"mode":"search","query":"ＷＡＮＧ"})"), found);
  EXPECT_EQ(read(R"({"mode":"search","query":"伟"})"), found);
  EXPECT_EQ(read(R"({"mode":"search","query":"li"})"), R"({"items":[],"count":0,"more":false})");
  EXPECT_EQ(read(R"({"mode":"search","query":"?"})"),
            "INVALID_ACTION_INPUT: query must have a letter or a digit");
  EXPECT_EQ(read(R"({"mode":"search","query":"a b c d e f g h i"})"),
            "INVALID_ACTION_INPUT: query must have at most 8 words");
  EXPECT_EQ(read(R"({"mode":"search","query":"wang"})", "bob"), R"({"items":[],"count":0,"more":false})");
}

TEST_F(ContactsRead, TOOL_12_OneContactIsShownOnlyToItsOwner) {
  add("c1", "Wei");

  EXPECT_EQ(read(R"({"mode":"get","contact_id":"c1"})"),
            R"({"items":[{"contact_id":"c1","name":"Wei"}],"count":1,"more":false})");
  EXPECT_EQ(read(R"({"mode":"get","contact_id":"c1"})", "bob"),
            "NOT_FOUND: the user has no contact with this contact_id");
}

TEST_F(ContactsRead, TOOL_4_InputsOfOtherFormsAreRefused) {
  for (auto const* const input :
       {R"({})", R"({"mode":"all"})", R"({"mode":"get"})", R"({"mode":"search"})",
        R"({"mode":"search","query":""})", R"({"mode":"list","query":"x"})", R"({"mode":"list","limit":0})",
        R"({"mode":"list","limit":101})", R"({"mode":"list","limit":1.5})", R"({"mode":"list","limit":"5"})",
        R"({"mode":"get","contact_id":"c1","owner_id":"bob"})", R"({"mode":"get","contact_id":7})"}) {
    EXPECT_FALSE(violations(input).empty()) << input;
  }
}

}  // namespace
}  // namespace runnel::modules::contacts
