#include <optional>

#include "runnel/modules/calendar/testing/calendar_rows.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

constexpr Span kFirst{kNow, kNow + 3'600'000};

Event series_row(std::string id, std::int64_t series_end_at = kLastMs) {
  Event event;
  event.id = std::move(id);
  event.title = "Standup";
  event.span = kFirst;
  event.timezone = "UTC";
  event.rrule = "FREQ=DAILY";
  event.series_end_at = series_end_at;
  return event;
}

class SeriesRows : public CalendarRowsContract {
 protected:
  void share(std::string const& event, UserId const& guest, UserId const& owner) {
    ASSERT_TRUE(write(add_invite(owner, event, {event + "-" + guest.text, guest.text, ""}, kNow)));
  }
  void answer(std::string const& invite, UserId const& guest, char const* status) {
    ASSERT_TRUE(write(answer_invite(guest, invite, status, kNow + 1)));
  }
  std::optional<Event> find(std::string id, UserId const& user = kAnn) {
    return run_async(Repository{store()}.find(user, std::move(id))).value();
  }
  std::vector<std::string> series(Span span, Pending pending = Pending::shown, UserId const& user = kAnn) {
    std::vector<std::string> ids;
    Repository rows{store()};
    for (auto const& page :
         {run_async(rows.own_series(user, Window{span, span}, {pending}, {}, 9)).value(),
          run_async(rows.invited_series(user, Window{span, span}, {pending}, {}, 9)).value()})
      for (auto const& event : page)
        ids.push_back(event.id);
    return ids;
  }
  std::int64_t count(UserId const& user = kAnn) {
    return run_async(Repository{store()}.count_series(user)).value();
  }
  // Adds series of ann, up to the limit if nothing else is said, without the module.
  void fill_up_to_limit(int count = 500) {
    sql("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, "
        "updated_at, rrule, series_end_at) WITH RECURSIVE n(i) AS (SELECT CAST(1 AS bigint) UNION ALL "
        "SELECT i + 1 FROM n WHERE i < " +
        std::to_string(count) + ") SELECT 's' || i, 'ann', 'x', 1, 2, 'UTC', 1, 1, 'FREQ=DAILY', 9 FROM n");
  }
  std::string stored(UserId const& owner = kAnn) {
    return cell("SELECT bytes FROM storage_totals WHERE owner_id = '" + owner.text + "'");
  }
};

using Ids = std::vector<std::string>;

TEST_P(SeriesRows, TOOL_12_SeriesComesBackAsItWasAdded) {
  auto event = series_row("s1", kNow + 9 * kDayMs);
  event.rrule = "FREQ=WEEKLY;COUNT=2";
  event.exdates = {kNow, kNow + 7 * kDayMs};

  add(event);

  auto const found = find("s1").value();
  EXPECT_EQ(found.rrule, "FREQ=WEEKLY;COUNT=2");
  EXPECT_EQ(found.exdates, event.exdates);
  EXPECT_EQ(found.series_end_at, kNow + 9 * kDayMs);
  EXPECT_EQ(cell("SELECT exdates FROM calendar_events"), "[1700000000000,1700604800000]");
}

TEST_P(SeriesRows, TOOL_12_ChangeMakesASeriesAndEndsIt) {
  auto event = series_row("s1");
  add(event);

  event.rrule.clear();
  ASSERT_TRUE(write(replace_event(kAnn, event, kNow)));
  EXPECT_EQ(sql("SELECT rrule, exdates, series_end_at FROM calendar_events"),
            (TextRows{{"null", "null", "null"}}));

  event = series_row("s1");
  event.revision = 2;
  ASSERT_TRUE(write(replace_event(kAnn, event, kNow)));
  EXPECT_EQ(find("s1").value().rrule, "FREQ=DAILY");
}

TEST_P(SeriesRows, TOOL_12_SeriesIsFoundBetweenItsBeginningAndItsEnd) {
  add(series_row("ends", kNow + 2 * kDayMs));
  add(series_row("endless"));
  auto single = series_row("single", 0);
  single.rrule.clear();
  add(single);

  EXPECT_EQ(series({kNow - 10, kNow}), Ids{});
  EXPECT_EQ(series({kNow - 10, kNow + 1}), (Ids{"ends", "endless"}));
  EXPECT_EQ(series({kNow + 2 * kDayMs, kNow + 3 * kDayMs}), Ids{"endless"});
  EXPECT_EQ(series({kLastMs - 1, kLastMs}), Ids{"endless"});
}

TEST_P(SeriesRows, TOOL_12_SeriesIsNotAmongSingleEvents) {
  add(series_row("mine"));
  add(series_row("theirs"), kBob);
  share("theirs", kAnn, kBob);

  auto const singles = run_async(Repository{store()}.overlapping(kAnn, Window{kFirst, kFirst}, 10)).value();

  EXPECT_TRUE(singles.empty());
}

TEST_P(SeriesRows, TOOL_12_GuestsSeriesAreThoseAcceptedAndThenThosePending) {
  for (auto const* const id : {"a", "b", "c"}) {
    add(series_row(id), kBob);
    share(id, kAnn, kBob);
  }
  add(series_row("not-shared"), kBob);
  answer("b-ann", kAnn, "accepted");
  answer("c-ann", kAnn, "rejected");

  EXPECT_EQ(series(kFirst), (Ids{"b", "a"}));
  EXPECT_EQ(series(kFirst, Pending::left_out), Ids{"b"});
}

TEST_P(SeriesRows, TOOL_12_InvitationsFollowWhenASeriesBeginsEndsOrIsNoneAnyMore) {
  auto event = series_row("s1", kNow + 2 * kDayMs);
  event.span = {kNow, kNow + 1};
  add(event, kBob);
  share("s1", kAnn, kBob);
  auto const kept = [&] { return sql("SELECT start_at, end_at, series_end_at FROM calendar_invites"); };
  auto const now = std::to_string(kNow);
  auto const after = std::to_string(kNow + 1);
  EXPECT_EQ(kept(), (TextRows{{now, after, std::to_string(kNow + 2 * kDayMs)}}));

  event.series_end_at = kLastMs;
  ASSERT_TRUE(write(replace_event(kBob, event, kNow)));
  EXPECT_EQ(kept(), (TextRows{{now, after, std::to_string(kLastMs)}}));

  event.rrule.clear();
  event.revision = 2;
  ASSERT_TRUE(write(replace_event(kBob, event, kNow)));
  EXPECT_EQ(kept(), (TextRows{{now, after, "null"}}));
}

TEST_P(SeriesRows, HTTP_9_RulesAndExceptionsCountInStorage) {
  auto event = series_row("s1");  // A title of 7 bytes, a zone of 3 and a rule of 10.
  add(event);
  EXPECT_EQ(stored(), "220");

  event.exdates = {kNow};  // As JSON, 15 bytes.
  ASSERT_TRUE(write(replace_event(kAnn, event, kNow)));
  EXPECT_EQ(stored(), "235");

  ASSERT_TRUE(write(remove_event(kAnn, "s1")));
  EXPECT_EQ(stored(), "0");
}

TEST_P(SeriesRows, TOOL_12_NoUserHasMoreSeriesThanTheLimit) {
  fill_up_to_limit();
  auto single = series_row("single", 0);
  single.rrule.clear();
  auto kept = find("s1").value();

  EXPECT_EQ(refusal(write(add_event(kAnn, series_row("more"), kNow))), Errc::conflict);
  EXPECT_TRUE(write(add_event(kBob, series_row("other"), kNow)));
  EXPECT_TRUE(write(add_event(kAnn, single, kNow)));
  single.rrule = "FREQ=DAILY";
  single.series_end_at = kLastMs;
  EXPECT_EQ(refusal(write(replace_event(kAnn, single, kNow))), Errc::conflict);
  EXPECT_TRUE(write(replace_event(kAnn, kept, kNow))) << "a series of the 500 can be changed";
  EXPECT_EQ(count(), kMostSeries);
}

// Concurrent writes on PostgreSQL can add one too many.
TEST_P(SeriesRows, TOOL_12_SeriesBeyondTheLimitCanBeChanged) {
  fill_up_to_limit(501);
  auto series = find("s1").value();
  series.rrule = "FREQ=WEEKLY";

  EXPECT_TRUE(write(replace_event(kAnn, series, kNow)));

  series.revision = 2;
  series.rrule.clear();
  EXPECT_TRUE(write(replace_event(kAnn, series, kNow)));
  series.revision = 3;
  series.rrule = "FREQ=DAILY";
  EXPECT_EQ(refusal(write(replace_event(kAnn, series, kNow))), Errc::conflict)
      << "it is not a series any more";
}

TEST_P(SeriesRows, TOOL_12_PagesOfSeriesHaveAll) {
  for (auto const* const id : {"a", "b", "c", "d"}) {
    add(series_row(id, id[0] == 'a' ? kLastMs : kNow + kDayMs), kBob);
    share(id, kAnn, kBob);
  }
  for (auto const* const id : {"c", "d"})
    answer(std::string{id} + "-ann", kAnn, "accepted");
  Repository rows{store()};
  Window const window{kFirst, kFirst};
  auto const page = [&](SeriesPlace after) {
    Ids ids;
    for (auto const& event : run_async(rows.invited_series(kAnn, window, {}, std::move(after), 2)).value())
      ids.push_back(event.id);
    return ids;
  };

  EXPECT_EQ(page({}), (Ids{"c", "d"}));
  EXPECT_EQ(page({"accepted", kNow + kDayMs, "c-ann"}), (Ids{"d", "b"}));
  EXPECT_EQ(page({"accepted", kNow + kDayMs, "d-ann"}), (Ids{"b", "a"}));
  EXPECT_EQ(page({"pending", kNow + kDayMs, "b-ann"}), Ids{"a"});
  auto const own = [&](SeriesPlace after) {
    return run_async(rows.own_series(kBob, window, {}, std::move(after), 2)).value();
  };
  EXPECT_EQ(own({}).back().id, "c");
  EXPECT_EQ(own({"", kNow + kDayMs, "c"}).at(0).id, "d");
  EXPECT_EQ(own({"", kNow + kDayMs, "c"}).at(1).id, "a");
}

TEST_P(SeriesRows, TOOL_12_SeriesHasRoomFor500ExceptionsOfAnyYear) {
  auto event = series_row("s1");
  for (int i = 0; i < 500; ++i)
    event.exdates.push_back(kLastMs - (500 - i) * kDayMs);

  ASSERT_TRUE(write(add_event(kAnn, event, kNow)));

  EXPECT_EQ(find("s1").value().exdates, event.exdates);
  EXPECT_EQ(cell("SELECT length(exdates) FROM calendar_events"), "8001");
}

TEST_P(SeriesRows, RUN_12_AddingTheLastSeriesCanBeRepeated) {
  fill_up_to_limit();
  ASSERT_TRUE(write(remove_event(kAnn, "s1")));

  EXPECT_TRUE(write(add_event(kAnn, series_row("last"), kNow)));
  EXPECT_TRUE(write(add_event(kAnn, series_row("last"), kNow)));
}

TEST_P(SeriesRows, DB_2_OnlyPossibleSeriesAreHeld) {
  std::vector<Event> bad(5, series_row("bad"));
  bad[0].rrule = std::string(513, 'x');
  bad[1].series_end_at = kFirst.end_at - 1;
  bad[2].series_end_at = kLastMs + 1;
  bad[3].exdates = std::vector<std::int64_t>(600, kNow);
  bad[4].rrule.clear();
  bad[4].exdates = {kNow};

  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_EQ(refusal(write(add_event(kAnn, bad[i], kNow))), Errc::invalid) << i;

  EXPECT_TRUE(write(add_event(kAnn, series_row("good", kFirst.end_at), kNow)));
}

INSTANTIATE_TEST_SUITE_P(Engines, SeriesRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::calendar
