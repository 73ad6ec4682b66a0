#include "runnel/runtime/model_calls/model_caller.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <future>

#include "runnel/base/cores.h"
#include "runnel/runtime/testing/scripted_provider.h"
#include "runnel/runtime/testing/test_store.h"
#include "tests/support/run_async.h"

namespace runnel::runtime {
namespace {

namespace asio = boost::asio;
using model::Failure;
using model::TextPiece;
using std::chrono::milliseconds;
using store::CallStatus;

void encode_none(Wire, RunNames const&, Record const&, std::string&) {}

Commit stage_begun() {
  return {{RunStarted{}, StepStarted{"chat"}}, {}};
}

model::CallRequest request_for(std::string model) {
  model::CallRequest out;
  out.model = std::move(model);
  out.messages.push_back({Speaker::user, "hello", {}, {}, {}});
  return out;
}

// Asks a model "m" with the fallbacks "spare" and "last"; each has a script of its own.
class ModelCallerTest : public testing::Test {
 protected:
  ModelCallerTest() {
    prices.put(model::free_model("*"));
    cores.start();
    run([this] { channel->begin_epoch(3, 0); });
    run_async_on(cores.at(0), writer->commit(stage_begun())).value();
  }
  ~ModelCallerTest() override {
    run([this] { cancel->request(base::CancelReason::shutdown); });
    tasks.join();
    cores.stop();
  }

  template <class Work>
  void run(Work work) {
    run_async_on(cores.at(0), on_core(std::move(work)));
  }
  static asio::awaitable<void> on_core(std::function<void()> work) {
    work();
    co_return;
  }

  void set_script(std::string model, std::vector<ScriptedAttempt> attempts) {
    auto script = std::make_shared<Script>(std::move(attempts));
    script->on_call = [this] { entered_before_call.push_back(store.calls().size()); };
    scripts[model] = script;
  }

  std::future<Result<CallResult>> start() {
    prices.put(model::free_model("*"));
    std::vector<std::unique_ptr<model::Provider>> providers;
    for (auto const& [name, script] : scripts)
      providers.push_back(std::make_unique<ScriptedProvider>(name, script));
    models = std::make_unique<model::Registry>(std::move(providers), "m",
                                               std::vector<std::string>{"spare", "last"});
    caller = std::make_unique<ModelCaller>(*models, writer, cancel, ledger, RunMetrics{});
    auto request = request_for("m");
    request.max_output_tokens = max_output_tokens;
    return asio::co_spawn(cores.at(0), caller->call("chat", std::move(request), showing), asio::use_future);
  }
  CallResult ask() { return start().get().value(); }

  static std::string text_of(CallResult const& result) {
    auto const* const reply = std::get_if<ModelReply>(&result);
    return reply != nullptr ? reply->output : "trouble " + std::get<CallTrouble>(result).code;
  }
  std::size_t asked(std::string const& model) { return scripts.at(model)->requests().size(); }

  // The entered attempts as "attempt model", in order.
  std::vector<std::string> entered() {
    std::vector<std::string> out;
    for (auto const& call : store.calls())
      out.push_back(std::to_string(call.attempt) + " " + call.model);
    return out;
  }
  // The codes with which attempts ended. Expects that they ended in the order in which they were entered,
  // once each.
  std::vector<std::string> settled() {
    std::vector<std::string> out;
    auto const ends = store.call_ends();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      EXPECT_EQ(ends[i].id, store.calls().at(i).id);
      out.push_back(ends[i].error_code);
    }
    return out;
  }

  base::Cores cores{1};
  base::SystemClock clock;
  base::TaskGroup tasks;
  TestStore store;
  model::PriceBook prices;
  std::shared_ptr<base::Cancel> cancel = std::make_shared<base::Cancel>();
  std::shared_ptr<stream::Channel> channel =
      std::make_shared<stream::Channel>(cores, 0, RunNames{}, stream::Encoding{&encode_none, 1}, 64);
  std::shared_ptr<RunWriter> writer = std::make_shared<RunWriter>(
      store, clock, tasks, channel, cancel, RunWriter::Start{RunKey{7}, LogTail{3, 0, 0, FactOrder{}}},
      RunWriter::Options{});
  RunLedger ledger{store, clock, cancel, Terms{&prices, nullptr, {}}, RunMetrics{}, RunKey{7}, 3};
  std::map<std::string, std::shared_ptr<Script>> scripts;
  std::vector<std::size_t> entered_before_call;
  std::optional<std::int64_t> max_output_tokens;
  Showing showing;
  std::unique_ptr<model::Registry> models;
  std::unique_ptr<ModelCaller> caller;
};

using Codes = std::vector<std::string>;

TEST_F(ModelCallerTest, USE_8_AttemptIsEnteredBeforeItIsMadeAndSettledOnce) {
  set_script("m", {{refused(Failure::overloaded)}, {TextPiece{"hi"}, answered(1, 2)}});

  auto const result = ask();

  EXPECT_EQ(text_of(result), "hi");
  EXPECT_EQ(entered(), (Codes{"1 m", "2 m"}));
  EXPECT_EQ(entered_before_call, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(settled(), (Codes{"MODEL_OVERLOADED"}));
  auto const& accounts = std::get<ModelReply>(result).accounts;
  ASSERT_EQ(accounts.rows.call_ends.size(), 1U) << "written with the answer";
  EXPECT_EQ(accounts.rows.call_ends[0].id, store.calls().at(1).id);
  EXPECT_FALSE(ledger.is_open());
}

TEST_F(ModelCallerTest, USE_1_FailureBeforeTheFirstPieceIsTriedTwiceMore) {
  set_script(
      "m",
      {{refused(Failure::overloaded)}, {refused(Failure::unreachable)}, {refused(Failure::rate_limited)}});

  auto const result = ask();

  EXPECT_EQ(text_of(result), "trouble MODEL_RATE_LIMITED");
  EXPECT_EQ(entered(), (Codes{"1 m", "2 m", "3 m"}));
  EXPECT_EQ(settled(), (Codes{"MODEL_OVERLOADED", "MODEL_UNREACHABLE", "MODEL_RATE_LIMITED"}));
}

class ModelCallerAfterPiece : public ModelCallerTest, public testing::WithParamInterface<model::CallEvent> {};

TEST_P(ModelCallerAfterPiece, USE_1_FailureIsTheEnd) {
  auto failure = broken(Failure::cut);
  failure.retryable = true;  // Even if the provider says that a retry may help.
  failure.retry_after = milliseconds{1};
  set_script("m", {{GetParam(), failure}});
  set_script("spare", {});
  showing.tool_calls = true;

  EXPECT_EQ(text_of(ask()), "trouble MODEL_CUT");

  EXPECT_EQ(asked("m"), 1U);
  EXPECT_EQ(asked("spare"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Pieces, ModelCallerAfterPiece,
                         testing::Values(model::CallEvent{TextPiece{"half"}},
                                         model::CallEvent{model::ReasoningPiece{"hm"}},
                                         model::CallEvent{model::ToolCallPiece{0, "c", "f", "{"}}),
                         [](auto const& piece) { return "Kind" + std::to_string(piece.param.index()); });

TEST_P(ModelCallerAfterPiece, USE_1_FailureOfWhichNothingWasShownIsTriedAgain) {
  auto failure = broken(Failure::cut);
  failure.retryable = true;
  failure.retry_after = milliseconds{1};
  set_script("m", {{GetParam(), failure}, {TextPiece{"whole"}, answered(1, 2)}});
  showing.text = false;
  showing.reasoning = false;

  auto const result = ask();

  EXPECT_EQ(text_of(result), "whole") << "nothing of the first attempt is left";
  EXPECT_EQ(std::get<ModelReply>(result).reasoning, "");
  EXPECT_EQ(entered(), (Codes{"1 m", "2 m"}));
  EXPECT_EQ(settled(), (Codes{"MODEL_CUT"}));
  EXPECT_FALSE(store.call_ends().at(0).tokens.complete) << "it is paid for all the same";
}

TEST_F(ModelCallerTest, USE_1_LiveTextBeginsAnewWithEachAttempt) {
  auto failure = broken(Failure::cut);
  failure.retryable = true;
  failure.retry_after = milliseconds{1};
  set_script("m", {{TextPiece{R"({"status":"SUCC)"}, failure},
                   {TextPiece{R"({"status":"SUCCESS","answer":"Hi"})"}, answered(1, 2)}});
  showing.live = [] { return flow::LiveText{"answer", [](auto const& /*fields*/) { return true; }, false}; };

  auto const result = ask();

  EXPECT_EQ(text_of(result), R"({"status":"SUCCESS","answer":"Hi"})");
  EXPECT_EQ(std::get<ModelReply>(result).shown, "Hi");
}

TEST_F(ModelCallerTest, USE_1_BlanksAreNothingThatWasShown) {
  auto failure = broken(Failure::cut);
  failure.retryable = true;
  failure.retry_after = milliseconds{1};
  set_script("m", {{TextPiece{" \n"}, failure}, {TextPiece{" Hi"}, answered(1, 2)}});

  EXPECT_EQ(text_of(ask()), " Hi");
}

TEST_F(ModelCallerTest, USE_1_FailureThatMayNotPassIsNotTriedAgain) {
  auto failure = refused(Failure::unauthorized);
  failure.retryable = false;
  set_script("m", {{failure}});

  EXPECT_EQ(text_of(ask()), "trouble MODEL_UNAUTHORIZED");

  EXPECT_EQ(asked("m"), 1U);
}

TEST_F(ModelCallerTest, USE_1_ProvidersWishToWaitIsGranted) {
  auto failure = refused(Failure::rate_limited);
  failure.retry_after = milliseconds{60};
  set_script("m", {{failure}, {TextPiece{"hi"}, answered(1, 2)}});
  auto const began = std::chrono::steady_clock::now();

  EXPECT_EQ(text_of(ask()), "hi");

  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds{60});
}

TEST_F(ModelCallerTest, USE_1_WithoutAWishItWaitsHalfASecond) {
  auto failure = refused(Failure::overloaded);
  failure.retry_after.reset();
  set_script("m", {{failure}, {TextPiece{"hi"}, answered(1, 2)}});
  auto const began = std::chrono::steady_clock::now();

  EXPECT_EQ(text_of(ask()), "hi");

  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds{375});
}

TEST_F(ModelCallerTest, USE_1_ProviderThatWantsTooLongAWaitIsGivenUp) {
  auto failure = refused(Failure::rate_limited);
  failure.retry_after = std::chrono::seconds{61};
  set_script("m", {{failure}});
  set_script("spare", {{TextPiece{"from spare"}, answered(1, 2)}});

  EXPECT_EQ(text_of(ask()), "from spare");

  EXPECT_EQ(entered(), (Codes{"1 m", "2 spare"}));
}

TEST_F(ModelCallerTest, USE_1_FallbacksAreAskedInTheirOrderEachWithItsOwnName) {
  auto failure = refused(Failure::out_of_funds);
  failure.retryable = false;
  set_script("m", {{failure}});
  set_script("spare", {{failure}});
  set_script("last", {{TextPiece{"from last"}, answered(1, 2)}});

  EXPECT_EQ(text_of(ask()), "from last");

  EXPECT_EQ(entered(), (Codes{"1 m", "2 spare", "3 last"}));
  EXPECT_EQ(scripts.at("last")->requests().at(0).model, "last");
  EXPECT_EQ(store.calls().at(2).provider, "last-provider");
}

TEST_F(ModelCallerTest, USE_1_RefusedAsImproperDoesNotFallBack) {
  auto refusal = refused(Failure::filtered);
  refusal.retryable = false;
  set_script("m", {{refusal}});
  set_script("spare", {});

  EXPECT_EQ(text_of(ask()), "trouble MODEL_FILTERED");

  EXPECT_EQ(asked("spare"), 0U);
}

TEST_F(ModelCallerTest, USE_9_CallOverBudgetIsNotMade) {
  store.refuse_calls(Errc::over_budget);
  set_script("m", {});
  set_script("spare", {});

  EXPECT_EQ(text_of(ask()), "trouble BUDGET_EXCEEDED");

  EXPECT_EQ(asked("m") + asked("spare"), 0U);
  EXPECT_FALSE(ledger.is_open());
}

class ModelCallerOverrun : public ModelCallerTest, public testing::WithParamInterface<model::CallEvent> {};

// A thousand bytes are about 300 tokens by our count, and a model is cut off at twice what it may write.
TEST_P(ModelCallerOverrun, USE_9_ModelThatWritesMoreThanItMayIsCutOff) {
  set_script("m", {{GetParam()}});  // It never ends by itself.
  set_script("spare", {});
  max_output_tokens = 60;

  EXPECT_EQ(text_of(ask()), "trouble BUDGET_EXCEEDED");

  EXPECT_EQ(settled(), (Codes{"BUDGET_EXCEEDED"}));
  EXPECT_EQ(store.call_ends().at(0).tokens.output, 60);
  EXPECT_EQ(asked("spare"), 0U);
  EXPECT_FALSE(ledger.is_open());
}

INSTANTIATE_TEST_SUITE_P(Pieces, ModelCallerOverrun,
                         testing::Values(model::CallEvent{TextPiece{std::string(1000, 'x')}},
                                         model::CallEvent{model::ReasoningPiece{std::string(1000, 'x')}},
                                         model::CallEvent{
                                             model::ToolCallPiece{0, "c", "f", std::string(1000, 'x')}}),
                         [](auto const& piece) { return "Kind" + std::to_string(piece.param.index()); });

TEST_F(ModelCallerTest, USE_9_AnswerAboutAsLongAsItMayBeIsNotCutOff) {
  std::string const words(400, 'x');
  max_output_tokens = 100;  // The estimate is 120; English has about four letters per token.
  set_script("m", {{TextPiece{words}, answered(1, 100)}});

  EXPECT_EQ(text_of(ask()), words);
}

TEST_F(ModelCallerTest, USE_9_AnswerThatIsThereIsKeptHoweverLongItIs) {
  std::string const words(4000, 'x');
  max_output_tokens = 100;
  set_script("m", {{TextPiece{words}, answered(1, 1000)}});

  auto const result = ask();

  EXPECT_EQ(text_of(result), words);
  EXPECT_EQ(std::get<ModelReply>(result).accounts.rows.call_ends.at(0).tokens.output, 1000);
}

TEST_F(ModelCallerTest, USE_9_WithoutALimitNothingIsCutOff) {
  std::string const words(1'000'000, 'x');
  set_script("m", {{TextPiece{words}, answered(1, 2)}});

  EXPECT_EQ(text_of(ask()).size(), words.size());
}

TEST_F(ModelCallerTest, RUN_4_CancelEndsTheWaitForTheNextAttempt) {
  auto failure = refused(Failure::rate_limited);
  failure.retry_after = std::chrono::seconds{50};
  set_script("m", {{failure}});
  auto result = start();
  store.wait_for_writes(2);  // The stage's beginning, and the attempt's end.

  run([this] { cancel->request(base::CancelReason::user); });

  auto const outcome = result.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::canceled);
  EXPECT_EQ(asked("m"), 1U);
  EXPECT_FALSE(ledger.is_open());
}

TEST_F(ModelCallerTest, RUN_4_CancelInTheMiddleLeavesTheAttemptOpenForItsEnd) {
  set_script("m", {{TextPiece{"half"}}});
  auto result = start();
  store.wait_for_writes(2);  // The stage's beginning, and the message's.

  run([this] { cancel->request(base::CancelReason::user); });

  auto const outcome = result.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::canceled);
  EXPECT_TRUE(ledger.is_open());
  EXPECT_TRUE(settled().empty());
}

TEST_F(ModelCallerTest, ModelThatIsNoLongerThereIsTrouble) {
  set_script("other", {});

  EXPECT_EQ(text_of(ask()), "trouble MODEL_UNKNOWN");
}

}  // namespace
}  // namespace runnel::runtime
