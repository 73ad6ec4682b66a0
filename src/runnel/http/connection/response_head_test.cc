#include "runnel/http/connection/response_head.h"

#include <gtest/gtest.h>

namespace runnel::http {
namespace {

bool has(std::string const& head, std::string_view line) {
  return head.find("\r\n" + std::string{line} + "\r\n") != std::string::npos;
}

TEST(ResponseHead, HasStatusLengthTypeAndRequestId) {
  auto const head = response_head(api::json_response(201, "{}"), {.request_id = "r-1"});

  EXPECT_TRUE(head.starts_with("HTTP/1.1 201 Created\r\n"));
  EXPECT_TRUE(has(head, "Content-Type: application/json"));
  EXPECT_TRUE(has(head, "Content-Length: 2"));
  EXPECT_TRUE(has(head, "X-Request-Id: r-1"));
  EXPECT_TRUE(has(head, "Cache-Control: no-store"));
  EXPECT_EQ(head.find("Connection:"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(ResponseHead, NoContentHasNoLength) {
  auto const head = response_head(api::empty_response(204), {});

  EXPECT_EQ(head.find("Content-"), head.find("Content-Type-Options"));
}

TEST(ResponseHead, HandlersCacheControlStands) {
  auto response = api::json_response(200, "{}");
  response.headers = {{"cache-control", "max-age=60"}};

  auto const head = response_head(response, {});

  EXPECT_EQ(head.find("no-store"), std::string::npos);
}

TEST(ResponseHead, HeaderThatWouldBreakOutIsLeftOut) {
  auto response = api::json_response(200, "{}");
  response.headers = {{"X-A", "a\r\nSet-Cookie: b"}, {"X-B\n", "b"}, {"X-C", "c"}};

  auto const head = response_head(response, {});

  EXPECT_EQ(head.find("Set-Cookie"), std::string::npos);
  EXPECT_EQ(head.find("X-B"), std::string::npos);
  EXPECT_TRUE(has(head, "X-C: c"));
}

TEST(ResponseHead, ConnectionIsNamedWhereTheDefaultIsAnother) {
  EXPECT_TRUE(has(response_head(api::empty_response(204), {.request_id = "r", .keep_alive = false}),
                  "Connection: close"));
  EXPECT_TRUE(has(response_head(api::empty_response(204), {.request_id = "r", .http_1_1 = false}),
                  "Connection: keep-alive"));
}

}  // namespace
}  // namespace runnel::http
