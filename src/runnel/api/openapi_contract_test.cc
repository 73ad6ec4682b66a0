#include "runnel/api/openapi_contract.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <stdexcept>

namespace runnel::api {
namespace {

namespace json = boost::json;

// A document with one operation, `described`, and the components that the operation may refer to.
std::string document(std::string const& path, std::string const& described) {
  return R"({"openapi":"3.0.3","security":[{"bearer":[]}],"paths":{")" + path + R"(":{"post":)" + described +
         R"(}},"components":{
    "securitySchemes":{"bearer":{"type":"http"},"ticket":{"type":"apiKey","in":"query","name":"ticket"}},
    "parameters":{"Id":{"name":"id","in":"path"}},
    "responses":{"Bad":{"description":"bad"}},
    "schemas":{"Name":{"type":"string"}}}})";
}

std::string refusal(std::string const& path, std::string const& described) {
  try {
    OpenApiContract const contract{document(path, described)};
    return "accepted";
  } catch (std::logic_error const& error) {
    return error.what();
  }
}

TEST(OpenApiContract, HTTP_7_KnowsWhatAnOperationPromises) {
  OpenApiContract const contract{
      document("/things/{id}", R"({"operationId":"a","security":[{"bearer":[]},{"ticket":[]}],
    "parameters":[{"$ref":"#/components/parameters/Id"},{"name":"q","in":"query"},{"name":"H","in":"header"}],
    "requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Name"}}}},
    "responses":{"200":{"description":"good"},"400":{"$ref":"#/components/responses/Bad"}}})")};

  auto const* operation = contract.find(Method::post, "/things/{id}");

  ASSERT_NE(operation, nullptr);
  EXPECT_FALSE(operation->for_anyone);
  EXPECT_TRUE(operation->for_users);
  EXPECT_EQ(operation->query, (std::vector<std::string>{"q", "ticket"}));
  EXPECT_EQ(operation->statuses, (std::vector<int>{200, 400}));
  EXPECT_EQ(operation->body->check(json::value(7)).at(0).what, "must be a string");
  EXPECT_EQ(contract.find(Method::get, "/things/{id}"), nullptr);
  EXPECT_EQ(contract.find(Method::post, "/things/{other}"), nullptr);
}

TEST(OpenApiContract, HTTP_1_BodyThatIsNotJsonIsTakenAsItIs) {
  OpenApiContract const contract{
      document("/a", R"({"operationId":"a","security":[],"requestBody":{"required":true,
    "content":{"text/calendar":{"schema":{"type":"string"}}}},"responses":{"200":{"description":"good"}}})")};

  auto const* operation = contract.find(Method::post, "/a");

  ASSERT_NE(operation, nullptr);
  EXPECT_TRUE(operation->takes_body());
  EXPECT_FALSE(operation->body.has_value());
  EXPECT_EQ(operation->other_body, "text/calendar");
}

TEST(OpenApiContract, KnowsWhoMayCall) {
  auto const who = [](std::string const& security) {
    OpenApiContract const contract{
        document("/a", R"({"operationId":"a","responses":{"200":{"description":"x"}},)"
                       R"("security":)" +
                           security + "}")};
    auto const* operation = contract.find(Method::post, "/a");
    return std::pair{operation->for_anyone, operation->for_users};
  };

  EXPECT_EQ(who("[]"), std::pair(true, false));
  EXPECT_EQ(who(R"([{"bearer":[]}])"), std::pair(false, true));
  EXPECT_EQ(who(R"([{},{"bearer":[]}])"), std::pair(true, true));
}

TEST(OpenApiContract, HTTP_7_ADocumentThatCannotBeEnforcedIsRefused) {
  auto const responses = std::string{R"("responses":{"200":{"description":"good"}}})"};

  EXPECT_EQ(refusal("/a", R"({"operationId":"a",)" + responses), "accepted");
  EXPECT_EQ(refusal("/a", "{" + responses), "OpenAPI document, post /a: a unique operationId is needed");
  EXPECT_EQ(refusal("/a/{id}", R"({"operationId":"a",)" + responses),
            "OpenAPI document, post /a/{id}: the path and its parameters differ");
  EXPECT_EQ(refusal("/a", R"({"operationId":"a","parameters":[{"name":"id","in":"path"}],)" + responses),
            "OpenAPI document, post /a: the path and its parameters differ");
  EXPECT_EQ(refusal("/a", R"({"operationId":"a","responses":{}})"),
            "OpenAPI document, post /a: at least one response is needed");
  EXPECT_EQ(refusal("/a", R"({"operationId":"a","responses":{"2XX":{"description":"x"}}})"),
            "OpenAPI document, post /a: '2XX' is neither 101 nor a status from 200 to 599");
  EXPECT_EQ(
      refusal("/a", R"({"operationId":"a","responses":{"200":{"$ref":"#/components/responses/None"}}})"),
      "OpenAPI document, post /a: an object 'None' is needed");
  EXPECT_EQ(
      refusal("/a", R"({"operationId":"a","requestBody":{"required":true,"content":{"application/json":
                         {"schema":{"minLenght":1}}}},)" +
                        responses),
      "OpenAPI document, post /a: /minLenght: this keyword is not supported, so it would not be enforced");
  EXPECT_NE(refusal("/a", R"({"operationId":7,)" + responses), "accepted");
  EXPECT_THROW(OpenApiContract{"{"}, std::logic_error);
  EXPECT_THROW(OpenApiContract{"{}"}, std::logic_error);
}

}  // namespace
}  // namespace runnel::api
