#include "runnel/modules/calendar/recurrence/occurrences.h"

#include <algorithm>
#include <set>

#include "runnel/modules/calendar/recurrence/recurrence.h"
#include "runnel/modules/calendar/recurrence/series_input.h"
#include "runnel/modules/calendar/testing/calendar_rows.h"
#include "runnel/store/testing/query_plan.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

// Passes everything on, and remembers how many rows the largest result had.
class MeasuredSql final : public Sql {
 public:
  explicit MeasuredSql(Sql& sql) : sql_{&sql} {}

  Async<std::vector<SqlResult>> write(std::vector<SqlStatement> statements) override {
    return sql_->write(std::move(statements));
  }
  Async<SqlResult> write_in_background(SqlStatement statement) override {
    return sql_->write_in_background(std::move(statement));
  }
  Async<SqlResult> read(SqlStatement statement) override {
    auto found = co_await sql_->read(std::move(statement));
    if (found) most_rows = std::max(most_rows, found->size());
    co_return found;
  }

  std::size_t most_rows = 0;

 private:
  Sql* sql_;
};

class ManySeries : public CalendarRowsContract {
 protected:
  // So many daily series of the owner, of which each has the exceptions.
  void fill(UserId const& owner, int count, std::vector<std::int64_t> const& exdates, UserId const* guest) {
    std::vector<SqlStatement> effect;
    Event event;
    event.title = "Standup";
    event.span = {kNow, kNow + kHourMs};
    event.timezone = "UTC";
    event.rrule = "FREQ=DAILY";
    event.series_end_at = kLastMs;
    event.exdates = exdates;
    for (int i = 0; i < count; ++i) {
      event.id = owner.text + std::to_string(i);
      effect.push_back(add_event(owner, event, kNow));
      if (guest == nullptr) continue;
      effect.push_back(add_invite(owner, event.id, Guest{"inv-" + event.id, guest->text, ""}, kNow));
    }
    ASSERT_TRUE(run_async(store().write(std::move(effect))));
  }
  static Search search(Span span, std::size_t limit, Beyond beyond) {
    Search out;
    out.user = kAnn;
    out.window = {span, span};
    out.limit = limit;
    out.beyond = beyond;
    return out;
  }
};

constexpr Span kThirdDay{kNow + 2 * kDayMs, kNow + 3 * kDayMs};

TEST_P(ManySeries, HTTP_9_SeriesAreReadInPages) {
  fill(kAnn, 130, {kNow}, nullptr);
  fill(kBob, 140, {kNow}, &kAnn);
  MeasuredSql measured{store()};

  auto const found = run_async(events_in(Repository{measured}, search(kThirdDay, 1001, Beyond::any))).value();

  std::set<std::string> ids;
  for (auto const& event : found)
    ids.insert(event.id);
  EXPECT_EQ(found.size(), 270U);
  EXPECT_EQ(ids.size(), 270U);
  EXPECT_LE(measured.most_rows, 64U);
  EXPECT_TRUE(std::all_of(found.begin(), found.end(), [](Event const& e) { return e.exdates.empty(); }))
      << "what is shown has no exceptions";
  Span const first_day{kNow, kNow + kDayMs};
  EXPECT_TRUE(run_async(events_in(Repository{measured}, search(first_day, 9, Beyond::any))).value().empty());
}

TEST_P(ManySeries, HTTP_9_NoMoreSeriesAreReadThanTheLimitNeeds) {
  fill(kAnn, 200, {}, nullptr);
  RecordingSql recorded{store()};

  auto const some = run_async(events_in(Repository{recorded}, search(kThirdDay, 10, Beyond::any))).value();
  auto const reads = recorded.was_read.size();
  auto const first = run_async(events_in(Repository{recorded}, search(kThirdDay, 10, Beyond::first_ones)));

  EXPECT_EQ(some.size(), 10U);
  EXPECT_EQ(reads, 2U);
  EXPECT_EQ(first.value().at(0).id, "ann0");
  EXPECT_EQ(first.value().at(9).id, "ann106");
}

TEST_P(ManySeries, TOOL_12_AllSeriesAreLoadedWithTheirExceptions) {
  fill(kAnn, 70, {kNow, kNow + kDayMs}, nullptr);
  fill(kBob, 3, {}, &kAnn);

  auto const loaded = run_async(load_series(Repository{store()}, kAnn, Pending::shown)).value();
  auto const accepted = run_async(load_series(Repository{store()}, kAnn, Pending::left_out)).value();

  EXPECT_EQ(loaded->size(), 73U);
  EXPECT_EQ(accepted->size(), 70U);
  EXPECT_EQ(accepted->at(69).exdates.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Engines, ManySeries, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

// How often others have had their turn when the work is done.
boost::asio::awaitable<int> count_turns(bool const* done) {
  int turns = 0;
  for (; !*done; ++turns)
    co_await let_others_run();
  co_return turns;
}

boost::asio::awaitable<int> read_changed(Event event, Event before, bool* done) {
  auto const read = co_await with_changed_series(std::move(event), std::move(before), {});
  *done = true;
  co_return std::holds_alternative<Event>(read) ? 1 : 0;
}

TEST(SeriesInput, HTTP_9_OthersHaveTheirTurnBetweenTheSearchesOfAChange) {
  Event before;
  before.title = "Standup";
  before.span = {kNow, kNow + kHourMs};
  before.timezone = "UTC";
  before.rrule = "FREQ=DAILY";
  ASSERT_FALSE(complete_series(before));
  before.exdates = {kNow + kDayMs};
  auto moved = before;
  moved.span = {kNow + kHourMs, kNow + 2 * kHourMs};
  bool done = false;

  std::vector<boost::asio::awaitable<int>> work;
  work.push_back(read_changed(moved, before, &done));
  work.push_back(count_turns(&done));
  auto const outcomes = run_all_async(std::move(work));

  EXPECT_EQ(outcomes[0], 1) << "the series is what it was";
  EXPECT_GE(outcomes[1], 4) << "a check, a move and two more searches";
}

}  // namespace
}  // namespace runnel::modules::calendar
