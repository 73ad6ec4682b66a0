#include <algorithm>
#include <utility>

#include "runnel/store/testing/ledger_contract.h"

// Budgets (USE-9): what is spent and reserved never exceeds them.
namespace runnel::store {
namespace {

constexpr std::int64_t kMidnight = 1'699'920'000'000;  // The start of kNow's day, UTC.

using Limit = std::optional<Money> Budgets::*;

class StoreBudgets : public LedgerContract {
 protected:
  static NewCall within(NewCall call, Limit limit, std::int64_t pico) {
    call.budgets.*limit = Money{pico};
    call.budgets.day_began = kMidnight;
    return call;
  }
  Result<void> open_within(std::string id, std::int64_t reserve, Limit limit, std::int64_t pico) {
    return open(within(new_call(std::move(id), run_, Money{reserve}), limit, pico));
  }
  AdmitRequest funded(std::string run, std::string thread, Limit limit, std::int64_t pico,
                      std::string owner = "ann") {
    auto request = admission(std::move(run), std::move(thread), std::move(owner));
    request.budgets.*limit = Money{pico};
    request.budgets.day_began = kMidnight;
    return request;
  }
};

TEST_P(StoreBudgets, USE_9_EveryBudgetMayBeFilledAndNotByOnePicoMore) {
  std::pair<Limit, char const*> const scopes[] = {
      {&Budgets::run, "run"}, {&Budgets::thread, "thread"}, {&Budgets::user, "user"}, {&Budgets::day, "day"}};
  ASSERT_TRUE(open("spent"));
  end_call("spent", Money{300});
  ASSERT_TRUE(open("held", Money{500}));

  for (auto const& [limit, name] : scopes) {
    auto const refused = open_within("more", 200, limit, 999);
    EXPECT_EQ(refusal(refused), Errc::over_budget) << name;
    EXPECT_NE(refused.error().detail.find(std::string{"the budget of the "} + name), std::string::npos)
        << refused.error().detail;
    EXPECT_EQ(state("more"), "none");
  }
  std::int64_t filled = 800;
  for (auto const& [limit, name] : scopes) {
    EXPECT_TRUE(open_within(std::string{"fits-"} + name, 200, limit, filled + 200)) << name;
    filled += 200;
    EXPECT_EQ(refusal(open_within("more", 1, limit, filled)), Errc::over_budget) << name;
  }
}

TEST_P(StoreBudgets, USE_9_AllBudgetsMustHaveRoom) {
  auto call = new_call("c1", run_, Money{100});
  call.budgets = Budgets{Money{100}, Money{100}, Money{100}, Money{99}, 0};
  EXPECT_EQ(refusal(open(call)), Errc::over_budget);
  EXPECT_EQ(calls(), "0");

  call.budgets.day = Money{100};
  EXPECT_TRUE(open(call));
}

TEST_P(StoreBudgets, USE_9_ScopesCountTheirOwn) {
  ASSERT_TRUE(open("c1", Money{100}));
  auto const sibling = admit(admission("r2", "t2"));
  auto const stranger = admit(admission("r3", "t1", "bob"));

  EXPECT_TRUE(open(within(new_call("c2", sibling, Money{100}), &Budgets::run, 100)));
  EXPECT_EQ(refusal(open(within(new_call("c3", sibling, Money{1}), &Budgets::thread, 100))),
            Errc::over_budget);
  EXPECT_EQ(refusal(open(within(new_call("c3", sibling, Money{1}), &Budgets::user, 200))), Errc::over_budget);
  EXPECT_TRUE(open(within(new_call("c4", stranger, Money{100}), &Budgets::thread, 100)))
      << "another user's thread of the same name is another thread";
  EXPECT_EQ(refusal(open(within(new_call("c5", stranger, Money{1}), &Budgets::user, 100))),
            Errc::over_budget);
}

TEST_P(StoreBudgets, USE_9_DayForgetsWhatWasBeforeIt) {
  auto yesterday = new_call("c1", run_, Money{100});
  yesterday.started_at = kMidnight - 1;
  ASSERT_TRUE(open(yesterday));
  auto first = new_call("c2", run_, Money{100});
  first.started_at = kMidnight;
  ASSERT_TRUE(open(first));

  EXPECT_EQ(refusal(open_within("c3", 1, &Budgets::day, 100)), Errc::over_budget);
  EXPECT_TRUE(open_within("c3", 50, &Budgets::day, 150));
  EXPECT_EQ(refusal(open_within("c4", 1, &Budgets::user, 250)), Errc::over_budget);
}

TEST_P(StoreBudgets, USE_9_SettledCallHoldsWhatItCostAndABookedOneWhatItIsBookedAt) {
  ASSERT_TRUE(open_within("c1", 100, &Budgets::run, 100));
  EXPECT_EQ(refusal(open_within("c2", 40, &Budgets::run, 100)), Errc::over_budget);

  end_call("c1", Money{60});
  EXPECT_TRUE(open_within("c2", 40, &Budgets::run, 100));
  EXPECT_EQ(refusal(open_within("c3", 1, &Budgets::run, 100)), Errc::over_budget);

  auto message = answer("m1");
  message.cost = Money{50};
  ASSERT_TRUE(append({message}, {}, {booking("c1", "m1", Money{50})}));
  EXPECT_TRUE(open_within("c3", 10, &Budgets::run, 100));
  EXPECT_EQ(refusal(open_within("c4", 1, &Budgets::run, 100)), Errc::over_budget);
}

TEST_P(StoreBudgets, USE_9_RunThatEndedHoldsNothing) {
  ASSERT_TRUE(open("c1", Money{100}));
  end(run_.run, run_.epoch, batch(3, 3));
  auto const next = admit(admission("r2"));

  EXPECT_TRUE(open(within(new_call("c2", next, Money{50}), &Budgets::thread, 100)))
      << "c1 counts for its estimate";
  EXPECT_EQ(refusal(open(within(new_call("c3", next, Money{1}), &Budgets::thread, 100))), Errc::over_budget);
}

TEST_P(StoreBudgets, USE_9_DeletedThreadHasSpentWhatItHad) {
  ASSERT_TRUE(open("c1"));
  end_call("c1", Money{100});
  end(run_.run, run_.epoch, batch(4, 4));
  ASSERT_EQ(run_async(store().delete_thread(UserId{"ann"}, ThreadId{"t1"})).value(), DeleteOutcome::deleted);

  EXPECT_EQ(admit(funded("r2", "t1", &Budgets::thread, 100)).outcome, Admission::Outcome::over_budget);
  EXPECT_EQ(admit(funded("r2", "t2", &Budgets::user, 100)).outcome, Admission::Outcome::over_budget);
  EXPECT_EQ(admit(funded("r2", "t2", &Budgets::day, 100)).outcome, Admission::Outcome::over_budget);
}

TEST_P(StoreBudgets, USE_9_SumsBeyondAnAmountAreExact) {
  ASSERT_TRUE(open("c1", Money{INT64_MAX}));
  ASSERT_TRUE(open("c2", Money{INT64_MAX}));
  ASSERT_TRUE(open("c3", Money{INT64_MAX}));

  for (auto const limit : {&Budgets::run, &Budgets::thread, &Budgets::user, &Budgets::day}) {
    EXPECT_EQ(refusal(open_within("c4", 0, limit, INT64_MAX)), Errc::over_budget);
  }
}

TEST_P(StoreBudgets, USE_9_RunIsNotAdmittedWhereABudgetIsUsedUpAndNothingChanges) {
  ASSERT_TRUE(open("c1", Money{100}));
  for (auto const limit : {&Budgets::thread, &Budgets::user, &Budgets::day}) {
    auto const refused = admit(funded("r2", "t1", limit, 100));
    EXPECT_EQ(refused.outcome, Admission::Outcome::over_budget);
    EXPECT_FALSE(refused.cancel_first.has_value());
  }
  EXPECT_EQ(admit(funded("r2", "t9", &Budgets::user, 100)).outcome, Admission::Outcome::over_budget);

  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(cell("SELECT count(*) FROM agent_chat_sessions"), "1");
  EXPECT_EQ(admit(funded("r2", "t2", &Budgets::thread, 100)).outcome, Admission::Outcome::running);
  EXPECT_EQ(admit(funded("r3", "t3", &Budgets::user, 101)).outcome, Admission::Outcome::running);
  EXPECT_EQ(admit(funded("r4", "t4", &Budgets::user, 100, "bob")).outcome, Admission::Outcome::running);
}

TEST_P(StoreBudgets, USE_9_RunThatIsThereAlreadyIsFoundWhateverIsSpent) {
  ASSERT_TRUE(open("c1", Money{100}));

  EXPECT_EQ(admit(funded("r1", "t1", &Budgets::user, 100)).outcome, Admission::Outcome::existing);
  auto other = funded("r1", "t1", &Budgets::user, 100);
  other.input_hash = "another";
  EXPECT_EQ(admit(other).outcome, Admission::Outcome::id_conflict);
}

TEST_P(StoreBudgets, USE_9_HoweverManyComeAtOnceTheyNeverExceedTheBudget) {
  std::vector<Admission> runs{run_};
  for (int i = 2; i <= 12; ++i) {
    runs.push_back(admit(admission("r" + std::to_string(i), "t" + std::to_string(i))));
  }
  std::vector<Async<void>> work;
  for (int i = 0; i < 120; ++i) {
    auto const& run = runs[static_cast<std::size_t>(i) % runs.size()];
    work.push_back(
        store().open_call(within(new_call("c" + std::to_string(i), run, Money{7}), &Budgets::user, 100)));
  }

  auto const outcomes = run_all_async(std::move(work));

  auto const held = std::count_if(outcomes.begin(), outcomes.end(), [](auto const& one) { return !!one; });
  EXPECT_EQ(held, 14);
  EXPECT_EQ(calls(), "14");
  for (auto const& outcome : outcomes) {
    if (!outcome) {
      EXPECT_EQ(outcome.error().code, Errc::over_budget) << outcome.error().detail;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreBudgets, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
