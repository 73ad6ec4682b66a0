#include "runnel/core/json/members.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel {
namespace {

TEST(JsonMembers, AbsentOrOtherTypesAreEmpty) {
  auto const object = boost::json::parse(R"({"a":"x","n":3,"m":-3,"f":1.5,"l":[1],"o":{"b":"y"},"z":null})");
  auto const& all = object.as_object();

  EXPECT_EQ(text_at(all, "a"), "x");
  EXPECT_EQ(text_at(all, "n"), "");
  EXPECT_EQ(text_at(all, "absent"), "");
  EXPECT_EQ(count_at(all, "n"), 3U);
  EXPECT_EQ(count_at({{"u", std::size_t{4}}}, "u"), 4U);
  EXPECT_EQ(count_at(all, "m"), 0U);
  EXPECT_EQ(count_at(all, "f"), 0U);
  EXPECT_EQ(list_at(all, "l").size(), 1U);
  EXPECT_TRUE(list_at(all, "a").empty());
  EXPECT_EQ(text_at(as_object(all.at("o")), "b"), "y");
  EXPECT_EQ(text_at(object_at(all, "o"), "b"), "y");
  EXPECT_TRUE(object_at(all, "l").empty());
  EXPECT_TRUE(object_at(all, "absent").empty());
  EXPECT_TRUE(as_object(all.at("z")).empty());
}

}  // namespace
}  // namespace runnel
