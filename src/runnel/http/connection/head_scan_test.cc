#include "runnel/http/connection/head_scan.h"

#include <gtest/gtest.h>

#include <string>

namespace runnel::http {
namespace {

using State = HeadScan::State;
using namespace std::string_literals;

State scan(std::string const& bytes) {
  return HeadScan{}.advance(bytes);
}

TEST(HeadScan, HTTP_6_HeadIsWholeAtItsEmptyLineAndNotBefore) {
  std::string const head =
      "POST /a?b=c HTTP/1.1\r\nHost: localhost:1\r\nX-Empty:\r\nX-Text: \ta \"b\", \xc3\xa9\r\n\r\n";

  for (std::size_t size = 0; size < head.size(); ++size)
    EXPECT_EQ(scan(head.substr(0, size)), State::incomplete) << size;
  EXPECT_EQ(scan(head), State::whole);
  EXPECT_EQ(scan(head + "body\0\n"s), State::whole);
}

TEST(HeadScan, HTTP_6_ArrivalByteByByteChangesNothing) {
  std::string const head = "GET / HTTP/1.0\r\nA: b\r\n\r\n";
  HeadScan scan;

  for (std::size_t size = 1; size < head.size(); ++size)
    ASSERT_EQ(scan.advance(std::string_view{head}.substr(0, size)), State::incomplete) << size;

  EXPECT_EQ(scan.advance(head), State::whole);
  EXPECT_EQ(scan.state(), State::whole);
}

TEST(HeadScan, HTTP_6_MalformedIsKnownAtTheFirstWrongByte) {
  for (auto const& bytes : {
           "\n"s,
           "\r\n"s,
           "GET / HTTP/1.1\n"s,
           "GET / HTTP/1.1\r\nHost: a\n"s,
           "GET / HTTP/1.1\r\nHost: a\rb"s,
           "GET / HTTP/1.1\r\r"s,
           "GET / HTTP/1.1\r\nX: a\0"s,
           "GET / HTTP/1.1\r\nX: a\x0b"s,
           "GET / HTTP/1.1\r\nX: a\x7f"s,
           "GET /\0"s,
           "\x16"s,                                       // A TLS client.
           "GET /\r\n"s,                                  // HTTP/0.9.
           "GET\r\n"s,                                    //
           "GET  / HTTP/1.1\r\n"s,                        //
           "GET /  HTTP/1.1\r\n"s,                        //
           "GET / HTTP/1.1 \r\n"s,                        //
           "GET /a b HTTP/1.1\r\n"s,                      //
           "GET\t/ HTTP/1.1\r\n"s,                        //
           "GET /\xc3\xa9 HTTP/1.1\r\n"s,                 //
           " GET / HTTP/1.1\r\n"s,                        //
           "G(T / HTTP/1.1\r\n"s,                         //
           "GET / http/1.1\r\n"s,                         //
           "GET / HTTP/1\r\n"s,                           //
           "GET / HTTP/1.11\r\n"s,                        //
           "GET / HTTP/x.1\r\n"s,                         //
           "GET / HTTP/1.1\r\n Host: a\r\n"s,             //
           "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n"s,   //
           "GET / HTTP/1.1\r\nHost: a\r\n\tfolded\r\n"s,  //
           "GET / HTTP/1.1\r\nHost : a\r\n"s,             //
           "GET / HTTP/1.1\r\nHost\t: a\r\n"s,            //
           "GET / HTTP/1.1\r\n: a\r\n"s,                  //
           "GET / HTTP/1.1\r\nHost\r\n"s,                 //
           "GET / HTTP/1.1\r\nX\xc3\xa9: a\r\n"s,         //
       }) {
    EXPECT_EQ(scan(bytes), State::malformed) << testing::PrintToString(bytes);
    EXPECT_NE(scan(bytes.substr(0, bytes.size() - 1)), State::malformed) << testing::PrintToString(bytes);
  }
}

TEST(HeadScan, HTTP_6_OtherVersionsAreNamed) {
  EXPECT_EQ(scan("PRI * HTTP/2.0\r\n"), State::unsupported_version);
  EXPECT_EQ(scan("GET / HTTP/1.2\r\n"), State::unsupported_version);
  EXPECT_EQ(scan("GET / HTTP/0.9\r\n"), State::unsupported_version);
}

TEST(HeadScan, WhatComesLaterDoesNotChangeAVerdict) {
  HeadScan scan;
  EXPECT_EQ(scan.advance("GET / HTTP/1.1\n"), State::malformed);
  EXPECT_EQ(scan.advance("GET / HTTP/1.1\nHost: a\r\n\r\n"), State::malformed);
}

}  // namespace
}  // namespace runnel::http
