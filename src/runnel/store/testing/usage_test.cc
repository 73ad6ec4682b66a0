#include <array>
#include <map>
#include <random>

#include "runnel/store/testing/ledger_contract.h"

// What is read from the ledger: sums by thread, model and day (USE-8).
namespace runnel::store {
namespace {

constexpr std::int64_t kDay = 86'400'000;
constexpr std::int64_t kMidnight = 1'700'006'400'000;  // 2023-11-15, UTC.

class StoreUsage : public LedgerContract {
 protected:
  static UsageQuery asking(UsageGroup group = UsageGroup::none) {
    UsageQuery query;
    query.owner = kAnn;
    query.group = group;
    return query;
  }
  UsageReport usage(UsageQuery query) { return run_async(store().usage(std::move(query))).value(); }

  // Adds an ended call to the run.
  void spend(Admission const& run, std::string id, std::string model, std::int64_t at, Money cost,
             bool complete = true) {
    auto call = new_call(id, run);
    call.model = std::move(model);
    call.started_at = at;
    open(std::move(call)).value();
    auto const last_n = row(run.run).last_n;
    auto request = append_request(run.run, run.epoch, batch(last_n + 1, last_n + 1));
    request.call_ends = {call_end(std::move(id), cost)};
    request.call_ends[0].tokens.complete = complete;
    run_async(store().append(std::move(request))).value();
  }

  static std::vector<std::string> lines(UsageReport const& report) {
    std::vector<std::string> out;
    for (auto const& row : report.rows) {
      out.push_back(row.key + " " + std::to_string(row.calls) + " " + row.cost);
    }
    return out;
  }
};

using Lines = std::vector<std::string>;

TEST_P(StoreUsage, USE_8_NothingIsZeroAndComplete) {
  auto const report = usage(asking(UsageGroup::model));

  EXPECT_EQ(report.currency, "CNY");
  EXPECT_EQ(report.total.calls, 0);
  EXPECT_EQ(report.total.cost, "0");
  EXPECT_TRUE(report.total.complete);
  EXPECT_TRUE(report.rows.empty());
}

TEST_P(StoreUsage, USE_8_SumsOfAllCallsThatHaveEnded) {
  spend(run_, "c1", "a", kNow, Money{1'500'000'000'000});
  spend(run_, "c2", "b", kNow, Money{1});
  ASSERT_TRUE(open("open"));

  auto const report = usage(asking());

  EXPECT_EQ(report.total.calls, 2);
  EXPECT_EQ(report.total.input_tokens, 200);
  EXPECT_EQ(report.total.output_tokens, 80);
  EXPECT_EQ(report.total.cached_tokens, 120);
  EXPECT_EQ(report.total.reasoning_tokens, 30);
  EXPECT_EQ(report.total.cost, "1.500000000001");
  EXPECT_TRUE(report.total.complete);
  EXPECT_TRUE(report.rows.empty());
}

TEST_P(StoreUsage, USE_10_OneIncompleteCallMakesItsSumsIncomplete) {
  spend(run_, "c1", "a", kNow, Money{1});
  spend(run_, "c2", "b", kNow, Money{1}, false);

  auto const report = usage(asking(UsageGroup::model));

  EXPECT_FALSE(report.total.complete);
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_TRUE(report.rows[0].complete);
  EXPECT_FALSE(report.rows[1].complete);
}

TEST_P(StoreUsage, USE_8_GroupsAreByThreadModelAndUtcDay) {
  auto const second = admit(admission("r2", "T2"));
  spend(run_, "c1", "b", kMidnight - 1, Money{1});
  spend(run_, "c2", "a", kMidnight, Money{2});
  spend(second, "c3", "b", kMidnight + kDay - 1, Money{4});
  spend(second, "c4", "B", kMidnight + kDay, Money{8});

  EXPECT_EQ(lines(usage(asking(UsageGroup::thread))), (Lines{"T2 2 0.000000000012", "t1 2 0.000000000003"}));
  EXPECT_EQ(lines(usage(asking(UsageGroup::model))),
            (Lines{"B 1 0.000000000008", "a 1 0.000000000002", "b 2 0.000000000005"}));
  EXPECT_EQ(
      lines(usage(asking(UsageGroup::day))),
      (Lines{"2023-11-14 1 0.000000000001", "2023-11-15 2 0.000000000006", "2023-11-16 1 0.000000000008"}));
  EXPECT_EQ(usage(asking(UsageGroup::day)).total.cost, "0.000000000015");
}

TEST_P(StoreUsage, USE_8_RangeIsHalfOpenAndByTheStart) {
  for (std::int64_t i = 0; i < 4; ++i) {
    spend(run_, "c" + std::to_string(i), "a", kNow + i, Money{1 << i});
  }
  auto query = asking();
  query.from = kNow + 1;
  query.to = kNow + 3;

  EXPECT_EQ(usage(query).total.cost, "0.000000000006");

  query.to = query.from;
  EXPECT_EQ(usage(query).total.calls, 0);
}

TEST_P(StoreUsage, USE_8_OneThreadAlone) {
  auto const second = admit(admission("r2", "t2"));
  spend(run_, "c1", "a", kNow, Money{1});
  spend(second, "c2", "a", kNow, Money{2});
  auto query = asking(UsageGroup::model);
  query.thread = ThreadId{"t2"};

  EXPECT_EQ(lines(usage(query)), Lines{"a 1 0.000000000002"});

  query.to = 0;
  EXPECT_EQ(usage(query).total.calls, 0) << "a thread without calls in the range still exists";
}

TEST_P(StoreUsage, HTTP_3_OthersCallsAndThreadsDoNotExist) {
  auto const bobs = admit(admission("r2", "t2", "bob"));
  spend(bobs, "c1", "a", kNow, Money{1});

  EXPECT_EQ(usage(asking()).total.calls, 0);
  auto query = asking();
  query.thread = ThreadId{"t2"};
  EXPECT_EQ(refusal(run_async(store().usage(query))), Errc::not_found);
  query.thread = ThreadId{"never"};
  EXPECT_EQ(refusal(run_async(store().usage(query))), Errc::not_found);
}

TEST_P(StoreUsage, USE_8_DeletedThreadStillCounts) {
  spend(run_, "c1", "a", kNow, Money{5});
  end(run_.run, run_.epoch, batch(4, 4));
  ASSERT_EQ(run_async(store().delete_thread(kAnn, ThreadId{"t1"})).value(), DeleteOutcome::deleted);

  EXPECT_EQ(lines(usage(asking(UsageGroup::thread))), Lines{"t1 1 0.000000000005"});
  auto query = asking();
  query.thread = ThreadId{"t1"};
  EXPECT_EQ(usage(query).total.cost, "0.000000000005");
}

TEST_P(StoreUsage, USE_8_TokensThatDoNotFitAreTheMostThatDo) {
  for (auto const* const id : {"c1", "c2"}) {
    auto call = new_call(id, run_);
    call.model = id;
    ASSERT_TRUE(open(call));
    auto end = call_end(id, Money{INT64_MAX});
    end.tokens.input = INT64_MAX;
    end.tokens.output = INT64_MAX / 2;
    ASSERT_TRUE(append({}, {end}));
  }

  auto const total = usage(asking(UsageGroup::model)).total;

  EXPECT_EQ(total.input_tokens, INT64_MAX);
  EXPECT_EQ(total.output_tokens, INT64_MAX - 1);
  EXPECT_EQ(total.cost, "18446744.073709551614");
}

TEST_P(StoreUsage, USE_8_GroupsComeInPagesOfAStableOrder) {
  for (auto const* const model : {"d", "a", "c", "b", "e"}) {
    spend(run_, std::string{"c-"} + model, model, kNow, Money{1});
  }
  auto query = asking(UsageGroup::model);
  query.limit = 2;

  Lines seen;
  for (bool more = true; more;) {
    auto const page = usage(query);
    EXPECT_EQ(page.total.calls, 5) << "the total counts all groups";
    for (auto const& row : page.rows) {
      seen.push_back(row.key);
    }
    more = page.more;
    query.after = seen.back();
    ASSERT_LE(seen.size(), 5u);
  }
  EXPECT_EQ(seen, (Lines{"a", "b", "c", "d", "e"}));
}

TEST_P(StoreUsage, USE_8_DaysAtTheEdgesAreCountedByTheCall) {
  auto const second = admit(admission("r2", "t2"));
  for (int i = 0; i < 12; ++i) {
    auto const at = kMidnight + i * kDay / 4;
    spend(i % 2 == 0 ? run_ : second, "c" + std::to_string(i), "m", at, Money{1 << i});
  }
  auto query = asking(UsageGroup::day);
  query.from = kMidnight + kDay / 4 + 1;
  query.to = kMidnight + 2 * kDay + kDay / 4 + 1;

  EXPECT_EQ(lines(usage(query)), (Lines{"2023-11-15 2 0.000000000012", "2023-11-16 4 0.00000000024",
                                        "2023-11-17 2 0.000000000768"}));
  query.group = UsageGroup::thread;
  EXPECT_EQ(lines(usage(query)), (Lines{"t1 4 0.00000000034", "t2 4 0.00000000068"}));
  query.after = "t1";
  EXPECT_EQ(lines(usage(query)), Lines{"t2 4 0.00000000068"});
  query.after = "";
  query.thread = ThreadId{"t2"};
  EXPECT_EQ(lines(usage(query)), Lines{"t2 4 0.00000000068"});
  query.group = UsageGroup::model;
  EXPECT_EQ(lines(usage(query)), Lines{"m 4 0.00000000068"});
}

// --- Many rows ---

struct Sums {
  std::int64_t calls = 0;
  std::int64_t input_tokens = 0;
  MoneyTotal cost;

  void add(std::int64_t tokens, std::int64_t pico) {
    ++calls;
    input_tokens += tokens;
    cost.add(Money{pico});
  }
};

void expect_equal(UsageRow const& row, Sums const& sums) {
  EXPECT_EQ(row.calls, sums.calls) << row.key;
  EXPECT_EQ(row.input_tokens, sums.input_tokens) << row.key;
  EXPECT_EQ(row.cost, to_decimal(sums.cost)) << row.key;
}

TEST_P(StoreUsage, USE_8_TotalsOfManyRowsEqualTheirSumsToTheLastDigit) {
  constexpr int kRows = 10'000;
  constexpr int kBatch = 100;
  constexpr std::array kModels{"deepseek-chat", "deepseek-reasoner", "qwen-max"};
  constexpr std::array kDays{"2023-11-15", "2023-11-16", "2023-11-17", "2023-11-18", "2023-11-19"};
  std::mt19937_64 random{20261116};
  Sums total;
  std::map<std::string, Sums> by_model;
  std::map<std::string, Sums> by_day;
  auto const run = std::to_string(run_.run.value);
  for (int first = 0; first < kRows; first += kBatch) {
    std::string insert =
        "INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, provider, "
        "input_estimate, cost_estimate, currency, model, started_at, input_tokens, cost, reserve) "
        "SELECT 'c' || column1, 'ann', 't1', 'r1', " +
        run + ", 1, 's', 1, 'p', 0, 0, 'CNY', column2, column3, column4, column5, column5 FROM (VALUES ";
    for (int i = first; i < first + kBatch; ++i) {
      auto const* const model = kModels[random() % kModels.size()];
      auto const day = random() % kDays.size();
      auto const at = kMidnight + static_cast<std::int64_t>(day * kDay + random() % kDay);
      auto const tokens = static_cast<std::int64_t>(random() % 1'000'000);
      // From a few pico to the largest amount.
      auto const pico = static_cast<std::int64_t>(random() >> (1 + random() % 60));
      total.add(tokens, pico);
      by_model[model].add(tokens, pico);
      by_day[kDays[day]].add(tokens, pico);
      insert += (i == first ? "(" : ",(") + std::to_string(i) + ",'" + model + "'," + std::to_string(at) +
                "," + std::to_string(tokens) + "," + amount(pico) + ")";
    }
    sql(insert + ") AS made");
    sql("UPDATE model_calls SET status = 'completed', ended_at = 1 WHERE status = 'open'");
  }

  auto const days = usage(asking(UsageGroup::day));
  auto const models = usage(asking(UsageGroup::model));

  expect_equal(usage(asking()).total, total);
  expect_equal(days.total, total);
  auto pieces = asking();
  auto const somewhere = kMidnight + kDay + 12'345'678;
  pieces.to = somewhere;
  auto const before = usage(pieces).total;
  pieces.to.reset();
  pieces.from = somewhere;
  auto const after = usage(pieces).total;
  EXPECT_GT(before.calls, 0);
  EXPECT_EQ(before.calls + after.calls, total.calls);
  EXPECT_EQ(before.input_tokens + after.input_tokens, total.input_tokens);
  ASSERT_EQ(days.rows.size(), kDays.size());
  for (auto const& row : days.rows) {
    expect_equal(row, by_day[row.key]);
  }
  ASSERT_EQ(models.rows.size(), kModels.size());
  for (auto const& row : models.rows) {
    expect_equal(row, by_model[row.key]);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreUsage, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
