#include "runnel/http/auth/dev_secret.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "runnel/base/testing/test_keys.h"

namespace runnel::http {
namespace {

namespace fs = std::filesystem;

TEST(DevSecret, HTTP_5_IsMadeOnceForTheOwnerOnlyAndOutlivesARestart) {
  base::KeyFolder const folder;

  auto const first = open_dev_secret(folder.path());
  auto const second = open_dev_secret(folder.path());

  ASSERT_TRUE(first) << first.error().detail;
  EXPECT_EQ(first.value(), second.value());
  EXPECT_TRUE(first->starts_with("dev_"));
  EXPECT_EQ(first->size(), 4u + 22u);
  EXPECT_EQ(fs::status(folder.path() / "dev.secret").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(DevSecret, HTTP_5_ProcessesThatStartAtOnceGetOne) {
  base::KeyFolder const folder;
  std::vector<std::string> secrets(8);
  std::vector<std::thread> threads;

  for (auto& secret : secrets)
    threads.emplace_back([&] { secret = open_dev_secret(folder.path()).value(); });
  for (auto& thread : threads)
    thread.join();

  EXPECT_EQ(std::set<std::string>(secrets.begin(), secrets.end()).size(), 1u);
}

TEST(DevSecret, HTTP_5_AFileThatOthersReadOrThatHoldsNoSecretIsRefused) {
  base::KeyFolder folder;
  auto const good = open_dev_secret(folder.path()).value();

  folder.write("dev.secret", good, 0640);
  EXPECT_FALSE(open_dev_secret(folder.path()));
  for (auto const& text : {std::string{}, std::string{"dev_"}, good.substr(1), good + "A", "dev_" + good}) {
    folder.write("dev.secret", text, 0600);
    auto const opened = open_dev_secret(folder.path());
    ASSERT_FALSE(opened) << text;
    EXPECT_NE(opened.error().detail.find("remove it to get a new one"), std::string::npos);
  }
}

TEST(DevSecret, OnlyTheWholeSecretIsTheSame) {
  EXPECT_TRUE(is_same_secret("dev_a", "dev_a"));
  for (char const* sent : {"", "dev_", "dev_b", "dev_aa", "DEV_A"})
    EXPECT_FALSE(is_same_secret(sent, "dev_a")) << sent;
  EXPECT_FALSE(is_same_secret("", ""));
}

}  // namespace
}  // namespace runnel::http
