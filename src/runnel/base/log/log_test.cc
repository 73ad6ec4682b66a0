#include "runnel/base/log/log.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace runnel::base {
namespace {

constexpr char kJwt[] = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl";

class Log : public testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { (void)captured(); }
  std::string captured() {
    if (taken_) return {};
    taken_ = true;
    stop_logging();
    return testing::internal::GetCapturedStderr();
  }

 private:
  bool taken_ = false;
};

TEST_F(Log, OneEventIsOneLineWhateverItsValuesHold) {
  start_logging({LogLevel::info, LogFormat::human});

  log(LogLevel::info, "request", {{"path", "/a\nlevel=error\r\x1b[31m"}, {"status", std::int64_t{200}}});

  auto const text = captured();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find(" info  request path=\"/a\\nlevel=error"), std::string::npos) << text;
  EXPECT_NE(text.find(" status=200\n"), std::string::npos) << text;
}

TEST_F(Log, CFG_4_ControlAndDirectionCharactersAreEscapedInBothForms) {
  std::string const value =
      "a\x7f\xC2\x9B"
      "31mb\xE2\x80\xAE"
      "c\xE2\x81\xA6"
      "d\xE2\x80\xA8\xC2\xA0\xE2\x82\xAC";
  start_logging({LogLevel::info, LogFormat::human});
  log(LogLevel::info, "e", {{"path", value}});
  start_logging({LogLevel::info, LogFormat::json});
  log(LogLevel::info, "e", {{"path", value}});

  auto const text = captured();
  std::string const escaped = "\"a\\u007f\\u009b31mb\\u202ec\\u2066d\\u2028\xC2\xA0\xE2\x82\xAC\"";
  EXPECT_NE(text.find(" path=" + escaped + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\"path\":" + escaped + "}"), std::string::npos) << text;
}

TEST_F(Log, TextForTheOperatorStaysInOrderWithTheLines) {
  start_logging({LogLevel::info, LogFormat::human});

  log(LogLevel::info, "first");
  log_text("runnel: what is wrong\n");
  log(LogLevel::info, "last");

  auto const text = captured();
  EXPECT_LT(text.find("first"), text.find("\nrunnel: what is wrong\n"));
  EXPECT_LT(text.find("what is wrong"), text.find("last"));
}

TEST_F(Log, JsonLineParsesAndKeepsTheValues) {
  start_logging({LogLevel::debug, LogFormat::json});

  log(LogLevel::debug, "request", {{"path", "/q\"uote"}, {"user", "demo"}});

  auto const line = boost::json::parse(captured()).as_object();
  EXPECT_EQ(line.at("level"), "debug");
  EXPECT_EQ(line.at("event"), "request");
  EXPECT_EQ(line.at("path"), "/q\"uote");
  EXPECT_EQ(line.at("user"), "demo");
  EXPECT_EQ(line.at("time").as_string().size(), std::string_view{"2026-01-02T03:04:05.678Z"}.size());
}

TEST_F(Log, LinesBelowTheLevelAreNotWritten) {
  start_logging({LogLevel::warn, LogFormat::human});

  log(LogLevel::info, "unimportant");

  EXPECT_EQ(captured(), "");
}

TEST_F(Log, BeforeTheStartOnlyWarningsAreWritten) {
  log(LogLevel::info, "unimportant");
  log(LogLevel::warn, "important");

  auto const text = captured();
  EXPECT_EQ(text.find("unimportant"), std::string::npos);
  EXPECT_NE(text.find("important"), std::string::npos);
}

TEST_F(Log, LinesOfSeveralThreadsStayWhole) {
  start_logging({LogLevel::info, LogFormat::human});
  std::string const value(200, 'x');
  std::vector<std::thread> threads;

  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&value] {
      for (int n = 0; n < 50; ++n)
        log(LogLevel::info, "e", {{"v", value}});
    });
  }
  for (auto& thread : threads)
    thread.join();

  auto const text = captured();
  std::size_t whole = 0;
  for (std::size_t at = text.find(value + "\n"); at != std::string::npos;
       at = text.find(value + "\n", at + 1))
    ++whole;
  EXPECT_EQ(whole, 200u);
}

TEST_F(Log, FieldsWithoutAValueAreLeftOut) {
  start_logging({LogLevel::info, LogFormat::human});
  log(LogLevel::info, "e", {{"user", ""}, {"run_id", "r1"}});
  start_logging({LogLevel::info, LogFormat::json});
  log(LogLevel::info, "e", {{"user", ""}, {"run_id", "r1"}});

  auto const text = captured();
  EXPECT_EQ(text.find("user"), std::string::npos);
  EXPECT_NE(text.find("e run_id=r1\n"), std::string::npos);
  EXPECT_NE(text.find("\"run_id\":\"r1\"}"), std::string::npos);
}

TEST_F(Log, SecretsDoNotReachALine) {
  start_logging({LogLevel::info, LogFormat::human});

  log(LogLevel::info, "e", {{"api_key", "sk-1"}, {"detail", std::string{"sent Bearer "} + kJwt}});

  auto const text = captured();
  EXPECT_EQ(text.find("sk-1"), std::string::npos);
  EXPECT_EQ(text.find("eyJ"), std::string::npos);
}

TEST(Redact, ValueWhoseKeyNamesASecretIsReplaced) {
  for (char const* key : {"token", "api_key", "apiKey", "X-Api-Key", "client_secret", "Password",
                          "authorization", "wsTicket", "authToken", "APIKEY"}) {
    EXPECT_EQ(redact(key, "value"), "[redacted]") << key;
  }
}

TEST(Redact, KeysThatOnlyResembleSecretsAreKept) {
  for (char const* key : {"input_tokens", "keyboard", "tickets", "path", "monkey", ""}) {
    EXPECT_EQ(redact(key, "value"), "value") << key;
  }
}

TEST(Redact, TokensInsideOtherValuesAreReplaced) {
  EXPECT_EQ(redact("detail", std::string{"got "} + kJwt + " here"), "got [redacted] here");
  EXPECT_EQ(redact("detail", "Authorization: bearer  abcdefgh12345 end"),
            "Authorization: bearer  [redacted] end");
  EXPECT_EQ(redact("detail", std::string{"("} + kJwt + ")"), "([redacted])");
}

TEST(Redact, HTTP_4_TicketsInsideOtherValuesAreReplaced) {
  EXPECT_EQ(redact("path", "/events?ticket=tkt_Ab-9_xyzAb-9_xyz&runId=r1"),
            "/events?ticket=[redacted]&runId=r1");
  EXPECT_EQ(redact("path", "/events/tkt_Ab-9_xyzAb-9_xyz"), "/events/[redacted]");
}

TEST(Redact, TOOL_12_AddressesOfFeedsAreReplaced) {
  EXPECT_EQ(redact("path", "/api/v1/calendar/feeds/cal_Ab-9_xyzAb-9_xyz.ics"),
            "/api/v1/calendar/feeds/[redacted].ics");
  EXPECT_EQ(redact("path", "/xcal_" + std::string(43, 'a')), "/x[redacted]");
}

TEST(Redact, HTTP_5_DevSecretsInsideOtherValuesAreReplaced) {
  EXPECT_EQ(redact("detail", "http://127.0.0.1:8080/#dev=dev_Ab-9_xyzAb-9_xyz"),
            "http://127.0.0.1:8080/#dev=[redacted]");
}

TEST(Redact, HTTP_5_WholeSecretsBehindOtherLettersAreReplaced) {
  std::string const ticket(43, 'a');
  std::string const dev_secret(22, 'a');

  EXPECT_EQ(redact("path", "/xdev_" + dev_secret), "/x[redacted]");
  EXPECT_EQ(redact("path", "/runs9tkt_" + ticket + "/events"), "/runs9[redacted]/events");
  EXPECT_EQ(redact("path", std::string{"/x"} + kJwt), "/x[redacted]");
  EXPECT_EQ(redact("path", "/xdev_" + dev_secret.substr(1)), "/xdev_" + dev_secret.substr(1));
  EXPECT_EQ(redact("path", "/xtkt_" + ticket.substr(1)), "/xtkt_" + ticket.substr(1));
}

TEST(Redact, PlainTextIsKept) {
  for (char const* value : {"bearer of news", "tkt_short", "atkt_0123456789", "eyJonly.two", "the bearer", "",
                            "Bearer", "keyJson.first.name", "keyJ.eyJ"}) {
    EXPECT_EQ(redact("detail", value), value);
  }
}

}  // namespace
TEST(Redact, JwtIsFoundBehindWhatOnlyBeginsLikeOne) {
  EXPECT_EQ(redact("path", "/eyJ-eyJ-x/eyJh.eyJz.sig"), "/eyJ-eyJ-x/[redacted]");
  EXPECT_EQ(redact("path", "/eyJa.b/eyJh.eyJz.sig"), "/eyJa.b/[redacted]");
  EXPECT_EQ(redact("path", "xeyJ-eyJh.claims.sig"), "xeyJ-[redacted]");
}

}  // namespace runnel::base
