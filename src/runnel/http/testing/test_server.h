#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/http/connection/server.h"
#include "runnel/http/testing/test_authenticator.h"
#include "runnel/http/testing/test_client.h"

namespace runnel::http {

// A server on two cores and a free port, with short ticks. Tests add routes and limits and then start it.
class TestServer : public testing::Test {
 protected:
  TestServer() { limits.tick = std::chrono::milliseconds{5}; }

  void SetUp() override { cores.start(); }
  void TearDown() override {
    if (server) {
      EXPECT_EQ(server->undeclared_answers(), 0U);
    }
    server.reset();
    cores.stop();
  }

  void start() {
    options.limits = limits;
    server = std::make_unique<Server>(cores, std::move(router), authenticator, options);
    auto const listening = server->listen();
    ASSERT_TRUE(listening.has_value()) << listening.error().detail;
    port = *listening;
  }

  static std::string get(std::string const& target, std::string const& more = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
  }
  static std::string post(std::string const& target, std::string const& body, std::string const& more = "") {
    return "POST " + target +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more +
           "\r\n" + body;
  }

  base::Metrics metrics;  // Used if `options` refer to it.
  base::Cores cores{2};
  base::SystemClock clock;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(test_authenticator(clock));
  api::Router router;
  Limits limits;
  ServerOptions options;
  std::unique_ptr<Server> server;
  std::uint16_t port = 0;
};

}  // namespace runnel::http
