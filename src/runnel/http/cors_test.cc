#include "runnel/http/cors.h"

#include <gtest/gtest.h>

namespace runnel::http {
namespace {

api::Request from(std::string const& origin) {
  api::Request request;
  request.method = api::Method::get;
  if (!origin.empty()) request.headers.emplace_back("Origin", origin);
  return request;
}

api::Request preflight(std::string const& origin) {
  auto request = from(origin);
  request.method = api::Method::options;
  request.headers.emplace_back("Access-Control-Request-Method", "POST");
  return request;
}

std::string allowed_origin(api::Pairs const& headers) {
  for (auto const& [name, value] : headers) {
    if (name == "Access-Control-Allow-Origin") return value;
  }
  return "none";
}

Cors const kCors{{"https://app.example.com", "http://localhost:5173"}};

TEST(Cors, HTTP_8_OffUnlessConfigured) {
  Cors const off;

  EXPECT_TRUE(off.headers_for(from("https://app.example.com")).empty());
  EXPECT_EQ(off.answer_preflight(preflight("https://app.example.com"), "GET").status, 403);
}

TEST(Cors, HTTP_8_OriginsMatchExactly) {
  EXPECT_EQ(allowed_origin(kCors.headers_for(from("https://app.example.com"))), "https://app.example.com");
  for (char const* origin :
       {"", "null", "*", "https://evil.example", "http://app.example.com", "https://app.example.com:8443",
        "https://app.example.com.evil.example", "https://evilapp.example.com", "https://app.example.com/",
        "HTTPS://APP.EXAMPLE.COM", "https://app.example.comx", "https://a.app.example.com",
        "http://localhost:51733", "https://app.example.com, https://evil.example"}) {
    EXPECT_EQ(allowed_origin(kCors.headers_for(from(origin))), "none") << origin;
    if (*origin != '\0') {
      EXPECT_EQ(kCors.answer_preflight(preflight(origin), "GET").status, 403) << origin;
    }
  }
}

TEST(Cors, HTTP_8_CachesLearnThatAnswersDiffer) {
  EXPECT_EQ(kCors.headers_for(from("")), (api::Pairs{{"Vary", "Origin"}}));
}

TEST(Cors, HTTP_8_TwoOriginsAreNone) {
  auto request = preflight("https://app.example.com");
  request.headers.emplace_back("Origin", "https://app.example.com");

  EXPECT_EQ(allowed_origin(kCors.headers_for(request)), "none");
  EXPECT_EQ(kCors.answer_preflight(request, "GET").status, 403);
}

TEST(Cors, HTTP_8_PreflightTellsWhatTheAddressTakes) {
  auto const request = preflight("http://localhost:5173");
  ASSERT_TRUE(Cors::is_preflight(request));

  auto const answer = kCors.answer_preflight(request, "GET, HEAD");

  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.headers.front(),
            (std::pair<std::string, std::string>{"Access-Control-Allow-Methods", "GET, HEAD"}));
}

TEST(Cors, OtherOptionsRequestsAreNoPreflight) {
  auto request = from("https://app.example.com");
  request.method = api::Method::options;
  EXPECT_FALSE(Cors::is_preflight(request));
}

TEST(Cors, WhatNoBrowserSendsIsRefusedAtTheStart) {
  EXPECT_TRUE(Cors::check({"https://app.example.com", "http://localhost:5173", "http://127.0.0.1:80"}));
  for (char const* origin :
       {"*", "app.example.com", "https://", "https://a.example/", "https://a.example/x", "https://A.example",
        "https://u@a.example", "https://a.example?x", "null", "ftp://a.example", "file:///x"}) {
    EXPECT_FALSE(Cors::check({origin})) << origin;
  }
}

}  // namespace
}  // namespace runnel::http
