#include "runnel/http/auth/loopback.h"

#include <gtest/gtest.h>

namespace runnel::http {
namespace {

TEST(Loopback, HTTP_5_HostsOfThisMachine) {
  for (char const* host : {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:1", "127.255.0.9:65535",
                           "[::1]", "[::1]:8080", "runnel.localhost", "a.b.localhost:80"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
}

TEST(Loopback, HTTP_5_ForeignHosts) {
  for (char const* host : {"",
                           "example.com",
                           "localhost.example.com",
                           "notlocalhost",
                           "127.0.0.1.example.com",
                           "127.1",
                           "127.0.0.256",
                           "0x7f.0.0.1",
                           "128.0.0.1",
                           "0.0.0.0",
                           "[::]",
                           "[::1",
                           "::1",
                           "[::ffff:127.0.0.1]",
                           "localhost:",
                           "localhost:x",
                           "localhost:123456",
                           "localhost@evil",
                           "evil@localhost",
                           ".localhost",
                           "localhost.",
                           "a/.localhost",
                           "127.0.0.1:80:80",
                           "[::1]x",
                           "localhost:80/evil"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(Loopback, HTTP_5_Origins) {
  for (char const* origin : {"http://localhost:8080", "https://127.0.0.1", "http://[::1]:5173"}) {
    EXPECT_TRUE(is_loopback_origin(origin)) << origin;
  }
  for (char const* origin : {"", "null", "localhost", "http://", "http://evil.com",
                             "http://localhost.evil.com", "http://evil.com/localhost", "http://localhost/",
                             "file://localhost", "ftp://127.0.0.1", "http://localhost:80@evil.com"}) {
    EXPECT_FALSE(is_loopback_origin(origin)) << origin;
  }
}

}  // namespace
}  // namespace runnel::http
