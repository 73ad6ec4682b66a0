#include "runnel/modules/calendar/repository.h"

#include <optional>

#include "runnel/modules/calendar/module.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

constexpr Span kNoon{kNow, kNow + kHourMs};

Event event_row(std::string id, Span span = kNoon) {
  Event event;
  event.id = std::move(id);
  event.title = "晨会 \"daily\" ☕";
  event.span = span;
  event.timezone = "Asia/Shanghai";
  return event;
}

class CalendarRows : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }

  Repository& rows() {
    if (!rows_) rows_.emplace(store());
    return *rows_;
  }
  Result<SqlResult> try_to_add(UserId const& owner, Event const& event) {
    return run_async(store().write_one(add_event(owner, event, kNow)));
  }
  void add(UserId const& owner, Event const& event) { ASSERT_TRUE(try_to_add(owner, event)); }
  std::optional<Event> find(UserId const& owner, std::string id) {
    return run_async(rows().find(owner, std::move(id))).value();
  }
  std::vector<std::string> overlapping(Span span, std::size_t limit = 100, UserId const& owner = kAnn) {
    std::vector<std::string> ids;
    for (auto const& event : run_async(rows().overlapping(owner, Window{span, {}}, limit)).value())
      ids.push_back(event.id);
    return ids;
  }
  std::string stored(UserId const& owner = kAnn) {
    return cell("SELECT coalesce((SELECT bytes FROM storage_totals WHERE owner_id = '" + owner.text +
                "'), -1)");
  }

 private:
  std::optional<Repository> rows_;
};

using Ids = std::vector<std::string>;

TEST_P(CalendarRows, TOOL_12_EventComesBackAsItWasAdded) {
  auto event = event_row("e1");
  event.location = "Café\nBerlin";
  event.description = "likes \\ and 茶";

  add(kAnn, event);

  auto const found = find(kAnn, "e1").value();
  EXPECT_EQ(found.id, "e1");
  EXPECT_EQ(found.title, event.title);
  EXPECT_EQ(found.span.start_at, kNow);
  EXPECT_EQ(found.span.end_at, kNow + kHourMs);
  EXPECT_EQ(found.timezone, "Asia/Shanghai");
  EXPECT_EQ(found.location, event.location);
  EXPECT_EQ(found.description, event.description);
  EXPECT_EQ(sql("SELECT owner_id, created_at, updated_at FROM calendar_events"),
            (TextRows{{"ann", std::to_string(kNow), std::to_string(kNow)}}));
}

TEST_P(CalendarRows, TOOL_12_EventWithoutPlaceAndDescriptionHasNone) {
  add(kAnn, event_row("e1"));

  auto const found = find(kAnn, "e1").value();
  EXPECT_EQ(found.location, "");
  EXPECT_EQ(found.description, "");
  EXPECT_EQ(sql("SELECT location, description FROM calendar_events"), (TextRows{{"null", "null"}}));
}

TEST_P(CalendarRows, RUN_12_AddingAnEventCanBeRepeated) {
  add(kAnn, event_row("e1"));
  auto other = event_row("e1");
  other.title = "Changed";

  add(kAnn, other);

  EXPECT_EQ(cell("SELECT count(*) FROM calendar_events"), "1");
  EXPECT_EQ(find(kAnn, "e1").value().title, event_row("e1").title);
}

TEST_P(CalendarRows, HTTP_3_AnothersEventIsNeverReadOrChanged) {
  add(kBob, event_row("e1"));

  EXPECT_FALSE(find(kAnn, "e1").has_value());
  EXPECT_EQ(overlapping({0, kLastMs}), Ids{});
  EXPECT_EQ(overlapping({0, kLastMs}, 100, kBob), Ids{"e1"});
  EXPECT_EQ(refusal(try_to_add(kAnn, event_row("e1"))), Errc::conflict);
  EXPECT_EQ(cell("SELECT owner_id FROM calendar_events"), "bob");
}

TEST_P(CalendarRows, TOOL_12_EventThatDoesNotExistIsNotFound) {
  add(kAnn, event_row("e1"));

  EXPECT_FALSE(find(kAnn, "e2").has_value());
  EXPECT_FALSE(find(kAnn, "E1").has_value());
  EXPECT_FALSE(find(kAnn, "").has_value());
}

TEST_P(CalendarRows, TOOL_12_EventsOverlapASpanIfTheyHaveAPartInIt) {
  constexpr Span kAsked{10'000, 20'000};
  add(kAnn, event_row("ends-at-start", {9'000, 10'000}));
  add(kAnn, event_row("ends-after-start", {9'000, 10'001}));
  add(kAnn, event_row("around", {9'999, 20'001}));
  add(kAnn, event_row("same", kAsked));
  add(kAnn, event_row("inside", {15'000, 15'001}));
  add(kAnn, event_row("starts-before-end", {19'999, 30'000}));
  add(kAnn, event_row("starts-at-end", {20'000, 30'000}));

  EXPECT_EQ(overlapping(kAsked), (Ids{"ends-after-start", "around", "same", "inside", "starts-before-end"}));
}

TEST_P(CalendarRows, TOOL_12_LongestEventIsFoundUntilItEnds) {
  add(kAnn, event_row("long", {kNow, kNow + kLongestSpanMs}));

  auto const end = kNow + kLongestSpanMs;
  EXPECT_EQ(overlapping({end - 1, end + 1}), Ids{"long"});
  EXPECT_EQ(overlapping({end, end + 1}), Ids{});
}

TEST_P(CalendarRows, TOOL_12_EmptySpanHasNoEvents) {
  add(kAnn, event_row("e1", {1'000, 3'000}));

  EXPECT_EQ(overlapping({2'000, 2'000}), Ids{});
  EXPECT_EQ(overlapping({2'000, 1'500}), Ids{});
}

TEST_P(CalendarRows, TOOL_12_EventsAreOrderedByStartAndThenById) {
  for (auto const* id : {"b", "a", "B", "_", "é"})
    add(kAnn, event_row(id));
  add(kAnn, event_row("z", {kNow - 1, kNow + 1}));

  EXPECT_EQ(overlapping(kNoon), (Ids{"z", "B", "_", "a", "b", "é"}));
  EXPECT_EQ(overlapping(kNoon, 2), (Ids{"z", "B"}));
}

TEST_P(CalendarRows, HTTP_9_EventsCountInTheirOwnersStorage) {
  EXPECT_EQ(stored(), "-1");
  auto event = event_row("e1");
  event.title = "晨会";  // Six bytes.
  event.timezone = "UTC";
  add(kAnn, event);
  EXPECT_EQ(stored(), "209");

  add(kAnn, event);
  EXPECT_EQ(stored(), "209") << "a repeat adds nothing";

  event.id = "e2";
  event.location = "é";
  event.description = "long";
  add(kAnn, event);
  add(kBob, event_row("e3"));
  EXPECT_EQ(stored(), "424");

  sql("DELETE FROM calendar_events WHERE id = 'e1'");
  EXPECT_EQ(stored(), "215");
  sql("DELETE FROM calendar_events WHERE owner_id = 'ann'");
  EXPECT_EQ(stored(), "0");
  EXPECT_EQ(stored(kBob), std::to_string(213 + event_row("").title.size()));
}

TEST_P(CalendarRows, HTTP_9_ChangesOfAnEventCount) {
  auto event = event_row("e1");
  event.title = "one";
  event.timezone = "UTC";
  add(kAnn, event);

  sql("UPDATE calendar_events SET title = 'seven', description = 'é'");
  EXPECT_EQ(stored(), "210");
  sql("UPDATE calendar_events SET title = 'one', description = NULL, timezone = 'Asia/Tokyo', location = "
      "'x'");
  EXPECT_EQ(stored(), "214");
  sql("UPDATE calendar_events SET start_at = start_at + 1");
  EXPECT_EQ(stored(), "214");

  sql("UPDATE calendar_events SET owner_id = 'bob'");
  EXPECT_EQ(stored(), "0");
  EXPECT_EQ(stored(kBob), "214");
}

TEST_P(CalendarRows, HTTP_9_EventsAndRunsShareOneSum) {
  add(kAnn, event_row("e1"));
  auto const events = std::stoll(stored());

  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 4));
  auto const both = std::stoll(stored());
  sql("DELETE FROM calendar_events");

  EXPECT_GT(both, events);
  EXPECT_EQ(stored(), std::to_string(both - events));
}

TEST_P(CalendarRows, HTTP_9_EventThatIsUndoneCountsNothing) {
  auto const refused = run_async(
      store().write({add_event(kAnn, event_row("e1"), kNow), add_event(kAnn, event_row(""), kNow)}));

  EXPECT_EQ(refusal(refused), Errc::invalid);
  EXPECT_EQ(stored(), "-1");
}

TEST_P(CalendarRows, DB_2_OnlyPossibleEventsAreHeld) {
  std::string const longest = std::string(199, 'x') + "茶";  // Characters are counted, not bytes.
  std::vector<Event> bad(11, event_row("bad"));
  bad[0].id = "";
  bad[1].title = "";
  bad[2].title = longest + "x";
  bad[3].title = std::string{"a\0b", 3};
  bad[4].span = {-1, 1};
  bad[5].span = {kLastMs, kLastMs + 1};
  bad[6].span = {kNow, kNow};
  bad[7].span = {kNow, kNow + kLongestSpanMs + 1};
  bad[8].timezone = "";
  bad[9].location = longest + "x";
  bad[10].description = std::string(4001, 'x');
  auto good = event_row("good", {0, kLongestSpanMs});
  good.title = longest;
  good.location = longest;
  good.description = std::string(4000, 'x');

  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_EQ(refusal(try_to_add(kAnn, bad[i])), Errc::invalid) << i;
  EXPECT_EQ(refusal(try_to_add(UserId{}, event_row("e1"))), Errc::invalid);

  EXPECT_TRUE(try_to_add(kAnn, good));
  EXPECT_TRUE(try_to_add(kAnn, event_row("last", {kLastMs - 1, kLastMs})));
  EXPECT_EQ(cell("SELECT count(*) FROM calendar_events"), "2");
}

INSTANTIATE_TEST_SUITE_P(Engines, CalendarRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::calendar
