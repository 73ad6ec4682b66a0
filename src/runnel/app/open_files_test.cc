#include "runnel/app/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace runnel::app {
namespace {

TEST(OpenFiles, HTTP_6_CapComesFromTheLimitAndLeavesAReserve) {
  EXPECT_EQ(connection_cap(0, 20'000), 19'744u);
  EXPECT_EQ(connection_cap(0, 300), 150u);
  EXPECT_EQ(connection_cap(100, 20'000), 100u);
  EXPECT_EQ(connection_cap(50'000, 20'000), 19'744u);
}

TEST(OpenFiles, SoftLimitIsRaisedToTheHardOne) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit const low{before.rlim_max / 2, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);

  auto const limit = raise_open_files_limit();

  rlimit after{};
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_GE(before.rlim_max, limit);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace runnel::app
