#include "runnel/base/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace runnel::base {
namespace {

TEST(NearestName, CFG_1_AMistypedNameIsFound) {
  std::vector<std::string> const known{"--listen", "--data-dir", "--config", "--store"};

  EXPECT_EQ(nearest_name("--lisen", known), "--listen");
  EXPECT_EQ(nearest_name("--lsiten", known), "--listen");
  EXPECT_EQ(nearest_name("--data_dir", known), "--data-dir");
  EXPECT_EQ(nearest_name("--confg", known), "--config");
  EXPECT_EQ(did_you_mean("--lisen", known), "; did you mean --listen?");
}

TEST(NearestName, WhatIsNotNearIsNotGuessed) {
  std::vector<std::string> const known{"listen", "cores", "log"};

  EXPECT_EQ(nearest_name("database", known), std::nullopt);
  EXPECT_EQ(nearest_name("", known), std::nullopt);
  EXPECT_EQ(nearest_name("a", known), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100'000, 'l'), known), std::nullopt);
  EXPECT_EQ(did_you_mean("database", known), "");
}

}  // namespace
}  // namespace runnel::base
