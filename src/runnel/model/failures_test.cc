#include "runnel/model/failures.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

Redactor const kRedactKey{Secret{"sk-canary-0123456789"}};

CallFailed refusal(int status, std::string_view body, std::string const& vendor = "openai",
                   std::vector<std::pair<std::string, std::string>> headers = {}) {
  return read_refusal(net::HttpHead{status, std::move(headers)}, body, find_vendor(vendor).value(),
                      kRedactKey, std::chrono::system_clock::from_time_t(0));
}

TEST(Failures, USE_1_EveryStatusHasItsFailure) {
  struct Row {
    int status;
    Failure failure;
    bool retryable;
  };
  for (auto const& row : {Row{400, Failure::rejected, false},
                          {401, Failure::unauthorized, false},
                          {402, Failure::out_of_funds, false},
                          {403, Failure::unauthorized, false},
                          {404, Failure::rejected, false},
                          {408, Failure::timed_out, true},
                          {409, Failure::rejected, true},
                          {422, Failure::rejected, false},
                          {429, Failure::rate_limited, true},
                          {500, Failure::overloaded, true},
                          {502, Failure::overloaded, true},
                          {503, Failure::overloaded, true},
                          {529, Failure::overloaded, true},
                          {302, Failure::bad_answer, false}}) {
    auto const failed = refusal(row.status, "");
    EXPECT_EQ(failed.failure, row.failure) << row.status;
    EXPECT_EQ(failed.retryable, row.retryable) << row.status;
  }
}

TEST(Failures, USE_1_WhatProvidersCallItCountsMoreThanTheStatus) {
  auto const quota = R"({"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}})";
  EXPECT_EQ(refusal(429, quota).failure, Failure::out_of_funds);
  EXPECT_FALSE(refusal(429, quota).retryable);
  EXPECT_EQ(refusal(429, quota, "dashscope").failure, Failure::rate_limited);
  EXPECT_TRUE(refusal(429, quota, "dashscope").retryable);
  EXPECT_EQ(refusal(400, R"({"code":"Arrearage","message":"m","request_id":"r"})").failure,
            Failure::out_of_funds);
  EXPECT_EQ(refusal(400, R"({"error":{"code":"data_inspection_failed","message":"m"}})").failure,
            Failure::filtered);
  EXPECT_EQ(refusal(400, R"({"code":"DataInspectionFailed","message":"m"})").failure, Failure::filtered);
  EXPECT_EQ(refusal(400, R"({"code":"Throttling.AllocationQuota","message":"m"})").failure,
            Failure::rate_limited);
}

TEST(Failures, USE_1_ServerMaySayWhetherToRetry) {
  EXPECT_TRUE(refusal(400, "", "openai", {{"x-should-retry", "true"}}).retryable);
  EXPECT_FALSE(refusal(503, "", "openai", {{"x-should-retry", "false"}}).retryable);
  EXPECT_EQ(refusal(429, "", "openai", {{"retry-after", "2"}}).retry_after, std::chrono::milliseconds{2000});
}

TEST(Failures, USE_1_MessageTellsWhatTheProviderSaid) {
  EXPECT_EQ(refusal(400, R"({"error":{"message":"too long","type":"t","code":"c"}})").message,
            "HTTP 400: c: too long");
  EXPECT_EQ(refusal(400, "\n\n {\"detail\":\"not here\"}").message, "HTTP 400: not here");
  EXPECT_EQ(refusal(502, "<html><body>secret</body></html>").message, "HTTP 502: an HTML page");
  EXPECT_EQ(refusal(503, "").message, "HTTP 503: an empty body");
  EXPECT_EQ(refusal(500, "plain words").message, "HTTP 500: plain words");
  EXPECT_EQ(refusal(401, R"({"error":{"message":"key sk-canary-0123456789 is wrong"}})").message,
            "HTTP 401: key [redacted] is wrong");
}

TEST(Failures, USE_10_ErrorInTheStreamIsRetryableByItsCode) {
  auto const reported = [](ProviderError const& error) {
    return read_reported(error, find_vendor("local").value(), kRedactKey);
  };
  EXPECT_EQ(reported({"m", "server_error", "500"}).failure, Failure::reported);
  EXPECT_TRUE(reported({"m", "server_error", "500"}).retryable);
  EXPECT_FALSE(reported({"m", "invalid_request_error", "400"}).retryable);
  EXPECT_FALSE(reported({"m", "", ""}).retryable);
  EXPECT_EQ(reported({"m", "rate_limit_error", ""}).failure, Failure::rate_limited);
  EXPECT_EQ(reported({"key sk-canary-0123456789", "", ""}).message, "error in the stream: key [redacted]");
}

TEST(Failures, USE_1_EveryFailureHasACodeOfItsOwn) {
  std::vector<std::string> codes;
  for (int failure = 0; failure <= static_cast<int>(Failure::reported); ++failure)
    codes.emplace_back(to_code(static_cast<Failure>(failure)));
  EXPECT_EQ(codes, (std::vector<std::string>{"MODEL_UNREACHABLE", "MODEL_TIMED_OUT", "MODEL_RATE_LIMITED",
                                             "MODEL_OVERLOADED", "MODEL_UNAUTHORIZED", "MODEL_OUT_OF_FUNDS",
                                             "MODEL_REJECTED", "MODEL_FILTERED", "MODEL_CUT",
                                             "MODEL_BAD_ANSWER", "MODEL_REPORTED"}));
}

}  // namespace
}  // namespace runnel::model
