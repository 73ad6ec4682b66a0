#pragma once

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/json/parse.h"
#include "runnel/modules/calendar/module.h"
#include "runnel/modules/input_schema.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::calendar {

inline constexpr char kCreate[] = "calendar.create";
inline constexpr char kNoEvent[] = "NOT_FOUND: the user has no event with this event_id";

// The calendar's methods on a database of their own. They are called as the server calls them: the schema
// judges an input first, and an effect is written after the method has returned.
class CalendarUnderTest : public testing::Test {
 protected:
  static constexpr std::int64_t kCalledAt = 1'777'000'000'000;

  std::vector<Method> methods() { return under_test_.module().methods(); }
  Method method(std::string_view name) {
    for (auto& method : methods()) {
      if (method.name == name) return method;
    }
    throw std::logic_error("there is no method " + std::string{name});
  }
  InputSchema::Judgement judge(std::string_view name, std::string const& input) {
    return InputSchema::load(method(name).input_schema).value().judge(document(input).as_object());
  }
  static boost::json::value document(std::string_view text) {
    return std::get<boost::json::value>(parse_json(text));
  }

  // What the method answers to an input that its schema allows; the items of a batch may have faults.
  MethodAnswer call(std::string_view name, std::string const& input, std::string user = "ann") {
    auto judged = judge(name, input);
    EXPECT_EQ(judged.fault, "") << input;
    MethodCall called{UserId{std::move(user)}, preferences, document(input).as_object(), kCalledAt};
    called.item_faults = std::move(judged.item_faults);
    return run_async(method(name).run(std::move(called))).value();
  }

  // The data of a call that must succeed, after its effect is written.
  boost::json::object done(std::string_view name, std::string const& input, std::string user = "ann") {
    auto const result = std::get<MethodResult>(call(name, input, std::move(user)));
    if (!result.effect.empty()) run_async(under_test_.database().write(result.effect)).value();
    return document(result.data).as_object();
  }
  // Adds an event and returns its id.
  std::string create(std::string const& input, std::string user = "ann") {
    return std::string{done("calendar.create", input, std::move(user)).at("event_id").as_string()};
  }
  std::string create(std::string const& title, std::string const& start, std::string const& end) {
    return create(R"({"title":")" + title + R"(","start_at":")" + start + R"(","end_at":")" + end + R"("})");
  }

  // "CODE: message" of a call that must fail.
  std::string failure(std::string_view name, std::string const& input, std::string user = "ann") {
    auto const answer = call(name, input, std::move(user));
    auto const* const failed = std::get_if<MethodFailure>(&answer);
    EXPECT_NE(failed, nullptr) << input;
    return failed == nullptr ? "" : failed->code + ": " + failed->message;
  }
  // What the method's schema has against the input: "PATH: problem" for each mistake, separated by "; ".
  std::string fault(std::string_view name, std::string const& input) { return judge(name, input).fault; }

  Preferences preferences;

 private:
  ModuleUnderTest under_test_{define()};

 protected:
  store::Database& database = under_test_.database();
};

}  // namespace runnel::modules::calendar
