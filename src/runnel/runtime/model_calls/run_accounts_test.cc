// Tests of what runs cost: in the ledger, on their rows and in their last facts (USE-8).
#include <gtest/gtest.h>

#include "runnel/core/money/token_estimate.h"
#include "runnel/flow/prompt/context.h"
#include "runnel/flow/prompt/prompt.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/runtime/testing/scripted_provider.h"
#include "runnel/runtime/testing/test_life.h"
#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::runtime {
namespace {

using model::Failure;
using model::TextPiece;
using store::TextRows;

// The price of a token in pico-CNY, at "2,3" CNY per million.
constexpr std::int64_t kInputPico = 2'000'000;
constexpr std::int64_t kOutputPico = 3'000'000;

model::PriceBook price_of_m() {
  model::PriceBook book;
  book.put(model::parse_price_setting("m", "2,3").value());
  return book;
}

// The prompt of a call if the user says "hello".
std::vector<PromptMessage> prompt() {
  Profile const nobody;
  flow::Results const none;
  flow::PromptInput input{nobody, none, "hello", {}, {}, {}, 0};
  flow::inject_input(input.context, "hello");
  return flow::open_stage(test_texts(), prose_stage("chat"), std::move(input));
}

std::int64_t estimated_input() {
  std::int64_t tokens = 0;
  for (auto const& message : prompt())
    tokens += estimate_tokens(message.text) + 4;
  return tokens;
}

std::int64_t bytes_of_input() {
  std::int64_t bytes = 0;
  for (auto const& message : prompt())
    bytes += static_cast<std::int64_t>(message.text.size()) + 4;
  return bytes;
}

// The cost of a call with this prompt that had written `text` when it stopped without reporting its usage.
std::int64_t estimate(std::string_view text) {
  return estimated_input() * kInputPico + estimate_tokens(text) * kOutputPico;
}

std::vector<Usage> usage_in(Fact const& terminal) {
  if (auto const* const finished = std::get_if<RunFinished>(&terminal)) return finished->usage;
  if (auto const* const failed = std::get_if<RunFailed>(&terminal)) return failed->usage;
  return std::get<RunCanceled>(terminal).usage;
}

class RunAccounts : public testing::Test {
 protected:
  // A server whose model "m" makes these attempts.
  Life make_life(std::vector<ScriptedAttempt> attempts, store::Budgets budgets = {}) {
    script = std::make_shared<Script>(std::move(attempts));
    return {path, scripted("m", script), Terms{&prices, nullptr, budgets}};
  }

  TextRows rows(std::string const& statement) { return store::sqlite_rows(path, statement).value(); }

  // "input output cost". Expects the same values in the ledger, in the message rows and in the run's last
  // fact.
  std::string spent(Life& life) {
    auto const ledger =
        rows("SELECT total(input_tokens), total(output_tokens), total(cost) FROM model_calls");
    auto const messages =
        rows("SELECT total(input_tokens), total(output_tokens), total(cost) FROM agent_chat_messages");
    EXPECT_EQ(ledger, messages);
    EXPECT_EQ(rows("SELECT id FROM model_calls WHERE message_id IS NULL"), TextRows{});

    Usage sum;
    for (auto const& usage : usage_in(life.log("r1").back()))
      sum += usage;
    EXPECT_EQ(std::stod(ledger[0][0]), static_cast<double>(sum.tokens.input));
    EXPECT_EQ(std::stod(ledger[0][1]), static_cast<double>(sum.tokens.output));
    EXPECT_EQ(std::stod(ledger[0][2]), static_cast<double>(sum.cost.pico));
    return text(sum.tokens.input, sum.tokens.output, sum.cost.pico);
  }
  static std::string text(std::int64_t input, std::int64_t output, std::int64_t cost) {
    return std::to_string(input) + " " + std::to_string(output) + " " + std::to_string(cost);
  }
  static std::string estimated(std::string_view said) {
    return text(estimated_input(), estimate_tokens(said), estimate(said));
  }

  // The number and the cost of each row on which a call is booked.
  TextRows booked_rows() {
    return rows(
        "SELECT DISTINCT m.seq, m.cost FROM agent_chat_messages m JOIN model_calls c "
        "ON c.message_id = m.message_id ORDER BY m.seq");
  }
  TextRows calls() {
    return rows("SELECT attempt, status, error_code, cost FROM model_calls ORDER BY row_no");
  }

  store::TemporaryFolder folder;
  std::string path = folder.file("runnel.db");
  model::PriceBook prices = price_of_m();
  std::shared_ptr<Script> script;
};

TEST_F(RunAccounts, USE_8_AnswerCarriesAllItsAttempts) {
  auto life = make_life({{refused(Failure::overloaded)}, {TextPiece{"hi"}, answered(10, 20)}});

  life.start("r1", "hello");
  EXPECT_EQ(life.ended("r1").status, store::RunStatus::completed);

  auto const cost = 10 * kInputPico + 20 * kOutputPico;
  EXPECT_EQ(spent(life), text(10, 20, cost));
  EXPECT_EQ(booked_rows(), (TextRows{{"2", std::to_string(cost)}}));
  EXPECT_EQ(calls(), (TextRows{{"1", "failed", "MODEL_OVERLOADED", "0"},
                               {"2", "completed", "null", std::to_string(cost)}}));
}

TEST_F(RunAccounts, USE_8_ModelThatFailsEndsTheRunWithItsCodeAndIsBookedForNobodysEyes) {
  auto life = make_life({{TextPiece{"half"}, broken(Failure::cut)}});

  life.start("r1", "hello");
  EXPECT_EQ(life.ended("r1").error_code, "MODEL_CUT");

  EXPECT_EQ(std::get<RunFailed>(life.log("r1").back()).code, "MODEL_CUT");
  EXPECT_EQ(spent(life), estimated("half"));
  EXPECT_EQ(booked_rows(), (TextRows{{"-1", std::to_string(estimate("half"))}}));
  EXPECT_EQ(life.history().back().content, "half");
}

TEST_F(RunAccounts, USE_8_RunThatEveryProviderRefusesCostsNothing) {
  auto refusal = refused(Failure::unauthorized);
  refusal.retryable = false;
  auto life = make_life({{refusal}});

  life.start("r1", "hello");
  EXPECT_EQ(life.ended("r1").error_code, "MODEL_UNAUTHORIZED");

  EXPECT_EQ(spent(life), "0 0 0");
  EXPECT_EQ(booked_rows(), (TextRows{{"-1", "0"}}));
}

TEST_F(RunAccounts, USE_10_CancelBooksWhatWasSaid) {
  auto life = make_life({{TextPiece{"half"}}});
  life.start("r1", "hello");
  life.reach("r1", 5);

  life.cancel("r1");
  EXPECT_EQ(life.ended("r1").status, store::RunStatus::canceled);

  EXPECT_EQ(spent(life), estimated("half"));
  EXPECT_EQ(booked_rows(), (TextRows{{"-1", std::to_string(estimate("half"))}}));
  EXPECT_EQ(calls(), (TextRows{{"1", "canceled", "null", std::to_string(estimate("half"))}}));
}

TEST_F(RunAccounts, USE_8_CancelWhileWaitingToAskAgainBooksTheAttemptsMade) {
  auto refusal = refused(Failure::rate_limited);
  refusal.retry_after = std::chrono::seconds{50};
  auto life = make_life({{refusal}});
  life.start("r1", "hello");
  life.reach("r1", 3);

  life.cancel("r1");
  EXPECT_EQ(life.ended("r1").status, store::RunStatus::canceled);

  EXPECT_EQ(spent(life), "0 0 0");
  EXPECT_EQ(calls(), (TextRows{{"1", "failed", "MODEL_RATE_LIMITED", "0"}}));
}

TEST_F(RunAccounts, AnswerThatReachedItsLimitIsAnswerInPart) {
  for (auto const finish : {model::Finish::length, model::Finish::content_filter}) {
    store::TemporaryFolder const own;
    path = own.file("runnel.db");
    auto life = make_life({{TextPiece{"as far as it"}, answered(10, 20, finish)}});

    life.start("r1", "hello");
    EXPECT_EQ(life.ended("r1").status, store::RunStatus::completed);

    auto const log = life.log("r1");
    EXPECT_EQ(std::get<AnswerCompleted>(log.at(log.size() - 3)).status, AnswerStatus::partial_success);
    EXPECT_NE(life.history().back().metadata.find(R"("status":"partial_success")"), std::string::npos);
    EXPECT_EQ(spent(life), text(10, 20, 10 * kInputPico + 20 * kOutputPico));
  }
}

TEST_F(RunAccounts, RUN_12_CallThatACrashLeftOpenIsInterruptedAndBookedOnTheAnswer) {
  {
    auto life = make_life({{TextPiece{"half"}}});
    life.start("r1", "hello");
    life.reach("r1", 5);
  }
  ASSERT_EQ(rows("SELECT status FROM model_calls"), (TextRows{{"open"}}));

  auto life = make_life({{TextPiece{"whole"}, answered(10, 20)}});
  EXPECT_EQ(life.ended("r1").status, store::RunStatus::completed);

  auto const last = 10 * kInputPico + 20 * kOutputPico;
  EXPECT_EQ(calls(), (TextRows{{"1", "interrupted", "null", std::to_string(estimate("half"))},
                               {"1", "completed", "null", std::to_string(last)}}));
  EXPECT_EQ(spent(life), text(estimated_input() + 10, estimate_tokens("half") + 20, estimate("half") + last));
  EXPECT_EQ(booked_rows(), (TextRows{{"3", std::to_string(estimate("half") + last)}}));
  EXPECT_EQ(life.history().back().content, "whole");
  // This counts rounds of the tool loop, not attempts.
  EXPECT_EQ(std::get<RunFinished>(life.log("r1").back()).model_calls, 1);
}

TEST_F(RunAccounts, USE_9_CallThatCouldCostMoreThanIsLeftIsNotMade) {
  store::Budgets budgets;
  budgets.run = Money{1000};
  auto life = make_life({{TextPiece{"hi"}, answered(10, 20)}}, budgets);

  life.start("r1", "hello");
  EXPECT_EQ(life.ended("r1").error_code, "BUDGET_EXCEEDED");

  EXPECT_TRUE(script->requests().empty());
  EXPECT_EQ(spent(life), "0 0 0");
}

TEST_F(RunAccounts, USE_9_RunThatABudgetEndsIsToldWhichWithAmountsAndReset) {
  auto const cost = 10 * kInputPico + 20 * kOutputPico;
  store::Budgets budgets;
  budgets.run = Money{1'000'000'000'000};
  budgets.day = Money{cost + 1000};
  {
    auto life = make_life({{TextPiece{"hi"}, answered(10, 20)}});
    life.start("r1", "hello");
    EXPECT_EQ(life.ended("r1").status, store::RunStatus::completed);
  }

  auto life = make_life({}, budgets);
  life.start("r2", "hello");
  EXPECT_EQ(life.ended("r2").error_code, "BUDGET_EXCEEDED");

  auto const message = std::get<RunFailed>(life.log("r2").back()).message;
  EXPECT_TRUE(message.starts_with("The next model call may cost up to 0."));
  EXPECT_TRUE(message.ends_with(" CNY, more than is left. The day's budget: " + to_decimal(Money{cost}) +
                                " of " + to_decimal(*budgets.day) + " CNY spent; it resets at 00:00 UTC."))
      << message;
}

TEST_F(RunAccounts, USE_9_UnderABudgetTheAnswerHasALimit) {
  store::Budgets budgets;
  budgets.run = Money{1'000'000'000'000};
  auto life = make_life({{TextPiece{"hi"}, answered(10, 20)}}, budgets);

  life.start("r1", "hello");
  EXPECT_EQ(life.ended("r1").status, store::RunStatus::completed);

  auto const limit = script->requests().at(0).max_output_tokens.value();
  EXPECT_EQ(rows("SELECT reserve FROM model_calls"),
            (TextRows{{std::to_string(bytes_of_input() * kInputPico + limit * kOutputPico)}}));
}

}  // namespace
}  // namespace runnel::runtime
