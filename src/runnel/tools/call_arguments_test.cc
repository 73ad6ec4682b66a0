#include "runnel/tools/call_arguments.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel::tools {
namespace {

namespace json = boost::json;

MethodNames const kAllowed{"calendar.create", "calendar.read", "contacts.read"};

PreparedCall read(std::string const& arguments) {
  return read_arguments(arguments, kAllowed);
}

// The code of the refusal; empty if the call is allowed.
std::string refusal(std::string const& arguments) {
  auto const call = read(arguments);
  if (!call.refused) return {};
  EXPECT_EQ(call.refused->status, ToolStatus::failure);
  EXPECT_EQ(call.name, "project_cli");
  return std::string{json::parse(call.refused->result.str()).at("error").at("code").as_string()};
}

std::string message(std::string const& arguments) {
  auto const call = read(arguments);
  return std::string{json::parse(call.refused.value().result.str()).at("error").at("message").as_string()};
}

TEST(CallArguments, TOOL_1_CallIsItsModuleMethodAndInput) {
  auto const call =
      read(R"({"intent":"see the day","input":{"mode":"day"},"module":"calendar","method":"read"})");

  EXPECT_FALSE(call.refused);
  EXPECT_EQ(call.name, "calendar.read");
  EXPECT_EQ(call.args.str(), R"({"module":"calendar","method":"read","input":{"mode":"day"}})");
  EXPECT_EQ(call.input.str(), R"({"mode":"day"})");
}

TEST(CallArguments, TOOL_1_InputMayBeLeftOut) {
  EXPECT_EQ(read(R"({"module":"contacts","method":"read"})").input.str(), "{}");
}

TEST(CallArguments, TOOL_1_OldFormIsRefused) {
  auto const old = R"({"command":"calendar","subcommand":"create","args":{"owner_id":"bob"}})";

  EXPECT_EQ(refusal(old), "INVALID_ACTION_INPUT");
  EXPECT_NE(message(old).find("command, subcommand, args"), std::string::npos);
  EXPECT_EQ(read(old).args.str(), R"({"input":{}})");
}

TEST(CallArguments, TOOL_3_OtherMethodsAreRefusedWithWhatThereIs) {
  EXPECT_EQ(message(R"({"module":"files","method":"read","input":{}})"),
            "there is no module 'files'; the modules are: calendar, contacts");
  EXPECT_EQ(message(R"({"module":"calendar","method":"wipe","input":{}})"),
            "the module calendar has no method 'wipe'; its methods are: create, read");
  for (auto const* const module : {"../calendar", "calendar.create", "calendar ", "Calendar",
                                   "calendar\\u000a", "--config=x", "$(reboot)", "calendar;ls", ""}) {
    EXPECT_EQ(refusal(std::string{R"({"module":")"} + module + R"(","method":"read","input":{}})"),
              "UNKNOWN_MODULE")
        << module;
  }
  EXPECT_EQ(refusal(R"({"module":"calendar","method":"read --mode day","input":{}})"), "UNKNOWN_METHOD");
}

TEST(CallArguments, TOOL_4_EverythingElseIsRefused) {
  std::string deep = R"({"module":"calendar","method":"read","input":{"x":)";
  deep += std::string(100, '[') + std::string(100, ']') + "}}";
  for (std::string const& arguments :
       {std::string{"not JSON"}, std::string{"[]"}, std::string{"null"}, std::string{},
        std::string{R"({"module":"calendar","method":"read","input":{}} {})"},
        std::string{R"({"module":"calendar","method":"read","input":[]})"},
        std::string{R"({"module":"calendar","method":"read","input":"{}"})"},
        std::string{R"({"module":["calendar"],"method":"read","input":{}})"},
        std::string{R"({"module":"calendar","input":{}})"},
        std::string{R"({"module":"calendar","method":"read","input":{},"token":"eyJ"})"},
        std::string{R"({"module":"calendar","method":"read","input":{},"owner_id":"bob"})"},
        std::string{R"({"module":"calendar","module":"contacts","method":"read","input":{}})"},
        std::string{R"({"module":"calendar","method":"read","input":{"a":1,"a":2}})"},
        std::string{R"({"module":"calendar","method":"read","input":{"a":"\u0000"}})"},
        std::string{R"({"module":"calendar","method":"read","input":{"a":99999999999999999999}})"}, deep}) {
    EXPECT_EQ(refusal(arguments), "INVALID_ACTION_INPUT") << arguments;
  }
}

TEST(CallArguments, TOOL_4_RefusedCallDoesNotShowWhatItBroughtAlong) {
  auto const call =
      read(R"({"module":"calendar","method":"read","input":{"mode":"day"},"token":"secret-canary"})");

  EXPECT_EQ(call.args.str(), R"({"module":"calendar","method":"read","input":{"mode":"day"}})");
  EXPECT_EQ(call.refused->result.str().find("secret-canary"), std::string::npos);
}

TEST(CallArguments, HTTP_6_LongArgumentsAreRefusedUnread) {
  auto const large =
      R"({"module":"calendar","method":"read","input":{"x":")" + std::string(10'000'000, 'x') + R"("}})";

  EXPECT_EQ(refusal(large), "INPUT_TOO_LARGE");
  EXPECT_EQ(read(large).args.str(), "{}");
}

TEST(CallArguments, TOOL_3_LongAndStrangeNamesAreCutInMessages) {
  auto const told = message(R"({"module":")" + std::string(5000, 'x') + R"(","method":"read","input":{}})");
  EXPECT_LT(told.size(), 200U);
  EXPECT_EQ(message(R"({"module":"a\u001b[31m\u2028","method":"read","input":{}})").find('\x1b'),
            std::string::npos);
}

}  // namespace
}  // namespace runnel::tools
