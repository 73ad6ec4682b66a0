#include "runnel/api/problem.h"

#include <gtest/gtest.h>

#include <tuple>

namespace runnel::api {
namespace {

TEST(Problem, HTTP_2_HasCodeMessageAndDetails) {
  auto const response = problem(409, "THREAD_BUSY", "a \"run\" is active", R"({"runId":"r"})");

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body,
            R"({"error":{"code":"THREAD_BUSY","message":"a \"run\" is active","details":{"runId":"r"}}})");
}

TEST(Problem, EveryErrcHasItsStatusAndKeepsItsDetail) {
  for (auto const& [code, status, name] :
       {std::tuple{Errc::invalid, 400, "INVALID_REQUEST"}, std::tuple{Errc::not_found, 404, "NOT_FOUND"},
        std::tuple{Errc::already_exists, 409, "CONFLICT"}, std::tuple{Errc::conflict, 409, "CONFLICT"},
        std::tuple{Errc::open_calls, 409, "CONFLICT"}, std::tuple{Errc::fenced, 503, "UNAVAILABLE"},
        std::tuple{Errc::unavailable, 503, "UNAVAILABLE"},
        std::tuple{Errc::over_budget, 402, "BUDGET_EXCEEDED"}, std::tuple{Errc::canceled, 503, "UNAVAILABLE"},
        std::tuple{Errc::internal, 500, "INTERNAL"}}) {
    testing::internal::CaptureStderr();
    auto const response = problem_from({code, "table runs"}, "r-1");
    auto const log = testing::internal::GetCapturedStderr();

    EXPECT_EQ(response.status, status) << name;
    EXPECT_NE(response.body.find(name), std::string::npos) << response.body;
    EXPECT_EQ(response.body.find("table runs"), std::string::npos);
    bool const retry = response.headers == Pairs{{"Retry-After", "1"}};
    EXPECT_EQ(retry, status == 503) << name;
    EXPECT_EQ(log.find("table runs") != std::string::npos, status >= 500 && code != Errc::canceled) << log;
  }
}

}  // namespace
}  // namespace runnel::api
