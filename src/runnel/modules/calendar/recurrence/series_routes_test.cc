#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/testing/module_under_test.h"

// What apps can do with events that repeat.
namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr char kEventsPath[] = "/api/v1/calendar/events";
constexpr char kDaily[] =
    R"({"title":"Tea","start_at":"2006-05-01T09:00:00Z","end_at":"2006-05-01T10:00:00Z","rrule":"freq=daily",)"
    R"("exdates":["2026-05-02T09:00:00Z"]})";

class SeriesRoute : public testing::Test {
 protected:
  api::Response ask(api::Method method, std::string const& path, std::string body = "") {
    return under_test.ask(method, kEventsPath + path, std::move(body), "ann");
  }
  std::string add() {
    auto const response = ask(api::Method::post, "", kDaily);
    EXPECT_EQ(response.status, 201) << response.body;
    return std::string{json::parse(response.body).at("event_id").as_string()};
  }
  // The first days of May 2026, and what the list says of each event.
  json::array may(std::string const& query = "?from=2026-05-01T00:00:00Z&to=2026-05-04T00:00:00Z") {
    auto const response = ask(api::Method::get, query);
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body).at("items").as_array();
  }

  ModuleUnderTest under_test{define()};
};

TEST_F(SeriesRoute, TOOL_12_ListHasTheOccurrencesOfASeriesThatBeganTwentyYearsAgo) {
  auto const id = add();

  auto const items = may();

  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items.at(0).at("occurrence_start"), "2026-05-01T09:00:00.000Z");
  EXPECT_EQ(items.at(1).at("occurrence_start"), "2026-05-03T09:00:00.000Z");
  EXPECT_EQ(items.at(1).at("end_at"), "2026-05-03T10:00:00.000Z");
  EXPECT_EQ(items.at(1).at("rrule"), "FREQ=DAILY");
  EXPECT_EQ(items.at(1).at("event_id").as_string(), id);
}

TEST_F(SeriesRoute, TOOL_12_SeriesIsShownWithItsExceptions) {
  auto const shown = json::parse(ask(api::Method::get, "/" + add()).body).as_object();

  EXPECT_EQ(shown.at("start_at"), "2006-05-01T09:00:00.000Z");
  EXPECT_EQ(json::serialize(shown.at("exdates")), R"(["2026-05-02T09:00:00.000Z"])");
  EXPECT_EQ(shown.at("next_occurrences").as_array().size(), 5U);
}

TEST_F(SeriesRoute, TOOL_12_OneOccurrenceIsDeletedByItsStart) {
  auto const path = "/" + add() + "?occurrence_start=2026-05-01T09:00:00Z";

  EXPECT_EQ(ask(api::Method::del, path).status, 204);

  EXPECT_EQ(may().size(), 1U);
  auto const again = ask(api::Method::del, path);
  EXPECT_EQ(again.status, 404);
  EXPECT_NE(again.body.find(R"("code":"NO_SUCH_OCCURRENCE")"), std::string::npos);
}

TEST_F(SeriesRoute, TOOL_12_ChangedOccurrenceIsAnsweredAsTheEventThatItBecomes) {
  auto const id = add();

  auto const response =
      ask(api::Method::patch, "/" + id, R"({"occurrence_start":"2026-05-03T09:00:00Z","title":"Cake"})");

  EXPECT_EQ(response.status, 200) << response.body;
  auto const shown = json::parse(response.body).as_object();
  EXPECT_EQ(shown.at("title"), "Cake");
  EXPECT_EQ(shown.at("series_id").as_string(), id);
  EXPECT_NE(shown.at("event_id").as_string(), id);
  EXPECT_EQ(may().at(1).at("title"), "Cake");
}

TEST_F(SeriesRoute, HTTP_2_BadRulesAreRefused) {
  auto const id = add();

  auto const response = ask(api::Method::patch, "/" + id, R"({"rrule":"FREQ=MINUTELY"})");

  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("rrule FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY"), std::string::npos)
      << response.body;
}

TEST_F(SeriesRoute, TOOL_12_ListOfTooManyOccurrencesIsRefused) {
  for (int i = 0; i < 3; ++i)
    add();

  auto const response = ask(api::Method::get, "?from=2026-05-01T00:00:00Z&to=2027-05-01T00:00:00Z");

  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("TOO_MANY_RESULTS"), std::string::npos);
}

}  // namespace
}  // namespace runnel::modules::calendar
