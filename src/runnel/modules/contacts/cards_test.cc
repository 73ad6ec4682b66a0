#include "runnel/modules/contacts/cards.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel::modules::contacts {
namespace {

namespace json = boost::json;

Card card_of(std::string const& data, CardReader const& reader) {
  auto const form = card_forms().at(0);
  auto const found = json::parse(data).as_object();
  return form.make(*form.hints({json::object{}, found}), reader);
}

TEST(ContactCards, TOOL_8_ShowsWhereToReachThem) {
  std::string const data =
      R"({"items":[{"contact_id":"c1","name":"王伟","email":"wei@example.com","phone":"123","note":"shy",)"
      R"("user_id":"wei"}],"count":1,"more":false})";

  auto const card = card_of(data, {"en", "UTC"});

  EXPECT_EQ(card.title, "1 contact");
  EXPECT_EQ(card.items.at(0).title, "王伟");
  EXPECT_EQ(card.items.at(0).lines, (std::vector<std::string>{"wei@example.com", "123"}));
  EXPECT_EQ(card.note, "");
  EXPECT_EQ(card_of(data, {"zh-CN", "UTC"}).title, "1 位联系人");
}

TEST(ContactCards, TOOL_8_SaysWhetherThereAreMore) {
  EXPECT_EQ(card_of(R"({"items":[],"count":0,"more":false})", {"en", "UTC"}).title, "No contacts found");
  EXPECT_EQ(card_of(R"({"items":[{"name":"A"}],"count":1,"more":true})", {"zh", "UTC"}).note,
            "还有其他联系人未显示");
}

}  // namespace
}  // namespace runnel::modules::contacts
