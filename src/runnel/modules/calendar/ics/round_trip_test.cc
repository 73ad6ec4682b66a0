#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/modules/calendar/ics/file_rows.h"
#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/recurrence/recurrence.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/testing/module_under_test.h"

// What one user's feed says, another user imports, and both have the same events (TOOL-12).
namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr std::int64_t kRoundTripStart = 1'777'618'800'000;  // 2026-05-01T07:00:00Z

// Makes events of all kinds, always the same ones.
class Generator {
 public:
  Event event(int number) {
    Event out;
    out.id = "evt_" + std::to_string(number);
    out.title = text(1 + below(60)) + std::to_string(number);
    if (chance(2)) out.location = "Room " + text(below(60));
    if (chance(2)) out.description = "About " + text(below(1200));
    out.timezone = one_of(kZones);
    out.all_day = chance(3);
    out.span = out.all_day ? days() : hours();
    if (chance(2)) out.reminders = one_of(kReminders);
    if (chance(2)) make_series(out);
    return out;
  }

 private:
  using Texts = std::vector<std::string>;
  static inline Texts const kZones{"UTC",
                                   "Europe/Berlin",
                                   "America/New_York",
                                   "Asia/Shanghai",
                                   "Asia/Kathmandu",
                                   "Australia/Lord_Howe",
                                   "Africa/Casablanca",
                                   "Pacific/Auckland"};
  static inline Texts const kReminders{"[0]", "[10,1440]", "[1,2,3,4,5]", "[40320]", "[90,30]"};
  static inline Texts const kRules{"FREQ=DAILY",
                                   "FREQ=DAILY;INTERVAL=3;COUNT=20",
                                   "FREQ=WEEKLY;BYDAY=MO,WE,FR",
                                   "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
                                   "FREQ=MONTHLY;BYDAY=-1FR",
                                   "FREQ=MONTHLY;BYMONTHDAY=1,15,-1",
                                   "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
                                   "FREQ=YEARLY",
                                   "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
                                   "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
                                   "FREQ=YEARLY;BYYEARDAY=1,100,-1",
                                   "FREQ=YEARLY;BYMONTH=3,10;BYDAY=2SU"};
  static inline Texts const kPieces{"a",
                                    "晨",
                                    "🙂",
                                    "👩‍👩‍👧",
                                    "שלום",
                                    "é",
                                    ";",
                                    ",",
                                    "\\",
                                    "\"",
                                    ":",
                                    "\n",
                                    "\\n",
                                    " ",
                                    "  ",
                                    "\t",
                                    "=",
                                    "x",
                                    "BEGIN:VEVENT",
                                    "\n\n",
                                    "%",
                                    "مرحبا"};

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>{0, end - 1}(random_);
  }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  std::string one_of(Texts const& texts) { return texts[below(texts.size())]; }

  std::string text(std::size_t pieces) {
    std::string out = "x";
    for (std::size_t i = 0; i < pieces && out.size() < 180 + pieces; ++i)
      out += one_of(kPieces);
    return out;
  }
  Span days() {
    auto const start =
        kRoundTripStart - kRoundTripStart % kDayMs + static_cast<std::int64_t>(below(2000)) * kDayMs;
    return {start, start + static_cast<std::int64_t>(1 + below(5)) * kDayMs};
  }
  Span hours() {
    auto const start = kRoundTripStart + static_cast<std::int64_t>(below(2000 * 86'400)) * 1000;
    return {start, start + static_cast<std::int64_t>(1 + below(20'000)) * 1000};
  }
  void make_series(Event& event) {
    event.rrule = one_of(kRules);
    if (event.rrule.find("COUNT") == std::string::npos && chance(3))
      event.rrule += event.all_day ? ";UNTIL=20401224" : ";UNTIL=20401224T120000Z";
    EXPECT_FALSE(complete_series(event).has_value()) << event.rrule;
    auto const starts = next_occurrences(event, event.span.start_at, 4).starts;
    for (std::size_t i = 1; i < starts.size(); i += 2)
      event.exdates.push_back(starts[i]);
    EXPECT_FALSE(complete_series(event).has_value()) << event.rrule;
  }

  std::mt19937_64 random_;  // Begins in the same way every time.
};

class RoundTrip : public testing::Test {
 protected:
  RoundTrip() { under_test.clock().now = kRoundTripStart; }

  std::string feed_of(std::string const& user) {
    auto const made = under_test.ask(api::Method::post, "/api/v1/calendar/feed", "", user);
    return under_test
        .ask(api::Method::get, std::string{json::parse(made.body).at("address").as_string()}, "", user)
        .body;
  }
  // By UID.
  std::map<std::string, Event> events_of(std::string const& user) {
    std::map<std::string, Event> out;
    FileRows rows{under_test.database()};
    for (auto const part : {Part::own_series, Part::own_events}) {
      auto const page = run_async(rows.page(UserId{user}, part, 0, {}, 1000)).value();
      for (auto const& exported : page.events)
        out.emplace(exported.uid, exported.event);
    }
    return out;
  }

  // The text of each VEVENT by the line with its UID, and what stands before them all as "VCALENDAR". The
  // order of events is that of ids, which are new for whoever imports them.
  static std::map<std::string, std::string> components_of(std::string const& file) {
    static constexpr std::string_view kBegin = "\r\nBEGIN:VEVENT\r\nUID:";
    static constexpr std::string_view kEnd = "\r\nEND:VCALENDAR\r\n";
    EXPECT_TRUE(file.ends_with(kEnd));
    std::string_view rest{file};
    rest.remove_suffix(std::min(rest.size(), kEnd.size()));
    std::map<std::string, std::string> out;
    std::string name = "VCALENDAR";
    for (auto end = rest.find(kBegin); end != std::string_view::npos; end = rest.find(kBegin)) {
      out.emplace(std::move(name), rest.substr(0, end));
      rest.remove_prefix(end + kBegin.size());
      name = rest.substr(0, rest.find("\r\n"));
    }
    out.emplace(std::move(name), rest);
    return out;
  }

  ModuleUnderTest under_test{define()};
};

TEST_F(RoundTrip, TOOL_12_ImportOfAFeedGivesTheSameEvents) {
  Generator generator;
  std::vector<store::SqlStatement> effects;
  for (int i = 0; i < 200; ++i)
    effects.push_back(add_event(UserId{"ann"}, generator.event(i), kRoundTripStart));
  run_async(under_test.database().write(std::move(effects))).value();

  auto const file = feed_of("ann");
  auto const told =
      json::parse(under_test.ask(api::Method::post, "/api/v1/calendar/import", file, "bob").body);

  EXPECT_EQ(told.at("count"), 200);
  EXPECT_EQ(told.at("failed"), 0) << told;
  auto const kept = events_of("bob");
  for (auto const& [uid, event] : events_of("ann")) {
    ASSERT_EQ(kept.count(uid), 1U) << uid;
    auto const& other = kept.at(uid);
    EXPECT_EQ(other.title, event.title);
    EXPECT_EQ(other.span.start_at, event.span.start_at) << event.rrule << event.timezone;
    EXPECT_EQ(other.span.end_at, event.span.end_at) << event.rrule << event.timezone;
    EXPECT_EQ(other.all_day, event.all_day);
    EXPECT_EQ(other.timezone, event.timezone);
    EXPECT_EQ(other.location, event.location);
    EXPECT_EQ(other.description, event.description);
    EXPECT_EQ(other.reminders, event.reminders);
    EXPECT_EQ(other.rrule, event.rrule);
    EXPECT_EQ(other.exdates, event.exdates) << event.rrule << event.timezone;
    EXPECT_EQ(other.series_end_at, event.series_end_at);
  }
}

TEST_F(RoundTrip, TOOL_12_FeedOfWhatWasImportedIsTheSameFile) {
  Generator generator;
  std::vector<store::SqlStatement> effects;
  for (int i = 0; i < 100; ++i)
    effects.push_back(add_event(UserId{"ann"}, generator.event(i), kRoundTripStart));
  run_async(under_test.database().write(std::move(effects))).value();
  auto const file = feed_of("ann");
  under_test.ask(api::Method::post, "/api/v1/calendar/import", file, "bob");

  auto const again =
      json::parse(under_test.ask(api::Method::post, "/api/v1/calendar/import", feed_of("bob"), "ann").body);

  ASSERT_EQ(again.at("count"), 100);
  for (auto const& item : again.at("items").as_array())
    EXPECT_EQ(item.at("outcome"), "unchanged");
  auto const components = components_of(file);
  EXPECT_EQ(components.count("VCALENDAR"), 1U);
  EXPECT_EQ(components.size(), 101U);
  EXPECT_EQ(components_of(feed_of("bob")), components);
}

TEST_F(RoundTrip, TOOL_12_SeriesInTheSecondOfTwoHoursIsTheSame) {
  Event event;
  event.id = "evt_1";
  event.title = "Tea";
  event.timezone = "America/New_York";
  event.span = {1'793'514'600'000, 1'793'514'600'000 + kHourMs};  // 2026-11-01T06:30:00Z
  event.rrule = "FREQ=WEEKLY";
  event.exdates = {event.span.start_at, event.span.start_at + 7 * kDayMs};
  ASSERT_FALSE(complete_series(event).has_value());
  run_async(under_test.database().write_one(add_event(UserId{"ann"}, event, kRoundTripStart))).value();

  under_test.ask(api::Method::post, "/api/v1/calendar/import", feed_of("ann"), "bob");

  auto const other = events_of("bob").at("evt_1");
  EXPECT_EQ(other.span.start_at, event.span.start_at);
  EXPECT_EQ(other.span.end_at, event.span.end_at);
  EXPECT_EQ(other.exdates, event.exdates);
}

}  // namespace
}  // namespace runnel::modules::calendar
