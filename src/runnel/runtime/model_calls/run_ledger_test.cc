#include "runnel/runtime/model_calls/run_ledger.h"

#include <gtest/gtest.h>

#include "runnel/core/money/token_estimate.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/runtime/testing/scripted_provider.h"
#include "runnel/runtime/testing/test_store.h"
#include "tests/support/run_async.h"

namespace runnel::runtime {
namespace {

using model::Failure;
using store::CallStatus;

constexpr std::int64_t kDayBegan = 1'790'035'200'000;
constexpr std::int64_t kCallTime = kDayBegan + 5'000;
// The price of a token in pico-CNY, at "2,3" CNY per million.
constexpr std::int64_t kInputRate = 2'000'000;
constexpr std::int64_t kOutputRate = 3'000'000;

class SetClock final : public base::Clock {
 public:
  [[nodiscard]] std::int64_t now_us() const override { return now * 1000; }
  std::int64_t now = kCallTime;
};

class RunLedgerTest : public testing::Test {
 protected:
  RunLedgerTest() { prices.put(model::parse_price_setting("m", "2,3").value()); }

  static Attempt attempt(std::int64_t number = 1) {
    Attempt out;
    out.stage = "chat";
    out.number = number;
    out.provider = "p";
    out.model = "m";
    out.input_estimate = 100;
    out.price_name = "m";
    out.most_input = 110;
    out.most_output = 50;
    return out;
  }
  void open(std::int64_t number = 1) {
    run_async(ledger.open(attempt(number))).value();
    ledger.asked();
  }

  static Said said(std::string_view text, std::string_view reasoning = {}) {
    return {text, reasoning, std::chrono::milliseconds{12}};
  }
  static Usage usage_in(Commit const& commit) { return std::get<UsageRecorded>(commit.facts.at(0)).usage; }
  static std::int64_t sum_of(CommitRows const& rows) {
    std::int64_t pico = 0;
    for (auto const& booking : rows.bookings)
      pico += booking.cost.pico;
    return pico;
  }

  static Terms terms(model::PriceBook const& prices) {
    Terms out;
    out.prices = &prices;
    out.budgets.day = Money{7};
    return out;
  }

  TestStore store;
  SetClock clock;
  model::PriceBook prices;
  RunLedger ledger{store, clock, std::make_shared<base::Cancel>(), terms(prices), RunMetrics{}, RunKey{7}, 3};
};

TEST_F(RunLedgerTest, USE_9_AttemptIsEnteredWithWhatItMayCost) {
  run_async(ledger.open(attempt(4))).value();

  EXPECT_TRUE(ledger.is_open());
  auto const call = store.calls().at(0);
  EXPECT_EQ(call.run, RunKey{7});
  EXPECT_EQ(call.epoch, 3);
  EXPECT_EQ(call.stage + " " + call.provider + " " + call.model, "chat p m");
  EXPECT_EQ(call.attempt, 4);
  EXPECT_EQ(call.started_at, kCallTime);
  EXPECT_EQ(call.input_estimate, 100);
  EXPECT_EQ(call.cost_estimate, Money{100 * kInputRate});
  EXPECT_EQ(call.reserve, Money{110 * kInputRate + 50 * kOutputRate});
  EXPECT_EQ(call.budgets.day, Money{7});
  EXPECT_EQ(call.budgets.day_began, kDayBegan);
}

TEST_F(RunLedgerTest, USE_9_AttemptThatTheStoreRefusesIsNotOpen) {
  store.refuse_calls(Errc::over_budget);

  auto const opened = run_async(ledger.open(attempt()));

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::over_budget);
  EXPECT_FALSE(ledger.is_open());
}

TEST_F(RunLedgerTest, DB_3_AttemptWaitsForAStoreThatIsAway) {
  store.refuse_calls(Errc::unavailable, 2);

  run_async(ledger.open(attempt())).value();

  EXPECT_TRUE(ledger.is_open());
  EXPECT_EQ(store.calls().size(), 1U);
}

TEST_F(RunLedgerTest, USE_6_AttemptOfAModelWithoutAPriceIsNotMade) {
  auto unpriced = attempt();
  unpriced.price_name = "unknown";
  EXPECT_EQ(run_async(ledger.open(unpriced)).error().code, Errc::not_found);
  EXPECT_TRUE(store.calls().empty());
}

TEST_F(RunLedgerTest, USE_8_AttemptThatWasStoppedBeforeItWasMadeCostsNothing) {
  run_async(ledger.open(attempt())).value();

  auto const commit = ledger.stopped(CallStatus::canceled, "", said(""));

  EXPECT_EQ(commit.rows.call_ends.at(0).provisional, Money{});
}

TEST_F(RunLedgerTest, USE_8_WholeAnswerIsSettledAsItsProviderReported) {
  open();
  clock.now -= 3'000;  // The clock may jump; a call does not end before it began.

  auto const commit = ledger.finished(answered(10, 20), said("words that nobody counts"));

  EXPECT_FALSE(ledger.is_open());
  ASSERT_EQ(commit.rows.call_ends.size(), 1U);
  auto const& end = commit.rows.call_ends[0];
  EXPECT_EQ(end.id, store.calls().at(0).id);
  EXPECT_EQ(end.status, CallStatus::completed);
  EXPECT_EQ(end.error_code, "");
  EXPECT_EQ(end.ended_at, kCallTime);
  EXPECT_EQ(end.first_token_ms, 12);
  EXPECT_EQ(end.tokens.input, 10);
  EXPECT_EQ(end.tokens.output, 20);
  EXPECT_TRUE(end.tokens.complete);
  EXPECT_EQ(end.provisional, Money{10 * kInputRate + 20 * kOutputRate});
  EXPECT_EQ(end.cost.list, PriceList::custom_pricing);
  auto const usage = usage_in(commit);
  EXPECT_EQ(usage.provider + " " + usage.model, "p m");
  EXPECT_EQ(usage.cost, end.provisional);
  EXPECT_EQ(usage.cost_source, CostSource::catalog_fallback);
}

TEST_F(RunLedgerTest, USE_4_LatencyIsTheProvidersWhereItGivesOne) {
  open();
  auto timed = answered(10, 20);
  timed.usage.latency_ms = 123'456;

  EXPECT_EQ(ledger.finished(timed, said("words")).rows.call_ends.at(0).latency_ms, 123'456);

  CommitRows rows;
  EXPECT_EQ(ledger.book(MessageId{"m1"}, rows).summary.latency_ms, 123'456);
}

TEST_F(RunLedgerTest, USE_10_AttemptThatWasStoppedIsEstimatedFromWhatItSaid) {
  open();

  auto const commit = ledger.stopped(CallStatus::canceled, "", said("a few words", "a thought"));

  auto const output = estimate_tokens("a few words") + estimate_tokens("a thought");
  auto const& end = commit.rows.call_ends.at(0);
  EXPECT_EQ(end.status, CallStatus::canceled);
  EXPECT_EQ(end.tokens.input, 100);
  EXPECT_EQ(end.tokens.output, output);
  EXPECT_FALSE(end.tokens.complete);
  EXPECT_EQ(end.provisional, Money{100 * kInputRate + output * kOutputRate});
  EXPECT_FALSE(usage_in(commit).tokens.complete);
  EXPECT_EQ(usage_in(commit).cost_source, CostSource::incomplete_usage_fallback);
}

TEST_F(RunLedgerTest, USE_9_AnEstimateIsNeverMoreThanTheCallHolds) {
  open();

  auto const commit = ledger.stopped(CallStatus::failed, "BUDGET_EXCEEDED", said(std::string(1000, 'x')));

  auto const& end = commit.rows.call_ends.at(0);
  EXPECT_EQ(end.error_code, "BUDGET_EXCEEDED");
  EXPECT_EQ(end.tokens.output, 50);
  EXPECT_LE(end.provisional.pico, store.calls().at(0).reserve.pico);
}

TEST_F(RunLedgerTest, USE_9_WhatAProviderReportsIsBookedAsItIs) {
  open();
  auto const commit = ledger.finished(answered(10, 2000), said("words"));
  EXPECT_EQ(commit.rows.call_ends.at(0).tokens.output, 2000);
}

// How many tokens a call that ends without usage is assumed to have used if its model may think unseen.
class RunLedgerOfThinking : public RunLedgerTest {
 protected:
  std::int64_t settled(Said const& said, std::int64_t most_output = 0) {
    auto thinking = attempt();
    thinking.may_think = true;
    thinking.most_output = most_output;
    run_async(ledger.open(thinking)).value();
    ledger.asked();
    return ledger.stopped(CallStatus::canceled, "", said).rows.call_ends.at(0).tokens.output;
  }
};

TEST_F(RunLedgerOfThinking, USE_10_TimeBeforeTheFirstPieceMayHaveBeenThoughts) {
  auto words = said("a few words");
  words.first_piece = std::chrono::milliseconds{3000};
  EXPECT_EQ(settled(words), estimate_tokens("a few words") + 300);
}

TEST_F(RunLedgerOfThinking, USE_10_ThoughtsThatWereSeenAreCountedAsSeen) {
  auto words = said("a few words", "a thought");
  words.first_piece = std::chrono::milliseconds{3000};
  EXPECT_EQ(settled(words), estimate_tokens("a few words") + estimate_tokens("a thought"));
}

TEST_F(RunLedgerOfThinking, USE_10_UnseenThoughtsHaveALimit) {
  auto words = said("");
  words.first_piece = std::chrono::hours{1};
  EXPECT_EQ(settled(words), 8192);
  EXPECT_EQ(settled(words, 50), 50);
}

TEST_F(RunLedgerTest, USE_10_ArgumentsOfToolCallsAreEstimatedToo) {
  open();
  auto words = said("a few words");
  words.argument_tokens = 7;
  auto const commit = ledger.stopped(CallStatus::canceled, "", words);
  EXPECT_EQ(commit.rows.call_ends.at(0).tokens.output, estimate_tokens("a few words") + 7);
}

TEST_F(RunLedgerTest, USE_8_AttemptThatTheProviderRefusedCostsNothing) {
  open();

  auto const commit = ledger.failed(refused(Failure::rate_limited), Said{});

  auto const& end = commit.rows.call_ends.at(0);
  EXPECT_EQ(end.status, CallStatus::failed);
  EXPECT_EQ(end.error_code, "MODEL_RATE_LIMITED");
  EXPECT_EQ(end.tokens, TokenCounts{});
  EXPECT_EQ(end.provisional, Money{});
  EXPECT_EQ(end.first_token_ms, std::nullopt);
  EXPECT_TRUE(ledger.has_unbooked());
}

TEST_F(RunLedgerTest, USE_10_AttemptThatBrokeInTheMiddleIsEstimated) {
  open();

  auto const commit = ledger.failed(broken(Failure::cut), said("half"));

  auto const& end = commit.rows.call_ends.at(0);
  EXPECT_EQ(end.error_code, "MODEL_CUT");
  EXPECT_EQ(end.tokens.input, 100);
  EXPECT_EQ(end.tokens.output, estimate_tokens("half"));
  EXPECT_FALSE(end.tokens.complete);
}

TEST_F(RunLedgerTest, USE_8_AllAttemptsOfAMessageAreBookedOnItOnce) {
  open(1);
  ledger.failed(refused(Failure::overloaded), Said{});
  open(2);
  ledger.failed(broken(Failure::cut), said("half"));
  open(3);
  ledger.finished(answered(10, 20), said("whole"));

  CommitRows rows;
  auto const summary = ledger.book(MessageId{"m1"}, rows).summary;

  ASSERT_EQ(rows.bookings.size(), 3U);
  for (std::size_t i = 0; i < rows.bookings.size(); ++i) {
    EXPECT_EQ(rows.bookings[i].id, store.calls().at(i).id);
    EXPECT_EQ(rows.bookings[i].message, MessageId{"m1"});
  }
  EXPECT_EQ(rows.bookings[0].cost, Money{});
  EXPECT_EQ(rows.bookings[2].cost, Money{10 * kInputRate + 20 * kOutputRate});
  EXPECT_EQ(Money{sum_of(rows)}, summary.cost);
  EXPECT_EQ(summary.model_call_records, 2);
  EXPECT_FALSE(summary.usage_complete());
  EXPECT_FALSE(ledger.has_unbooked());
}

TEST_F(RunLedgerTest, USE_8_WhatIsBookedAddsUpByModel) {
  prices.put(model::parse_price_setting("dear", "20,30").value());
  CommitRows rows;
  Charge last;
  for (auto const* const name : {"m", "dear", "m"}) {
    auto next = attempt();
    next.model = name;
    run_async(ledger.open(next)).value();
    ledger.finished(answered(1, 1), said("x"));
    last = ledger.book(MessageId{"row"}, rows);
  }

  auto const& booked = ledger.booked();
  ASSERT_EQ(booked.size(), 2U);
  EXPECT_EQ(booked[0].model, "m");
  EXPECT_EQ(booked[0].tokens.input, 2);
  EXPECT_EQ(booked[0].cost, Money{2 * (kInputRate + kOutputRate)});
  EXPECT_EQ(booked[1].model, "dear");
  EXPECT_EQ(booked[0].cost.pico + booked[1].cost.pico, sum_of(rows));
  EXPECT_EQ(last.model, "m");
}

class Thinker final : public model::Provider {
 public:
  [[nodiscard]] std::vector<std::string> models() const override { return {"m"}; }
  [[nodiscard]] std::string name() const override { return "p"; }
  [[nodiscard]] bool may_think() const override { return true; }
  std::unique_ptr<model::Call> call(model::CallRequest /*request*/) override { return nullptr; }
};

TEST_F(RunLedgerOfThinking, RUN_12_TimeWithoutAServerIsNobodysThinking) {
  store::UnbookedCall call;
  call.id = "open";
  call.stage = "chat";
  call.provider = "p";
  call.model = "m";
  call.started_at = kCallTime - 60'000;
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<Thinker>());
  model::Registry const registry{std::move(providers)};
  auto known = terms(prices);
  known.models = &registry;
  auto const booked = [&](Said before) {
    RunLedger later{store, clock, std::make_shared<base::Cancel>(), known, RunMetrics{}, RunKey{7}, 4};
    store.leave({call});
    return run_async(later.take_over(before)).value().rows.call_ends.at(0).tokens.output;
  };

  EXPECT_EQ(booked(Said{}), 1) << "the least that an answer has";
  EXPECT_EQ(booked(said("half")), estimate_tokens("half"));
  Said silent;
  silent.last_known_ms = call.started_at + 2000;
  EXPECT_EQ(booked(silent), 200);
}

TEST_F(RunLedgerTest, RUN_12_CallsOfAnEarlierWriterAreEndedAndBooked) {
  store::UnbookedCall open_one;
  open_one.id = "open";
  open_one.stage = "chat";
  open_one.provider = "p";
  open_one.model = "m";
  open_one.started_at = kCallTime + 9;  // That node's clock was ahead.
  open_one.input_estimate = 70;
  auto refused_one = open_one;
  refused_one.id = "refused";
  refused_one.status = CallStatus::failed;
  refused_one.tokens = TokenCounts{};
  auto ended_one = refused_one;
  ended_one.id = "ended";
  ended_one.status = CallStatus::completed;
  ended_one.tokens = TokenCounts{4, 5, 9, 0, 0, 0, 0, 0, true};
  ended_one.cost.catalog = Money{99};
  ended_one.cost.list = PriceList::custom_pricing;
  store.leave({refused_one, ended_one, open_one});

  auto const commit = run_async(ledger.take_over(said("half"))).value();
  CommitRows rows;
  auto const summary = ledger.book(MessageId{"m1"}, rows).summary;

  ASSERT_EQ(commit.rows.call_ends.size(), 1U);
  auto const& end = commit.rows.call_ends[0];
  EXPECT_EQ(end.id, "open");
  EXPECT_EQ(end.status, CallStatus::interrupted);
  EXPECT_EQ(end.ended_at, kCallTime + 9);
  EXPECT_EQ(end.tokens.input, 70);
  EXPECT_EQ(end.tokens.output, estimate_tokens("half"));
  EXPECT_FALSE(end.tokens.complete);
  ASSERT_EQ(rows.bookings.size(), 3U);
  EXPECT_EQ(rows.bookings[0].cost, Money{});
  EXPECT_EQ(rows.bookings[1].cost, Money{99});
  EXPECT_EQ(rows.bookings[2].cost, end.provisional);
  EXPECT_EQ(Money{sum_of(rows)}, summary.cost);
  EXPECT_EQ(summary.model_call_records, 2);
}

}  // namespace
}  // namespace runnel::runtime
