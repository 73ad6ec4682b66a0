#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/api/body_check.h"
#include "runnel/http/testing/openapi.h"

namespace runnel::http {
namespace {

namespace json = boost::json;

api::Operation const& start_run() {
  static auto const contract = openapi_contract();
  return *contract->find(api::Method::post, "/api/v1/agent/runs");
}

api::Operation const& rename_thread() {
  static auto const contract = openapi_contract();
  return *contract->find(api::Method::patch, "/api/v1/agent/threads/{thread_id}");
}

api::Request with_body(std::string body) {
  api::Request out;
  out.body = std::move(body);
  return out;
}

// The error of the refusal; null if the body was taken.
json::value refusal(api::Operation const& operation, std::string body) {
  auto request = with_body(std::move(body));
  auto const response = api::take_body(operation, {}, request);
  if (!response) return nullptr;
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(request.parsed_body, nullptr);
  return json::parse(response->body).at("error");
}

std::string first_problem(api::Operation const& operation, std::string body) {
  auto const error = refusal(operation, std::move(body));
  if (error.is_null()) return "taken";
  auto const& first = error.at("details").at("violations").at(0);
  return json::value_to<std::string>(first.at("path")) + " " +
         json::value_to<std::string>(first.at("problem"));
}

TEST(BodyCheck, HTTP_1_TheHandlerGetsTheParsedBody) {
  auto request = with_body(R"({"title":"x"})");

  EXPECT_FALSE(api::take_body(rename_thread(), {}, request));
  EXPECT_EQ(request.json().at("title"), "x");
}

TEST(BodyCheck, HTTP_1_UnknownFieldsAreNamed) {
  auto const error = refusal(rename_thread(), R"({"title":"x","colour":"red"})");

  EXPECT_EQ(error.at("code"), "INVALID_REQUEST");
  EXPECT_EQ(error.at("message"),
            "The body does not have the required form; /colour: is not known; known: title.");
  EXPECT_EQ(json::serialize(error.at("details")),
            R"({"violations":[{"path":"/colour","problem":"is not known; known: title"}]})");
}

TEST(BodyCheck, HTTP_1_TheOpenPlacesOfAgUiAreOpen) {
  EXPECT_TRUE(refusal(start_run(), R"({"messages":[{"id":"1","role":"user","content":"x","extra":[1]},
      {"role":"activity","content":{"a":1}},{"role":"assistant","content":null,"toolCalls":[]}],
      "state":7,"forwardedProps":{"mine":{},"onBusy":null},"tools":[{"name":"t","parameters":{}}],"context":[],
      "threadId":null,"future":true})")
                  .is_null());
  EXPECT_TRUE(refusal(start_run(), R"({"messages":[],"forwardedProps":"mine"})").is_null());
}

TEST(BodyCheck, HTTP_1_RunAgentInputIsChecked) {
  EXPECT_EQ(first_problem(start_run(), "[]"), " must be an object");
  EXPECT_EQ(first_problem(start_run(), "{}"), "/messages is required");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[{"content":"x"}]})"), "/messages/0/role is required");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[{"role":"user","content":5}]})"),
            "/messages/0/content must be a string, null, a list or an object");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[],"threadId":"a b"})"),
            "/threadId must be visible ASCII without spaces");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[],"threadId":"a\nb"})"),
            "/threadId must be visible ASCII without spaces");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[],"runId":""})"), "/runId must not be empty");
  EXPECT_EQ(
      first_problem(start_run(), R"({"messages":[{"role":"user","id":")" + std::string(1025, 'x') + "\"}]}"),
      "/messages/0/id must have at most 1024 characters");
  EXPECT_EQ(
      first_problem(start_run(), R"({"messages":[{"role":"user","id":")" + std::string(1024, 'x') + "\"}]}"),
      "taken");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[{"role":"user","id":""}]})"), "taken");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[{"role":"user","id":null},{"role":"user"}]})"),
            "taken");
  EXPECT_EQ(first_problem(start_run(), R"({"messages":[],"forwardedProps":{"onBusy":"queue"}})"),
            "/forwardedProps/onBusy must be one of reject, enqueue, interrupt, rollback or null");
}

TEST(BodyCheck, HTTP_1_BadJsonIsToldWithItsPlace) {
  auto const error = refusal(start_run(), "{\n\"messages\": [}");

  EXPECT_EQ(error.at("code"), "INVALID_JSON");
  EXPECT_EQ(error.at("message"), "The body is not acceptable JSON; line 2, column 14: not valid JSON.");
  EXPECT_EQ(json::serialize(error.at("details")), R"({"line":2,"column":14})");
}

TEST(BodyCheck, HTTP_1_AnEmptyBodyWhereOneIsNeededIsToldAsSuch) {
  auto const error = refusal(start_run(), "");

  EXPECT_EQ(error.at("code"), "INVALID_JSON");
  EXPECT_EQ(error.at("message"),
            "The body is empty; this address needs a JSON object, as GET /openapi.json describes it.");
  EXPECT_EQ(json::serialize(error.at("details")), R"({"line":1,"column":1})");
}

TEST(BodyCheck, HTTP_1_TheMessageSaysHowManyMoreFaultsThereAre) {
  auto const message = [](std::size_t faults) {
    std::string body = "{";
    for (std::size_t at = 0; at < faults; ++at)
      body += "\"unknown" + std::to_string(at) + "\":1,";
    return json::value_to<std::string>(refusal(rename_thread(), body + R"("title":"x"})").at("message"));
  };

  EXPECT_TRUE(message(1).ends_with("known: title."));
  EXPECT_TRUE(message(2).ends_with(" There is 1 more fault: see details.violations."));
  EXPECT_TRUE(message(4).ends_with(" There are 3 more faults: see details.violations."));
  EXPECT_TRUE(message(50).ends_with(" There are at least 19 more faults: see details.violations."));
}

TEST(BodyCheck, HTTP_6_DepthIsTheSettings) {
  auto request = with_body(R"({"messages":[],"state":[[[]]]})");

  EXPECT_FALSE(api::take_body(start_run(), {.depth = 4}, request));
  EXPECT_TRUE(api::take_body(start_run(), {.depth = 3}, request));
}

TEST(BodyCheck, HTTP_9_ABodyOfTooManyValuesIsRefused) {
  auto request = with_body(R"({"messages":[{"role":"user","content":"x"}]})");  // 3 keys, 5 values.

  EXPECT_FALSE(api::take_body(start_run(), {.values = 8}, request));
  auto const refused = api::take_body(start_run(), {.values = 7}, request);

  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 400);
  auto const error = json::parse(refused->body).at("error");
  EXPECT_EQ(error.at("code"), "JSON_TOO_COMPLEX");
  EXPECT_EQ(error.at("details").at("limit"), 7);
}

// A refusal repeats little of a large body: neither everything that is wrong with it nor names of any length.
TEST(BodyCheck, HTTP_9_ARefusalIsSmallWhateverTheBody) {
  std::string body = "{";
  for (int i = 0; i < 5000; ++i)
    body += "\"" + std::string(700, 'k') + std::to_string(i) + "\":0,";
  std::string deep = R"({"title":)";
  for (int i = 0; i < 60; ++i)
    deep += "{\"" + std::string(700, 'k') + "\":";

  EXPECT_LT(json::serialize(refusal(rename_thread(), body + "\"title\":\"x\"}")).size(), 8192U);
  EXPECT_LT(json::serialize(refusal(rename_thread(), deep + "0" + std::string(61, '}'))).size(), 8192U);
}

}  // namespace
}  // namespace runnel::http
