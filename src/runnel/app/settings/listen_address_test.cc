#include "runnel/app/settings/listen_address.h"

#include <gtest/gtest.h>

namespace runnel::app {
namespace {

TEST(ListenAddress, ReadsHostAndPort) {
  EXPECT_EQ(parse_listen("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(parse_listen("[::1]:1")->host, "::1");
  EXPECT_EQ(to_url(*parse_listen("[::1]:1")), "http://[::1]:1");
  EXPECT_EQ(to_url(*parse_listen("localhost:0")), "http://localhost:0");
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (auto const* text :
       {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "host.example:80", ":80", "1.2.3:4x"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

TEST(ListenAddress, CFG_1_SaysWhichPortsThereAre) {
  for (auto const* port : {"65536", "99999", "18446744073709551617"}) {
    auto const text = std::string{"127.0.0.1:"} + port;
    EXPECT_EQ(parse_listen(text).error().detail,
              "listen address '" + text + "': port " + port + " is not between 0 and 65535");
  }
  EXPECT_EQ(parse_listen("127.0.0.1:-1").error().detail,
            "listen address '127.0.0.1:-1' must be HOST:PORT, e.g. 127.0.0.1:8080");
}

TEST(ListenAddress, HTTP_5_KnowsLoopback) {
  EXPECT_TRUE(is_loopback(*parse_listen("127.8.8.8:1")));
  EXPECT_TRUE(is_loopback(*parse_listen("[::1]:1")));
  EXPECT_TRUE(is_loopback(*parse_listen("localhost:1")));
  EXPECT_FALSE(is_loopback(*parse_listen("0.0.0.0:1")));
  EXPECT_FALSE(is_loopback(*parse_listen("[::]:1")));
}

}  // namespace
}  // namespace runnel::app
