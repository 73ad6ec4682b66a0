#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/modules/contacts/module.h"
#include "runnel/modules/testing/module_under_test.h"

namespace runnel::modules::contacts {
namespace {

namespace json = boost::json;

constexpr char kContacts[] = "/api/v1/contacts";

class ContactRoute : public testing::Test {
 protected:
  api::Response post(std::string body, std::string user = "ann") {
    return under_test.ask(api::Method::post, kContacts, std::move(body), std::move(user));
  }
  api::Response get(std::string const& rest, std::string user = "ann") {
    return under_test.ask(api::Method::get, kContacts + rest, "", std::move(user));
  }
  std::string add(std::string const& name, std::string user = "ann") {
    auto const response = post(json::serialize(json::object{{"name", name}}), std::move(user));
    EXPECT_EQ(response.status, 201) << response.body;
    return std::string{json::parse(response.body).at("contact_id").as_string()};
  }
  std::vector<std::string> names(std::string const& rest, std::string user = "ann") {
    auto const response = get(rest, std::move(user));
    EXPECT_EQ(response.status, 200) << response.body;
    std::vector<std::string> out;
    auto const list = json::parse(response.body);
    for (auto const& item : list.at("items").as_array())
      out.emplace_back(item.at("name").as_string());
    EXPECT_EQ(list.at("count"), out.size());
    return out;
  }
  // The violations of a refused body, each as "PATH: problem", or the message if there are none.
  static std::vector<std::string> refused(api::Response const& response) {
    EXPECT_EQ(response.status, 400) << response.body;
    auto const error = json::parse(response.body).at("error");
    EXPECT_EQ(error.at("code"), "INVALID_REQUEST");
    auto const* const violations = error.at("details").as_object().if_contains("violations");
    if (violations == nullptr) return {std::string{error.at("message").as_string()}};
    std::vector<std::string> out;
    for (auto const& violation : violations->as_array())
      out.push_back(std::string{violation.at("path").as_string()} + ": " +
                    std::string{violation.at("problem").as_string()});
    return out;
  }

  ModuleUnderTest under_test{define()};
};

using Names = std::vector<std::string>;

TEST_F(ContactRoute, TOOL_12_AddedContactIsShown) {
  auto const added = post(
      R"({"name":"王伟","email":"wei@example.com","phone":"138","organization":"ACME","note":"tea","user_id":"wei"})");

  EXPECT_EQ(added.status, 201);
  auto shown = json::parse(added.body).as_object();
  auto const id = std::string{shown.at("contact_id").as_string()};
  EXPECT_EQ(get("/" + id).body, added.body);
  shown.erase("contact_id");
  EXPECT_EQ(shown.at("created_at"), shown.at("updated_at"));
  shown.erase("created_at");
  shown.erase("updated_at");
  EXPECT_EQ(
      shown,
      json::parse(
          R"({"name":"王伟","email":"wei@example.com","phone":"138","organization":"ACME","note":"tea","user_id":"wei"})"));
}

TEST_F(ContactRoute, TOOL_12_BadBodiesAreRefusedWithEveryMistake) {
  EXPECT_EQ(refused(post(R"({"name":" \t","email":"wei at example","nick":"w"})")).size(), 3U);
  EXPECT_EQ(refused(post(R"({"name":"\u3000"})")), Names{"/name: must not be blank"});
  for (auto const* const email :
       {"wei", "@example.com", "wei@", "a@b@c", "we i@example.com", "wei@exam\\nple"}) {
    EXPECT_EQ(refused(post(R"({"name":"Wei","email":")" + std::string{email} + "\"}")),
              Names{"/email: must be an address such as wei@example.com, or an empty text for none"})
        << email;
  }
  EXPECT_EQ(refused(post("{}")).size(), 1U);
  EXPECT_EQ(refused(post(R"({"name":null})")).size(), 1U);
  EXPECT_EQ(refused(post(R"({"name":"Wei","owner_id":"bob"})")).size(), 1U);
  EXPECT_EQ(names(""), Names{});
}

TEST_F(ContactRoute, TOOL_12_PatchChangesWhatItSends) {
  auto const id = add("Wang Wei");
  under_test.clock().now += 1000;
  auto const path = std::string{kContacts} + "/" + id;

  auto const changed =
      under_test.ask(api::Method::patch, path, R"({"email":"wei@example.com","note":"tea"})");
  auto const emptied = under_test.ask(api::Method::patch, path, R"({"note":""})");

  EXPECT_EQ(changed.status, 200) << changed.body;
  auto const shown = json::parse(changed.body).as_object();
  EXPECT_EQ(shown.at("name"), "Wang Wei");
  EXPECT_EQ(shown.at("email"), "wei@example.com");
  EXPECT_NE(shown.at("created_at"), shown.at("updated_at"));
  EXPECT_FALSE(json::parse(emptied.body).as_object().contains("note"));
  EXPECT_EQ(get("/" + id).body, emptied.body);
  EXPECT_EQ(refused(under_test.ask(api::Method::patch, path, R"({"name":" "})")),
            Names{"/name: must not be blank"});
}

TEST_F(ContactRoute, TOOL_12_DeletedContactIsGone) {
  auto const id = add("Wang Wei");
  auto const path = std::string{kContacts} + "/" + id;

  EXPECT_EQ(under_test.ask(api::Method::del, path).status, 204);
  EXPECT_EQ(under_test.ask(api::Method::del, path).status, 404);
  EXPECT_EQ(get("/" + id).status, 404);
  EXPECT_EQ(under_test.ask(api::Method::patch, path, R"({"name":"x"})").status, 404);
}

TEST_F(ContactRoute, HTTP_3_AnothersContactDoesNotExist) {
  auto const id = add("Wang Wei", "bob");
  auto const path = std::string{kContacts} + "/" + id;

  EXPECT_EQ(get("/" + id).body, get("/nothing").body);
  EXPECT_EQ(under_test.ask(api::Method::patch, path, R"({"name":"x"})").status, 404);
  EXPECT_EQ(under_test.ask(api::Method::del, path).status, 404);
  EXPECT_EQ(names(""), Names{});
  EXPECT_EQ(names("?q=wang"), Names{});
  EXPECT_EQ(names("?q=wang", "bob"), Names{"Wang Wei"});
}

TEST_F(ContactRoute, TOOL_12_ListHasPages) {
  for (auto const* const name : {"c", "a", "b"})
    add(name);

  auto const first = json::parse(get("?limit=2").body);
  EXPECT_EQ(first.at("more"), true);
  auto const cursor = std::string{first.at("next_cursor").as_string()};
  EXPECT_EQ(names("?limit=2"), (Names{"a", "b"}));
  EXPECT_EQ(names("?limit=2&cursor=" + cursor), Names{"c"});
  EXPECT_TRUE(json::parse(get("?cursor=" + cursor).body).at("next_cursor").is_null());
  EXPECT_EQ(refused(get("?cursor=x")), Names{"'cursor' must be the next_cursor of an earlier page"});
  EXPECT_EQ(refused(get("?limit=101")).size(), 1U);
  EXPECT_EQ(refused(get("?limit=0")).size(), 1U);
}

TEST_F(ContactRoute, TOOL_12_SearchIsPartOfTheList) {
  add("王伟");
  add("Wang Wei");

  EXPECT_EQ(names("?q=%E4%BC%9F"), Names{"王伟"});
  EXPECT_EQ(names("?q=WEI&limit=1"), Names{"Wang Wei"});
  EXPECT_EQ(names("?q="), Names{});
  EXPECT_EQ(refused(get("?q=a%20b%20c%20d%20e%20f%20g%20h%20i")), Names{"'q' must have at most 8 words"});
  EXPECT_EQ(refused(get("?q=wei&cursor=x")).size(), 1U);
}

TEST(ContactQuota, HTTP_9_FullStorageTakesNoContacts) {
  ModuleUnderTest under_test{define(), 900};
  auto const add = [&] { return under_test.ask(api::Method::post, kContacts, R"({"name":"Wang Wei"})"); };
  auto const first = add();
  ASSERT_EQ(first.status, 201);
  ASSERT_EQ(add().status, 201);
  ASSERT_EQ(add().status, 201);

  auto const refused = add();
  EXPECT_EQ(refused.status, 507) << refused.body;
  auto const id = std::string{json::parse(first.body).at("contact_id").as_string()};
  EXPECT_EQ(under_test.ask(api::Method::patch, std::string{kContacts} + "/" + id, R"({"note":"x"})").status,
            507);
  EXPECT_EQ(under_test.ask(api::Method::del, std::string{kContacts} + "/" + id).status, 204);
  EXPECT_EQ(add().status, 201);
}

}  // namespace
}  // namespace runnel::modules::contacts
