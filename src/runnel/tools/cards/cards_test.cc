#include "runnel/tools/cards/cards.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

#include "runnel/tools/cards/a2ui.h"
#include "runnel/tools/post_processor.h"

namespace runnel::tools {
namespace {

namespace json = boost::json;

Card two_items() {
  Card card;
  card.title = "2 events";
  card.items = {{"Lunch", "pending", {"Fri 12:00", "Room 3"}}, {"Tea", "", {}}};
  card.note = "3 more are not shown here";
  return card;
}

json::array messages_of(std::string const& surface) {
  return json::parse(surface).at("messages").as_array();
}

TEST(A2ui, TOOL_8_SurfaceIsCreatedThenBuiltThenFilled) {
  auto const surface = write_a2ui(two_items(), "call_1");

  auto const document = json::parse(surface);
  EXPECT_EQ(document.at("format"), "a2ui");
  EXPECT_EQ(document.at("version"), "v0.9");
  auto const messages = messages_of(surface);
  ASSERT_EQ(messages.size(), 3U);
  char const* const order[] = {"createSurface", "updateComponents", "updateDataModel"};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].at("version"), "v0.9");
    EXPECT_EQ(messages[i].at(order[i]).at("surfaceId"), "call_1");
  }
}

TEST(A2ui, TOOL_8_TextsAreOnlyInTheDataModelAndNotMarkdown) {
  auto const messages = messages_of(write_a2ui(two_items(), "call_1"));

  auto const components = json::serialize(messages[1]);
  for (auto const* const text : {"2 events", "Lunch", "pending", "Room 3", "not shown"})
    EXPECT_EQ(components.find(text), std::string::npos) << text;
  for (auto const& component : messages[1].at("updateComponents").at("components").as_array()) {
    if (component.at("component") != "Text") continue;
    EXPECT_TRUE(component.at("text").as_object().contains("path"));
    EXPECT_NE(component.at("variant"), "body");
  }
  auto const& model = messages[2].at("updateDataModel").at("value");
  EXPECT_EQ(model.at("title"), "2 events");
  EXPECT_EQ(model.at("items").at(0).at("lines").at(1).at("text"), "Room 3");
  EXPECT_EQ(model.at("note"), "3 more are not shown here");
}

TEST(A2ui, TOOL_8_ComponentsNameOnlyComponentsThatExist) {
  for (auto const& card : {two_items(), Card{"None", {}, ""}, Card{"None", {}, "a note"}}) {
    auto const messages = messages_of(write_a2ui(card, "s"));
    auto const& components = messages[1].at("updateComponents").at("components").as_array();
    std::set<std::string> ids;
    for (auto const& component : components)
      EXPECT_TRUE(ids.insert(std::string{component.at("id").as_string()}).second);
    EXPECT_TRUE(ids.contains("root"));
    for (auto const& component : components) {
      auto const* const children = component.as_object().if_contains("children");
      if (children == nullptr) continue;
      if (children->is_object()) {
        EXPECT_TRUE(ids.contains(std::string{children->at("componentId").as_string()}));
        continue;
      }
      for (auto const& child : children->as_array())
        EXPECT_TRUE(ids.contains(std::string{child.as_string()})) << child;
    }
  }
}

// A form whose card shows what it was made from.
CardForm mirror() {
  return {"calendar.create",
          [](CardCall const& call) -> std::optional<json::object> {
            if (call.data.contains("none")) return std::nullopt;
            return json::object{{"title", call.input.at("title")}, {"id", call.data.at("event_id")}};
          },
          [](json::object const& hints, CardReader const& reader) {
            return Card{reader.language + " " + json::serialize(hints), {}, ""};
          }};
}

ToolJob job_of(std::string const& arguments) {
  ToolJob job;
  job.id = ToolCallId{"call_9"};
  job.args = JsonText::parse(arguments).value();
  job.reader = {"en-GB", "UTC"};
  return job;
}

constexpr char kArguments[] = R"({"module":"calendar","method":"create","input":{"title":"Lunch"}})";

ToolOutcome with_card(std::string const& data, std::string const& method = "calendar.create",
                      ToolStatus status = ToolStatus::success) {
  auto outcome = success({"calendar", "create"}, data, status);
  Cards{{mirror()}}.put_on(outcome, method, job_of(kArguments));
  return outcome;
}

TEST(Cards, TOOL_8_HintsAndTheCardThatIsMadeFromThem) {
  auto const outcome = with_card(R"({"event_id":"e1"})");

  EXPECT_EQ(outcome.ui_hints->str(), R"({"title":"Lunch","id":"e1"})");
  auto const messages = messages_of(outcome.card->str());
  EXPECT_EQ(messages[0].at("createSurface").at("surfaceId"), "call_9");
  EXPECT_EQ(messages[2].at("updateDataModel").at("value").at("title"),
            R"(en-GB {"title":"Lunch","id":"e1"})");
  EXPECT_TRUE(with_card(R"({"event_id":"e1"})", "calendar.create", ToolStatus::partial).card);
}

TEST(Cards, TOOL_8_OtherMethodsFailuresAndResultsWithoutHintsHaveNone) {
  auto refused = tool_failure("NOT_FOUND", "there is none");
  Cards{{mirror()}}.put_on(refused, "calendar.create", job_of(kArguments));

  for (auto const& outcome :
       {with_card(R"({"event_id":"e1"})", "calendar.read"), with_card(R"({"none":true})"), refused}) {
    EXPECT_FALSE(outcome.ui_hints);
    EXPECT_FALSE(outcome.card);
  }
}

}  // namespace
}  // namespace runnel::tools
