#include "runnel/core/text/base64url.h"

#include <gtest/gtest.h>

namespace runnel {
namespace {

TEST(Base64Url, RoundTrips) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(*base64url_decode(base64url_encode(bytes)), bytes);
    bytes += static_cast<char>(i);
  }
  EXPECT_EQ(base64url_encode("\xfb\xff"), "-_8");
}

TEST(Base64Url, OneTextAValue) {
  for (char const* text : {"A", "AA==", "AB", "AAB", "A A", "AA\n", "+/", "A.", "AAAAA"}) {
    EXPECT_FALSE(base64url_decode(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace runnel
