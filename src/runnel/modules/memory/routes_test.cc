#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/modules/memory/module.h"
#include "runnel/modules/testing/module_under_test.h"

namespace runnel::modules::memory {
namespace {

namespace json = boost::json;

constexpr char kUserPath[] = "/api/v1/memory/user";
constexpr char kWorkPath[] = "/api/v1/memory/work_profile";

class MemoryRoute : public testing::Test {
 protected:
  api::Response ask(api::Method method, std::string const& path, std::string body = {},
                    std::string user = "ann") {
    return under_test.ask(method, path, std::move(body), std::move(user));
  }
  // The content that an answer shows.
  static std::string content(api::Response const& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    return json::serialize(json::parse(response.body).at("content"));
  }
  // The violations of a refused body, each as "PATH: problem".
  static std::vector<std::string> refused(api::Response const& response) {
    EXPECT_EQ(response.status, 400) << response.body;
    auto const error = json::parse(response.body).at("error");
    EXPECT_EQ(error.at("code"), "INVALID_REQUEST");
    std::vector<std::string> out;
    for (auto const& violation : error.at("details").at("violations").as_array())
      out.push_back(std::string{violation.at("path").as_string()} + ": " +
                    std::string{violation.at("problem").as_string()});
    return out;
  }

  ModuleUnderTest under_test{define()};
};

using Faults = std::vector<std::string>;

TEST_F(MemoryRoute, TOOL_12_NothingNotedIsAnEmptyContent) {
  EXPECT_EQ(ask(api::Method::get, kUserPath).body, R"({"kind":"user","content":{},"updated_at":null})");
  EXPECT_EQ(ask(api::Method::get, kWorkPath).body,
            R"({"kind":"work_profile","content":{},"updated_at":null})");
}

TEST_F(MemoryRoute, TOOL_12_PutReplacesAndPatchMerges) {
  under_test.clock().now = 1'777'000'000'000;
  auto const put = ask(api::Method::put, kUserPath, R"({"likes":["tea"],"about":" x "})");
  EXPECT_EQ(
      put.body,
      R"({"kind":"user","content":{"likes":["tea"],"about":"x"},"updated_at":"2026-04-24T03:06:40.000Z"})");
  EXPECT_EQ(ask(api::Method::get, kUserPath).body, put.body);

  EXPECT_EQ(content(ask(api::Method::patch, kUserPath, R"({"likes":["TEA","go"],"about":""})")),
            R"({"likes":["tea","go"]})");
  EXPECT_EQ(content(ask(api::Method::put, kUserPath, R"({"about":"y"})")), R"({"about":"y"})");
  EXPECT_EQ(content(ask(api::Method::get, kUserPath)), R"({"about":"y"})");
  EXPECT_EQ(content(ask(api::Method::get, kWorkPath)), "{}");
  EXPECT_EQ(ask(api::Method::put, kUserPath, "{}").body, R"({"kind":"user","content":{},"updated_at":null})");
}

TEST_F(MemoryRoute, TOOL_12_WhatChangesNothingKeepsItsTime) {
  auto const put = ask(api::Method::put, kUserPath, R"({"likes":["tea"]})");
  under_test.clock().now += 1000;

  EXPECT_EQ(ask(api::Method::patch, kUserPath, R"({"likes":["Tea"]})").body, put.body);
  EXPECT_EQ(ask(api::Method::put, kUserPath, R"({"likes":["tea"]})").body, put.body);
}

TEST_F(MemoryRoute, TOOL_12_DeleteForgets) {
  ask(api::Method::put, kUserPath, R"({"about":"x"})");

  EXPECT_EQ(ask(api::Method::del, kUserPath).status, 204);
  EXPECT_EQ(ask(api::Method::del, kUserPath).status, 204);
  EXPECT_EQ(content(ask(api::Method::get, kUserPath)), "{}");
}

TEST_F(MemoryRoute, TOOL_12_BodiesAreCheckedAgainstTheFieldsOfTheirKind) {
  EXPECT_EQ(refused(ask(api::Method::patch, kWorkPath, R"({"role":7})")), Faults{"/role: must be a string"});
  EXPECT_EQ(refused(ask(api::Method::put, kUserPath, R"({"role":"x"})")),
            Faults{"/role: is not known; known: preferred_name, about, likes, dislikes, people, dates, "
                   "habits, notes"});
  EXPECT_EQ(
      refused(ask(api::Method::put, kUserPath, R"({"likes":[" "],"about":null,"owner_id":"bob"})")).size(),
      2U);
  EXPECT_EQ(refused(ask(api::Method::patch, kUserPath, R"({"dates":[{"name":"x","date":"2025-02-30"}]})")),
            Faults{"/dates/0/date: must be a date that exists, as YYYY-MM-DD, such as 1990-05-01"});
  EXPECT_EQ(content(ask(api::Method::get, kUserPath)), "{}");
}

TEST_F(MemoryRoute, TOOL_12_LimitsAreTold) {
  json::array items;
  for (int i = 0; i < 50; ++i)
    items.push_back(json::string{std::to_string(i)});
  ask(api::Method::put, kUserPath, json::serialize(json::object{{"likes", items}}));

  EXPECT_EQ(
      refused(ask(api::Method::patch, kUserPath, R"({"likes":["one more"]})")),
      Faults{"/likes: would have 51 items, and at most 50 are allowed; replace it by what still matters"});
}

TEST_F(MemoryRoute, TOOL_12_AnUnknownKindIsToldTheTwo) {
  for (auto const method : {api::Method::get, api::Method::put, api::Method::patch, api::Method::del}) {
    bool const takes_body = method == api::Method::put || method == api::Method::patch;
    auto const answer = ask(method, "/api/v1/memory/pet", takes_body ? R"({"any":1})" : "");
    EXPECT_EQ(answer.status, 404);
    EXPECT_NE(answer.body.find("The kinds are user and work_profile."), std::string::npos) << answer.body;
  }
}

TEST_F(MemoryRoute, HTTP_3_EverybodyHasTheirOwn) {
  ask(api::Method::put, kUserPath, R"({"about":"bob"})", "bob");

  EXPECT_EQ(content(ask(api::Method::get, kUserPath)), "{}");
  EXPECT_EQ(ask(api::Method::del, kUserPath).status, 204);
  EXPECT_EQ(content(ask(api::Method::get, kUserPath, "", "bob")), R"({"about":"bob"})");
}

TEST(MemoryQuota, HTTP_9_FullStorageTakesNoMemories) {
  ModuleUnderTest under_test{define(), 200};
  ASSERT_EQ(under_test.ask(api::Method::put, kUserPath, R"({"about":"x"})").status, 200);

  EXPECT_EQ(under_test.ask(api::Method::put, kUserPath, R"({"about":"y"})").status, 507);
  EXPECT_EQ(under_test.ask(api::Method::patch, kWorkPath, R"({"role":"y"})").status, 507);
  EXPECT_EQ(under_test.ask(api::Method::del, kUserPath).status, 204);
  EXPECT_EQ(under_test.ask(api::Method::patch, kWorkPath, R"({"role":"y"})").status, 200);
}

}  // namespace
}  // namespace runnel::modules::memory
