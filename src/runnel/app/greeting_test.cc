#include "runnel/app/greeting.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace runnel::app {
namespace {

Greeting in_dev_mode() {
  Greeting greeting;
  greeting.address = {"127.0.0.1", 8080};
  greeting.data_dir = "/tmp/it's here";
  greeting.report = "version   runnel\n";
  greeting.dev_secret = "dev_0123456789abcdefghijkA";
  return greeting;
}

TEST(Greeting, HTTP_5_TheConsolesAddressHasTheSecretOfDevMode) {
  auto const text = to_text(in_dev_mode());

  EXPECT_TRUE(text.starts_with("listening on http://127.0.0.1:8080\n"));
  EXPECT_NE(text.find("\n  http://127.0.0.1:8080/#dev=dev_0123456789abcdefghijkA\n"), std::string::npos);
  EXPECT_NE(text.find(" token --user demo --data-dir '/tmp/it'\\''s here')"), std::string::npos) << text;
}

TEST(Greeting, SaysWhichProcessToKill) {
  EXPECT_TRUE(to_text(in_dev_mode()).ends_with("crash: kill -9 " + std::to_string(::getpid()) + "\n"));
}

TEST(Greeting, WithKeysItHasNoSecretAndNoHints) {
  auto greeting = in_dev_mode();
  greeting.dev_secret.clear();

  EXPECT_EQ(to_text(greeting), "listening on http://127.0.0.1:8080\n\nversion   runnel\n");
}

}  // namespace
}  // namespace runnel::app
