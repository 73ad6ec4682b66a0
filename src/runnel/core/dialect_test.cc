#include "runnel/core/dialect.h"

#include <gtest/gtest.h>

namespace runnel {
namespace {

TEST(Dialect, IsV2WhereTheClientNamesNone) {
  EXPECT_EQ(parse_dialect("", ""), Dialect::v2);
  EXPECT_EQ(parse_dialect("v2", ""), Dialect::v2);
}

TEST(Dialect, AGUI_1_TellsTheTwoClientVersionsApart) {
  EXPECT_EQ(parse_dialect("ag-ui", "1.0"), Dialect::ag_ui_1_0);
  EXPECT_EQ(parse_dialect("ag-ui", "0.0"), Dialect::ag_ui_0_0);
}

TEST(Dialect, RefusesNamesAndVersionsItDoesNotKnow) {
  EXPECT_EQ(parse_dialect("V2", ""), std::nullopt);
  EXPECT_EQ(parse_dialect("ag-ui", ""), std::nullopt);
  EXPECT_EQ(parse_dialect("ag-ui", "2.0"), std::nullopt);
}

}  // namespace
}  // namespace runnel
