#include "runnel/modules/batch.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel::modules {
namespace {

namespace json = boost::json;

ItemAnswer good(std::string const& id) {
  return ItemDone{R"({"id":")" + id + "\"}", {store::statement("DELETE FROM t WHERE id = $1", id)}};
}

ItemAnswer bad() {
  return MethodFailure{"NOT_FOUND", "there is \"none\""};
}

TEST(Batch, TOOL_12_BatchHasOneOutcomeForEachItem) {
  auto const result = std::get<MethodResult>(join_items({good("a"), good("b")}));

  EXPECT_EQ(result.data, R"({"items":[{"index":0,"id":"a"},{"index":1,"id":"b"}],"count":2,"failed":0})");
  EXPECT_FALSE(result.partial);
  EXPECT_EQ(result.effect.size(), 2U);
}

TEST(Batch, TOOL_12_BatchOfWhichSomeFailIsPartial) {
  auto const result = std::get<MethodResult>(join_items({bad(), good("b")}));

  EXPECT_EQ(
      result.data,
      R"({"items":[{"index":0,"outcome":"failed","error":{"code":"NOT_FOUND","message":"there is \"none\""}},)"
      R"({"index":1,"id":"b"}],"count":2,"failed":1})");
  EXPECT_TRUE(result.partial);
  EXPECT_EQ(result.effect.size(), 1U);
}

TEST(Batch, TOOL_12_BatchOfWhichAllFailIsAFailure) {
  auto const failure = std::get<MethodFailure>(join_items({bad(), bad()}));

  EXPECT_EQ(failure.code, "BATCH_FAILED");
  EXPECT_EQ(failure.message, "none of the 2 items could be done; each item's error says why");
  EXPECT_EQ(json::parse(failure.items).as_array().size(), 2U);
}

}  // namespace
}  // namespace runnel::modules
