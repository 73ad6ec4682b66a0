#include "runnel/model/offline.h"

#include <gtest/gtest.h>

#include <numeric>

#include "runnel/core/text.h"
#include "tests/support/model_request.h"
#include "tests/support/run_async.h"

namespace runnel::model {
namespace {

std::string joined(std::vector<std::string> const& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::string{});
}

TEST(OfflineModel, USE_2_SaysWhatItIsInTheLanguageOfTheMessage) {
  EXPECT_NE(joined(offline_answer("Who are you?", {})).find("built-in offline model"), std::string::npos);
  EXPECT_NE(joined(offline_answer("你是谁?", {})).find("内置的离线模型"), std::string::npos);
}

TEST(OfflineModel, PiecesAreWordsAndWholeCharacters) {
  for (auto const* message : {"hello world", "你好 world", "a\nb  c", "🙂🙂", ""}) {
    auto const pieces = offline_answer(message, {});
    EXPECT_GT(pieces.size(), 20U) << message;
    for (auto const& piece : pieces)
      EXPECT_TRUE(is_utf8(piece)) << message;
  }
}

TEST(OfflineModel, SameMessageSameAnswer) {
  EXPECT_EQ(offline_answer("again", {}), offline_answer("again", {}));
}

TEST(OfflineModel, PadsToTheWantedNumberOfWords) {
  OfflineOptions options;
  options.words = 500;
  EXPECT_EQ(offline_answer("long", options).size(), 500U);
}

boost::asio::awaitable<std::pair<std::string, ReportedUsage>> read_all(OfflineProvider& provider,
                                                                       CallRequest request) {
  auto const call = provider.call(std::move(request));
  std::pair<std::string, ReportedUsage> all;
  auto const cancel = std::make_shared<base::Cancel>();
  for (;;) {
    auto const events = co_await call->next(cancel);
    for (auto const& event : events.value()) {
      if (auto const* text = std::get_if<TextPiece>(&event)) all.first += text->text;
      if (auto const* finished = std::get_if<CallFinished>(&event)) {
        all.second = finished->usage;
        co_return all;
      }
    }
  }
}

TEST(OfflineModel, CallStreamsTheAnswerAndCountsItsTokens) {
  OfflineProvider provider{{std::chrono::microseconds{0}, 0}};

  auto const [text, usage] = run_async(read_all(provider, ask("offline", "three small words")));

  EXPECT_EQ(text, joined(offline_answer("three small words", {})));
  EXPECT_EQ(usage.input_tokens, 3);
  EXPECT_EQ(usage.output_tokens, static_cast<std::int64_t>(offline_answer("three small words", {}).size()));
  EXPECT_EQ(usage.total_tokens, *usage.input_tokens + *usage.output_tokens);
  EXPECT_EQ(usage.cost, std::nullopt);
  EXPECT_EQ(provider.name(), "offline");
}

boost::asio::awaitable<Errc> next_when_canceled(OfflineProvider& provider) {
  auto const call = provider.call(ask("offline", "x"));
  auto const cancel = std::make_shared<base::Cancel>();
  cancel->request(base::CancelReason::user);
  auto const events = co_await call->next(cancel);
  co_return events.error().code;
}

TEST(OfflineModel, CanceledCallStops) {
  OfflineProvider provider{{std::chrono::hours{1}, 0}};
  EXPECT_EQ(run_async(next_when_canceled(provider)), Errc::canceled);
}

}  // namespace
}  // namespace runnel::model
