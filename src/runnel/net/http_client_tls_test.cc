#include <atomic>
#include <cstdlib>

#include "runnel/net/testing/certificate.h"
#include "runnel/net/testing/http_client_case.h"

namespace runnel::net {
namespace {

TEST_F(HttpClientTest, CertificateOfNobodyKnownIsRefused) {
  TestCertificate const certificate;
  std::atomic<int> requests{0};
  TestUpstream upstream{[&](Visit& visit) {
                          if (!visit.read_request().empty()) ++requests;
                        },
                        certificate.server()};

  auto const answer = ask(upstream.url());

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::untrusted) << answer.error->detail;
  EXPECT_EQ(requests, 0);
}

TEST_F(HttpClientTest, CertificateOfTheFileIsAccepted) {
  TestCertificate const certificate;
  make_client({.max_idle_connections = 64, .ca_file = certificate.file()});
  TestUpstream upstream{[](Visit& visit) {
                          while (!visit.read_request().empty())
                            visit.answer(std::string(100'000, 'x'));
                        },
                        certificate.server()};

  auto const first = ask(upstream.url());
  auto const second = ask(upstream.url());

  ASSERT_FALSE(first.error) << first.error->detail;
  ASSERT_FALSE(second.error) << second.error->detail;
  EXPECT_EQ(second.body.size(), 100'000U);
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST_F(HttpClientTest, CertificateForAnotherNameIsRefused) {
  TestCertificate const certificate;
  make_client({.max_idle_connections = 64, .ca_file = certificate.file()});
  TestUpstream upstream{[](Visit& visit) { visit.read_request(); }, certificate.server()};

  auto const answer = ask("https://localhost:" + std::to_string(upstream.port()) + "/");

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::untrusted) << answer.error->detail;
}

TEST_F(HttpClientTest, ServerWithoutTlsIsNotReached) {
  TestUpstream upstream{[](Visit& visit) {
    visit.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    visit.wait_for_close();
  }};

  auto const answer = ask("https://127.0.0.1:" + std::to_string(upstream.port()) + "/");

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::unreachable) << answer.error->detail;
}

TEST_F(HttpClientTest, ProxyIsTheEnvironments) {
  std::string request;
  TestUpstream proxy{[&](Visit& visit) {
    request = visit.read_request();
    visit.answer("by proxy");
  }};
  ::setenv("http_proxy", proxy.url().c_str(), 1);

  auto const answer = ask("http://upstream.invalid/v1");
  ::unsetenv("http_proxy");

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.body, "by proxy");
  EXPECT_TRUE(request.starts_with("POST http://upstream.invalid/v1 HTTP/1.1\r\n")) << request;
}

}  // namespace
}  // namespace runnel::net
