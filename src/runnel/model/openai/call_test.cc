#include "runnel/model/openai/call.h"

#include <gtest/gtest.h>

#include "tests/support/call_answer.h"

namespace runnel::model {
namespace {

using std::chrono::milliseconds;
using Kind = net::HttpError::Kind;

char const* const kText = R"({"choices":[{"delta":{"content":"x"}}]})";
char const* const kFinish = R"({"choices":[{"delta":{},"finish_reason":"stop"}]})";
char const* const kUsage = R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}})";

std::shared_ptr<Script> script() {
  return std::make_shared<Script>();
}

ProviderOptions impatient() {
  auto options = options_for("deepseek");
  options.timeouts.first_payload = milliseconds{300};
  options.timeouts.idle_payload = milliseconds{100};
  options.timeouts.idle_bytes = milliseconds{50};
  options.timeouts.total = milliseconds{10'000};
  return options;
}

milliseconds elapsed(Script const& script) {
  return std::chrono::duration_cast<milliseconds>(script.now.time_since_epoch());
}

TEST(OpenAiCall, USE_1_WhatOneReadBringsIsOneBatch) {
  auto const upstream = script();
  auto const text = std::string{"data: "} + kText + "\n\n";
  upstream->send(text + text).send(text).event(kFinish).event(kUsage).event("[DONE]");
  auto const answer = answer_of(upstream);

  EXPECT_EQ(answer.text, "xxx");
  EXPECT_EQ(answer.batches, 3U);
  EXPECT_EQ(answer.finished->usage.output_tokens, 2);
}

TEST(OpenAiCall, USE_1_ConnectionIsReadToItsEndAfterDone) {
  auto const upstream = script();
  upstream->event(kText).event(kFinish).event("[DONE]");
  auto const answer = answer_of(upstream);

  EXPECT_TRUE(answer.finished);
  EXPECT_TRUE(upstream->body_read_to_its_end);
}

TEST(OpenAiCall, USE_1_ServerThatDoesNotEndAfterDoneHoldsNobody) {
  auto const upstream = script();
  upstream->event(kText).event(kFinish).event("[DONE]").hang();
  auto const answer = answer_of(upstream);

  EXPECT_TRUE(answer.finished);
  EXPECT_TRUE(upstream->closed);
  EXPECT_LE(elapsed(*upstream), milliseconds{100});
}

TEST(OpenAiCall, USE_10_UsageIsWaitedForShortlyAfterTheFinish) {
  auto const upstream = script();
  upstream->event(kText).event(kFinish).event(kUsage, milliseconds{4000}).hang();
  auto const late = answer_of(upstream);
  EXPECT_EQ(late.finished->usage.output_tokens, 2);
  EXPECT_EQ(elapsed(*upstream), milliseconds{5000});

  auto const silent = script();
  silent->event(kText).event(kFinish).hang();
  auto const without = answer_of(silent);
  EXPECT_EQ(without.finished->usage, ReportedUsage{});
  EXPECT_EQ(elapsed(*silent), milliseconds{5000});
}

TEST(OpenAiCall, USE_10_DropAfterTheFinishDoesNoHarm) {
  auto const upstream = script();
  upstream->event(kText).event(kFinish).fail(Kind::cut);
  EXPECT_TRUE(answer_of(upstream).finished);
}

TEST(OpenAiCall, USE_10_DropBeforeTheFinishIsACut) {
  auto const upstream = script();
  upstream->event(kText).send("data: {\"cho").fail(Kind::cut);
  auto const answer = answer_of(upstream);
  EXPECT_EQ(answer.text, "x");
  EXPECT_EQ(answer.failed->failure, Failure::cut);
  EXPECT_TRUE(answer.failed->retryable);

  auto const early = script();
  early->send(": hello\n\n").fail(Kind::cut);
  EXPECT_TRUE(answer_of(early).failed->retryable);
}

TEST(OpenAiCall, USE_10_OnlyACallThatWasTakenMayHaveUsedTokens) {
  auto const accepted = [](auto const& act) {
    auto const upstream = script();
    act(*upstream);
    return answer_of(upstream, impatient()).failed->accepted;
  };
  EXPECT_TRUE(accepted([](Script& s) { s.event(kText).fail(Kind::cut); }));
  EXPECT_TRUE(accepted([](Script& s) { s.fail(Kind::cut); }));
  EXPECT_TRUE(accepted([](Script& s) { s.hang(); }));
  EXPECT_TRUE(accepted([](Script& s) { s.event(kText).event("{"); }));
  EXPECT_TRUE(accepted([](Script& s) { s.event(kText).event(R"({"error":{"message":"m"}})"); }));
  EXPECT_FALSE(accepted([](Script& s) { s.event(R"({"error":{"message":"m"}})"); }));
  EXPECT_FALSE(accepted([](Script& s) { s.send(R"({"error":{"message":"m"}})"); }));
  EXPECT_FALSE(accepted([](Script& s) { s.send("<html>"); }));
  EXPECT_FALSE(accepted([](Script& s) { s.head = net::HttpError{Kind::unreachable, "refused"}; }));
  EXPECT_FALSE(accepted([](Script& s) { s.head = net::HttpHead{503, {}}; }));
}

TEST(OpenAiCall, USE_1_NoConnection) {
  auto const upstream = script();
  upstream->head = net::HttpError{Kind::unreachable, "refused sk-canary-0123456789abcdef"};
  auto const answer = answer_of(upstream);
  EXPECT_EQ(answer.failed->failure, Failure::unreachable);
  EXPECT_EQ(answer.failed->message, "no connection: refused [redacted]");
  EXPECT_TRUE(answer.failed->retryable);

  upstream->head = net::HttpError{Kind::untrusted, "certificate"};
  EXPECT_FALSE(answer_of(upstream).failed->retryable);
  upstream->head = net::HttpError{Kind::malformed, "rubbish"};
  EXPECT_EQ(answer_of(upstream).failed->failure, Failure::bad_answer);
}

TEST(OpenAiCall, USE_10_CallIsAcceptedOnceItsStreamHasBegun) {
  auto const silent = script();
  silent->hang();
  EXPECT_TRUE(answer_of(silent, impatient()).failed->accepted);
  auto const reported = script();
  reported->event(R"({"choices":[{"index":0,"delta":{"content":"Hel"}}]})")
      .event(R"({"error":{"message":"broke"}})");
  EXPECT_TRUE(answer_of(reported).failed->accepted);

  auto const refused = script();
  refused->head = net::HttpHead{503, {}};
  EXPECT_FALSE(answer_of(refused).failed->accepted);
  auto const page = script();
  page->head = net::HttpHead{200, {{"content-type", "text/html"}}};
  EXPECT_FALSE(answer_of(page).failed->accepted);
  auto const unreachable = script();
  unreachable->head = net::HttpError{Kind::unreachable, ""};
  EXPECT_FALSE(answer_of(unreachable).failed->accepted);
}

TEST(OpenAiCall, USE_1_HeadThatNeverComes) {
  auto const upstream = script();
  upstream->head_after = std::chrono::hours{1};
  auto const answer = answer_of(upstream, impatient());
  EXPECT_EQ(answer.failed->failure, Failure::timed_out);
  EXPECT_EQ(answer.failed->message, "timed out waiting for the first event");
  EXPECT_EQ(elapsed(*upstream), milliseconds{300});
}

TEST(OpenAiCall, USE_1_SilenceAfterTheHeadOrAnEvent) {
  auto const upstream = script();
  upstream->hang();
  EXPECT_EQ(answer_of(upstream, impatient()).failed->message, "timed out waiting for the first event");
  EXPECT_EQ(elapsed(*upstream), impatient().timeouts.first_payload);

  auto const later = script();
  later->event(kText, milliseconds{40}).hang();
  auto const answer = answer_of(later, impatient());
  EXPECT_EQ(answer.failed->failure, Failure::timed_out);
  EXPECT_EQ(answer.text, "x");
  EXPECT_FALSE(answer.failed->retryable);
  EXPECT_EQ(elapsed(*later), milliseconds{90});
}

TEST(OpenAiCall, USE_10_KeepAlivesDoNotRearmThePayloadTimer) {
  auto const upstream = script();
  upstream->event(kText);
  for (int i = 0; i < 100; ++i)
    upstream->send(": keep-alive\n\n", milliseconds{30});
  auto const answer = answer_of(upstream, impatient());

  EXPECT_EQ(answer.failed->message, "timed out waiting for the next event");
  EXPECT_EQ(elapsed(*upstream), milliseconds{100});
}

TEST(OpenAiCall, USE_10_KeepAlivesBeforeTheFirstEventAreBorneForALimitedTime) {
  auto const upstream = script();
  for (int i = 0; i < 8; ++i)
    upstream->send(":\n\n", milliseconds{30});
  upstream->event(kText).event(kFinish);
  EXPECT_TRUE(answer_of(upstream, impatient()).finished);

  auto const endless = script();
  for (int i = 0; i < 100; ++i)
    endless->send(":\n\n", milliseconds{30});
  auto const answer = answer_of(endless, impatient());
  EXPECT_EQ(answer.failed->message, "timed out waiting for the first event");
  EXPECT_FALSE(answer.failed->retryable);
  EXPECT_EQ(elapsed(*endless), milliseconds{300});
}

// An exchange that has bytes whenever it is asked, so that it never looks at the deadline.
class FloodingExchange final : public net::HttpExchange {
 public:
  explicit FloodingExchange(std::shared_ptr<Script> script) : script_{std::move(script)} {}

  boost::asio::awaitable<net::HttpResult<net::HttpHead>> head(net::Deadline,
                                                              std::shared_ptr<base::Cancel>) override {
    co_return script_->head;
  }
  boost::asio::awaitable<net::HttpResult<std::string>> read(net::Deadline,
                                                            std::shared_ptr<base::Cancel>) override {
    script_->now += milliseconds{1};
    co_return std::string{": keep-alive\n\n"};
  }

 private:
  std::shared_ptr<Script> script_;
};

TEST(OpenAiCall, USE_10_FloodOfKeepAlivesEnds) {
  auto const flood = script();
  OpenAiProvider provider{
      impatient(), [flood](net::HttpRequest const&) { return std::make_unique<FloodingExchange>(flood); },
      [flood] { return flood->now; }};
  std::shared_ptr<Call> const call = provider.call(ask("m", "q"));
  auto const answer = run_async(read_answer(call, std::make_shared<base::Cancel>()));

  EXPECT_EQ(answer.failed->failure, Failure::timed_out);
  EXPECT_EQ(elapsed(*flood), milliseconds{300});
}

TEST(OpenAiCall, USE_10_TimeInWhichNobodyReadsIsNoSilenceOfTheModel) {
  auto const upstream = script();
  for (int i = 0; i < 3; ++i)
    upstream->event(kText);
  upstream->event(kFinish);
  OpenAiProvider provider{impatient(), post_to(upstream), [upstream] { return upstream->now; }};
  std::shared_ptr<Call> const call = provider.call(ask("m", "q"));
  auto const cancel = std::make_shared<base::Cancel>();
  ASSERT_TRUE(run_async(call->next(cancel)));

  upstream->now += std::chrono::hours{1};
  call->held_up(std::chrono::hours{1});

  auto const answer = run_async(read_answer(call, cancel));
  EXPECT_TRUE(answer.finished);
}

TEST(OpenAiCall, USE_1_WholeCallHasALimit) {
  auto const upstream = script();
  for (int i = 0; i < 1000; ++i)
    upstream->event(kText, milliseconds{40});
  auto const answer = answer_of(upstream, impatient());

  EXPECT_EQ(answer.failed->message, "timed out waiting for the end of the answer");
  EXPECT_EQ(elapsed(*upstream), milliseconds{10'000});
}

TEST(OpenAiCall, USE_1_RateLimitWithItsWait) {
  auto const upstream = script();
  upstream->status(429, {{"retry-after", "1.5"}})
      .send_in_pieces(R"({"error":{"message":"slow down","code":"rate_limit_exceeded"}})", 7);
  auto const answer = answer_of(upstream);

  EXPECT_EQ(answer.failed->failure, Failure::rate_limited);
  EXPECT_EQ(answer.failed->retry_after, milliseconds{1500});
  EXPECT_TRUE(answer.failed->retryable);
  EXPECT_EQ(answer.failed->message, "HTTP 429: rate_limit_exceeded: slow down");
  EXPECT_TRUE(upstream->body_read_to_its_end);
}

TEST(OpenAiCall, USE_1_ServerErrorWithAnyBody) {
  for (auto const* body : {"", "<html>nginx</html>", "oops", "{\"error\":", "{}", "[]"}) {
    auto const upstream = script();
    upstream->status(500);
    if (*body != '\0') upstream->send(body);
    auto const answer = answer_of(upstream);
    EXPECT_EQ(answer.failed->failure, Failure::overloaded) << body;
    EXPECT_TRUE(answer.failed->retryable) << body;
  }
}

TEST(OpenAiCall, USE_1_ErrorBodyWithoutEnd) {
  auto const upstream = script();
  upstream->status(500);
  for (int i = 0; i < 1000; ++i)
    upstream->send(std::string(1024, 'x'));
  EXPECT_LT(answer_of(upstream).failed->message.size(), 400U);
  EXPECT_EQ(upstream->steps.size(), 1000U - 64U);

  auto const hanging = script();
  hanging->status(400).send(R"({"error")").hang();
  EXPECT_EQ(answer_of(hanging).failed->failure, Failure::rejected);
  EXPECT_LE(elapsed(*hanging), milliseconds{10'000});
}

TEST(OpenAiCall, USE_10_PageInPlaceOfTheStream) {
  auto const upstream = script();
  upstream->status(200, {{"content-type", "text/html; charset=utf-8"}}).hang();
  auto const answer = answer_of(upstream);
  EXPECT_EQ(answer.failed->failure, Failure::bad_answer);
  EXPECT_EQ(elapsed(*upstream), milliseconds{0});

  auto const unlabelled = script();
  unlabelled->send("<html>").hang();
  EXPECT_EQ(answer_of(unlabelled).failed->failure, Failure::bad_answer);
}

TEST(OpenAiCall, USE_10_MalformedEventEndsTheCallAtOnce) {
  auto const upstream = script();
  upstream->event(kText).event("{\"choices\":[{").hang();
  auto const answer = answer_of(upstream);

  EXPECT_EQ(answer.failed->failure, Failure::bad_answer);
  EXPECT_EQ(elapsed(*upstream), milliseconds{0});
  EXPECT_TRUE(upstream->closed);
}

TEST(OpenAiCall, USE_10_LineOfTenMegabytesIsABadAnswer) {
  auto const upstream = script();
  upstream->event(kText).send("data: ");
  for (int i = 0; i < 160; ++i)
    upstream->send(std::string(64 * 1024, 'x'));
  EXPECT_EQ(answer_of(upstream).failed->failure, Failure::bad_answer);
}

TEST(OpenAiCall, USE_10_ErrorObjectInTheStreamEndsTheCall) {
  auto const upstream = script();
  upstream->event(kText)
      .event(R"({"error":{"message":"key sk-canary-0123456789abcdef","code":null}})")
      .event("[DONE]");
  auto const answer = answer_of(upstream);

  EXPECT_EQ(answer.failed->failure, Failure::reported);
  EXPECT_EQ(answer.failed->message, "error in the stream: key [redacted]");
}

TEST(OpenAiCall, RUN_4_CanceledCallFailsAndClosesItsConnection) {
  auto const upstream = script();
  upstream->event(kText);
  auto const cancel = std::make_shared<base::Cancel>();
  cancel->request(base::CancelReason::user);
  auto const answer = run_async(read_answer(start_call(upstream, impatient()), cancel));

  EXPECT_EQ(answer.error, Errc::canceled);
  EXPECT_TRUE(upstream->closed);
}

}  // namespace
}  // namespace runnel::model
