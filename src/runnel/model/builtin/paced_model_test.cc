#include "runnel/model/builtin/paced_model.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>

#include "runnel/model/builtin/offline.h"
#include "runnel/model/registry.h"
#include "tests/support/model_request.h"
#include "tests/support/run_async.h"

namespace runnel::model {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

TEST(TestModel, RUN_1_NameSaysWhatToSend) {
  EXPECT_EQ(parse_paced_model("tok-200-1000"), (PacedScript{200, microseconds{1000}, 1, microseconds{0}}));
  EXPECT_EQ(parse_paced_model("tok-200-1000-8"), (PacedScript{200, microseconds{1000}, 8, microseconds{0}}));
  EXPECT_EQ(parse_paced_model("tok-2-5-1-1500000"),
            (PacedScript{2, microseconds{5}, 1, microseconds{1500000}}));
  EXPECT_EQ(parse_paced_model("tok-200-0"), (PacedScript{200, microseconds{0}, 64, microseconds{0}}));
  EXPECT_EQ(parse_paced_model("tok-200-0-1"), (PacedScript{200, microseconds{0}, 1, microseconds{0}}));
  EXPECT_TRUE(parse_paced_model("tok-1000000-3600000000-10000-3600000000"));
}

TEST(TestModel, RUN_1_MalformedNameIsNoModel) {
  for (auto const* name : {"",
                           "tok",
                           "tok-",
                           "tok-*",
                           "tok-5",
                           "tok-5-",
                           "tok--5",
                           "tok-5--1",
                           "tok-5-1-",
                           "tok-5-1-1-",
                           "tok-5-1-1-1-1",
                           "tok-5-1-1-1-",
                           "tok-5-x",
                           "tok-5x-1",
                           "tok- 5-1",
                           "tok-+5-1",
                           "tok-5-1 ",
                           "xtok-5-1",
                           "TOK-5-1",
                           "tok-1000001-0",
                           "tok-5-3600000001",
                           "tok-5-0-10001",
                           "tok-5-0-1-3600000001",
                           "tok-99999999999999999999-0"}) {
    EXPECT_FALSE(parse_paced_model(name)) << name;
  }
}

TEST(TestModel, RUN_1_RegistryFindsItByPatternAndListsThePattern) {
  std::vector<std::unique_ptr<Provider>> providers;
  providers.push_back(std::make_unique<OfflineProvider>(OfflineOptions{}));
  providers.push_back(std::make_unique<PacedModelProvider>());
  auto const* const test = providers.back().get();
  Registry const registry{std::move(providers)};

  EXPECT_EQ(registry.find("tok-5-0"), test);
  EXPECT_EQ(registry.find("tok-*"), nullptr);
  EXPECT_EQ(registry.find("tok-5"), nullptr);
  EXPECT_NE(registry.find("offline"), nullptr);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"offline", "tok-*"}));
  EXPECT_EQ(registry.default_name(), "offline");
}

struct Answer {
  std::vector<std::size_t> bursts;
  std::vector<std::string> tokens;
  ReportedUsage usage;
};

boost::asio::awaitable<Answer> read_all(CallRequest request) {
  PacedModelProvider provider;
  auto const call = provider.call(std::move(request));
  auto const cancel = std::make_shared<base::Cancel>();
  Answer all;
  for (;;) {
    auto const events = co_await call->next(cancel);
    for (auto const& event : events.value()) {
      if (auto const* text = std::get_if<TextPiece>(&event)) all.tokens.push_back(text->text);
      if (auto const* finished = std::get_if<CallFinished>(&event)) {
        all.usage = finished->usage;
        co_return all;
      }
    }
    all.bursts.push_back(events.value().size());
  }
}

Answer answer(std::string model) {
  return run_async(read_all(ask(std::move(model), "three small words")));
}

TEST(TestModel, HandsOverBurstsAndCountsTokens) {
  auto const all = answer("tok-10-0-4");

  EXPECT_EQ(all.bursts, (std::vector<std::size_t>{4, 4, 2}));
  EXPECT_EQ(PacedModelProvider{}.name(), "test");
  EXPECT_EQ(all.usage.input_tokens, 3);
  EXPECT_EQ(all.usage.output_tokens, 10);
  EXPECT_EQ(all.usage.total_tokens, 13);
}

TEST(TestModel, NoTokensIsAnEmptyAnswer) {
  auto const all = answer("tok-0-0");

  EXPECT_TRUE(all.tokens.empty());
  EXPECT_EQ(all.usage.output_tokens, 0);
}

std::string framed(std::string model, std::string contract) {
  auto request = ask(std::move(model), "words");
  request.contract = std::move(contract);
  auto const all = run_async(read_all(std::move(request)));
  std::string text;
  for (auto const& token : all.tokens)
    text += token;
  return text;
}

TEST(TestModel, FLOW_4_TokensAreTheTextOfAKnownContract) {
  std::pair<char const*, char const*> const texts[] = {{"RouterResult", "execution_brief"},
                                                       {"WorkerResult", "answer"},
                                                       {"IntentResult", "assistant_text"},
                                                       {"ExecutionResult", "report_brief"},
                                                       {"OrganizationResult", "assistant_text"}};
  for (auto const& [contract, field] : texts) {
    auto const object = boost::json::parse(framed("tok-5-0-2", contract)).as_object();
    EXPECT_EQ((object.end() - 1)->key(), field);
    EXPECT_EQ(object.at(field).as_string().size(), 5U * 16U) << contract;
    EXPECT_EQ(boost::json::parse(framed("tok-0-0", contract)).at(field).as_string(), "") << contract;
  }
  EXPECT_EQ(framed("tok-5-0-2", "Other").size(), 5U * 16U);
}

std::int64_t monotonic_ns() {
  return SteadyClock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

TEST(TestModel, TokenIsTheTimeWhenItWasMade) {
  auto const before = monotonic_ns();
  auto const all = answer("tok-3-0-1");
  auto const after = monotonic_ns();

  auto last = before;
  for (auto const& token : all.tokens) {
    ASSERT_EQ(token.size(), 16U);
    EXPECT_EQ(token.front(), '@');
    EXPECT_EQ(token.back(), '~');
    auto const at = std::stoll(token.substr(1, 14), nullptr, 16);
    EXPECT_GE(at, last);
    last = at;
  }
  EXPECT_LE(last, after);
}

std::int64_t made_at(std::string const& token) {
  return std::stoll(token.substr(1, 14), nullptr, 16);
}

TEST(TestModel, KeepsThePaceAndWaitsBeforeTheFirst) {
  auto const before = monotonic_ns();
  auto const all = answer("tok-4-2000-2-10000");
  auto const after = monotonic_ns();

  EXPECT_GE(made_at(all.tokens[0]) - before, 10'000'000);
  EXPECT_GE(made_at(all.tokens[2]) - before, 14'000'000);
  EXPECT_GE(after - before, 18'000'000);  // The end keeps the pace too.
}

boost::asio::awaitable<void> count_turns(std::shared_ptr<bool> stop, std::shared_ptr<int> turns) {
  while (!*stop) {
    ++*turns;
    co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
  }
}

boost::asio::awaitable<int> turns_of_others_during(CallRequest request) {
  auto const stop = std::make_shared<bool>(false);
  auto const turns = std::make_shared<int>(0);
  boost::asio::co_spawn(co_await boost::asio::this_coro::executor, count_turns(stop, turns),
                        boost::asio::detached);
  co_await read_all(std::move(request));
  *stop = true;
  co_return *turns;
}

TEST(TestModel, UndelayedCallLetsOthersRunBetweenBursts) {
  EXPECT_GE(run_async(turns_of_others_during(ask("tok-100-0-1", ""))), 100);
}

boost::asio::awaitable<Errc> next_when_canceled(std::string model) {
  PacedModelProvider provider;
  auto const call = provider.call(ask(std::move(model), ""));
  auto const cancel = std::make_shared<base::Cancel>();
  cancel->request(base::CancelReason::user);
  auto const events = co_await call->next(cancel);
  co_return events.error().code;
}

TEST(TestModel, CanceledCallStops) {
  EXPECT_EQ(run_async(next_when_canceled("tok-5-3600000000")), Errc::canceled);
  EXPECT_EQ(run_async(next_when_canceled("tok-5-0")), Errc::canceled);
}

}  // namespace
}  // namespace runnel::model
