#include "runnel/http/web_socket/handshake.h"

#include <gtest/gtest.h>

#include <string>

namespace runnel::http {
namespace {

api::Request upgrade() {
  api::Request request;
  request.method = api::Method::get;
  request.host = "chat.example.com:8080";
  request.headers = {{"Host", request.host},
                     {"Upgrade", "websocket"},
                     {"Connection", "Upgrade"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  return request;
}

api::Request with(std::string const& name, std::string const& value) {
  auto request = upgrade();
  std::erase_if(request.headers, [&](auto const& header) { return header.first == name; });
  if (!value.empty()) request.headers.emplace_back(name, value);
  return request;
}

int status_of_handshake(api::Request const& request, Cors const& cors = {}) {
  auto const refusal = refuse_handshake(request, cors);
  return refusal ? refusal->status : 101;
}

// The example of RFC 6455 1.3.
TEST(Handshake, TASK_5_KeyIsAnsweredAsTheStandardSays) {
  EXPECT_EQ(accept_value("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(Handshake, TASK_5_HeadersAreListsOfWords) {
  EXPECT_EQ(status_of_handshake(upgrade()), 101);
  EXPECT_EQ(status_of_handshake(with("Connection", "keep-alive, \tupgrade ")), 101);
  EXPECT_EQ(status_of_handshake(with("Upgrade", "h2c, WebSocket")), 101);
  auto two_lines = with("Connection", "keep-alive");
  two_lines.headers.emplace_back("Connection", "Upgrade");
  EXPECT_EQ(status_of_handshake(two_lines), 101);
}

TEST(Handshake, TASK_5_RequestThatAsksForNoWebSocketIsToldToUpgrade) {
  for (auto const& request : {with("Upgrade", ""), with("Upgrade", "h2c"), with("Upgrade", "websocket2"),
                              with("Connection", ""), with("Connection", "keep-alive"),
                              with("Sec-WebSocket-Version", ""), with("Sec-WebSocket-Version", "8")}) {
    EXPECT_EQ(status_of_handshake(request), 426);
  }
  auto post = upgrade();
  post.method = api::Method::post;
  EXPECT_EQ(status_of_handshake(post), 426);
}

TEST(Handshake, TASK_5_KeyMustBeSixteenBytes) {
  for (auto const* key :
       {"", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ==x",
        "dGhlIHNhbXBsZSBub25*ZQ==", "dGhlIHNhbXBsZSBub25jZWFh"})
    EXPECT_EQ(status_of_handshake(with("Sec-WebSocket-Key", key)), 400) << key;
  auto two = upgrade();
  two.headers.emplace_back("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_EQ(status_of_handshake(two), 400);
}

TEST(Handshake, HTTP_8_OnlyPagesOfThisServerAndAllowedOnesMayOpenOne) {
  EXPECT_EQ(status_of_handshake(with("Origin", "http://chat.example.com:8080")), 101);
  EXPECT_EQ(status_of_handshake(with("Origin", "https://chat.example.com:8080")), 101);
  for (auto const* origin : {"http://evil.example.com", "null", "http://chat.example.com",
                             "http://chat.example.com:8080.evil.com", "http://app.example.com"})
    EXPECT_EQ(status_of_handshake(with("Origin", origin)), 403) << origin;
  Cors const cors{{"http://app.example.com"}};
  EXPECT_EQ(status_of_handshake(with("Origin", "http://app.example.com"), cors), 101);
  auto two = with("Origin", "http://app.example.com");
  two.headers.emplace_back("Origin", "http://evil.example.com");
  EXPECT_EQ(status_of_handshake(two, cors), 403);
}

}  // namespace
}  // namespace runnel::http
