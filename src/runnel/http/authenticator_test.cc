#include "runnel/http/authenticator.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace runnel::http {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class ChosenClock final : public base::Clock {
 public:
  [[nodiscard]] std::int64_t now_us() const override { return us; }
  std::int64_t us = 1'800'000'000'000'000;
};

class AuthenticatorTest : public testing::Test {
 protected:
  void SetUp() override {
    dir = fs::temp_directory_path() / ("runnel-auth-" + mint_uuid());
    fs::create_directory(dir);
  }
  void TearDown() override { fs::remove_all(dir); }

  static Request with(std::string value) {
    Request request;
    request.headers.emplace_back("authorization", std::move(value));
    return request;
  }
  void write_key(std::size_t bytes, fs::perms mode) {
    std::ofstream{dir / "auth.key"} << std::string(bytes, 'k');
    fs::permissions(dir / "auth.key", mode);
  }

  ChosenClock clock;
  fs::path dir;
};

constexpr auto kOwnerOnly = fs::perms::owner_read | fs::perms::owner_write;

TEST_F(AuthenticatorTest, HTTP_3_IssuedTokenNamesItsUserUntilItExpires) {
  Authenticator const authenticator{std::string(32, 'k'), clock};
  auto const request = with("Bearer " + authenticator.issue_token(UserId{"demo"}, 60s));

  EXPECT_EQ(authenticator.authenticate(request).value().text, "demo");
  clock.us += 60'000'000;

  EXPECT_FALSE(authenticator.authenticate(request).has_value());
}

TEST_F(AuthenticatorTest, HTTP_3_OtherHeadersAreRefused) {
  Authenticator const authenticator{std::string(32, 'k'), clock};
  auto const token = authenticator.issue_token(UserId{"demo"}, 60s);

  EXPECT_TRUE(authenticator.authenticate(with("bearer " + token)).has_value());
  EXPECT_FALSE(authenticator.authenticate(Request{}).has_value());
  EXPECT_FALSE(authenticator.authenticate(with(token)).has_value());
  EXPECT_FALSE(authenticator.authenticate(with("Basic " + token)).has_value());
  EXPECT_FALSE(authenticator.authenticate(with("Bearer  " + token)).has_value());
  auto twice = with("Bearer " + token);
  twice.headers.emplace_back("Authorization", "Bearer " + token);
  EXPECT_FALSE(authenticator.authenticate(twice).has_value());
}

TEST_F(AuthenticatorTest, HTTP_4_TokenInTheUrlIsNotLookedAt) {
  Authenticator const authenticator{std::string(32, 'k'), clock};
  auto const token = authenticator.issue_token(UserId{"demo"}, 60s);
  Request request;
  request.query_items = {{"access_token", token}, {"authorization", "Bearer " + token}, {"token", token}};

  EXPECT_FALSE(authenticator.authenticate(request).has_value());
}

TEST_F(AuthenticatorTest, KeyIsMadeOnceAndKeptForTheOwnerOnly) {
  auto const first = Authenticator::open(dir, clock);
  ASSERT_TRUE(first.has_value()) << first.error().detail;
  auto const second = Authenticator::open(dir, clock);
  ASSERT_TRUE(second.has_value()) << second.error().detail;

  EXPECT_TRUE(second->authenticate(with("Bearer " + first->issue_token(UserId{"demo"}, 60s))).has_value());
  EXPECT_EQ(fs::status(dir / "auth.key").permissions(), kOwnerOnly);
  EXPECT_EQ(fs::file_size(dir / "auth.key"), 32u);
  EXPECT_EQ(std::distance(fs::directory_iterator{dir}, {}), 1);
}

TEST_F(AuthenticatorTest, ProcessesThatStartAtOnceGetOneKey) {
  std::vector<std::string> tokens(8);
  std::vector<std::thread> threads;

  for (auto& token : tokens) {
    threads.emplace_back(
        [this, &token] { token = Authenticator::open(dir, clock)->issue_token(UserId{"demo"}, 60s); });
  }
  for (auto& thread : threads)
    thread.join();

  EXPECT_EQ(std::set<std::string>(tokens.begin(), tokens.end()).size(), 1u);
}

TEST_F(AuthenticatorTest, KeyThatOthersCanReadIsRefused) {
  write_key(32, kOwnerOnly | fs::perms::group_read);
  EXPECT_EQ(Authenticator::open(dir, clock).error().code, Errc::invalid);

  write_key(32, kOwnerOnly | fs::perms::others_read);
  EXPECT_EQ(Authenticator::open(dir, clock).error().code, Errc::invalid);

  write_key(32, kOwnerOnly);
  EXPECT_TRUE(Authenticator::open(dir, clock).has_value());
}

TEST_F(AuthenticatorTest, DamagedKeyIsRefused) {
  for (std::size_t const size : {0u, 31u, 33u}) {
    write_key(size, kOwnerOnly);
    EXPECT_EQ(Authenticator::open(dir, clock).error().code, Errc::invalid) << size;
  }
}

TEST_F(AuthenticatorTest, LinkOrFolderInPlaceOfTheKeyIsRefused) {
  std::ofstream{dir / "elsewhere"} << std::string(32, 'k');
  fs::permissions(dir / "elsewhere", kOwnerOnly);
  fs::create_symlink(dir / "elsewhere", dir / "auth.key");
  EXPECT_FALSE(Authenticator::open(dir, clock).has_value());

  fs::remove(dir / "auth.key");
  fs::create_directory(dir / "auth.key");
  EXPECT_FALSE(Authenticator::open(dir, clock).has_value());
}

TEST_F(AuthenticatorTest, MissingFolderIsAnError) {
  EXPECT_EQ(Authenticator::open(dir / "none", clock).error().code, Errc::unavailable);
}

}  // namespace
}  // namespace runnel::http
