#pragma once

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/json/parse.h"
#include "runnel/modules/calendar/module.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::calendar {

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
  base::JsonSchema schema(std::string_view name) {
    return base::JsonSchema::load(document(method(name).input_schema), {}).value();
  }
  static boost::json::value document(std::string_view text) {
    return std::get<boost::json::value>(parse_json(text));
  }

  // What the method answers to an input that its schema allows.
  MethodAnswer call(std::string_view name, std::string const& input, std::string user = "ann") {
    auto const sent = document(input);
    for (auto const& violation : schema(name).check(sent))
      ADD_FAILURE() << input << ": " << to_string(violation);
    return run_async(method(name).run(
                         MethodCall{UserId{std::move(user)}, preferences, sent.as_object(), kCalledAt}))
        .value();
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
  // What the method's schema has against the input.
  std::vector<std::string> violations(std::string_view name, std::string const& input) {
    std::vector<std::string> out;
    for (auto const& violation : schema(name).check(document(input)))
      out.push_back(to_string(violation));
    return out;
  }

  Preferences preferences;

 private:
  ModuleUnderTest under_test_{define()};

 protected:
  store::Database& database = under_test_.database();
};

}  // namespace runnel::modules::calendar
