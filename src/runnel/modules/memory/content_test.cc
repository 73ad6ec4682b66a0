#include "runnel/modules/memory/content.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runnel::modules::memory {
namespace {

namespace json = boost::json;

// The content after an update as JSON, or "PATH: problem".
std::string updated(std::string const& stored, std::string const& sent, Mode mode = Mode::merge) {
  auto const made = update(json::parse(stored).as_object(), json::parse(sent).as_object(), mode);
  if (auto const* const limit = std::get_if<base::Violation>(&made)) return limit->path + ": " + limit->what;
  return json::serialize(std::get<json::object>(made));
}

std::vector<std::string> wrong_in(std::string const& content) {
  std::vector<std::string> out;
  for (auto const& violation : check_content(json::parse(content).as_object()))
    out.push_back(to_string(violation));
  return out;
}

using Faults = std::vector<std::string>;

TEST(MemoryContent, TOOL_12_MergeReplacesTexts) {
  EXPECT_EQ(updated(R"({"about":"old","role":"x"})", R"({"about":"  new "})"),
            R"({"about":"new","role":"x"})");
  EXPECT_EQ(updated("{}", R"({"about":"new"})"), R"({"about":"new"})");
}

TEST(MemoryContent, TOOL_12_MergeAddsToListsWhatTheyDoNotHave) {
  EXPECT_EQ(updated(R"({"likes":["Green tea"]})",
                    R"({"likes":[" green TEA ","chess","Chess","STRASSE","straße"]})"),
            R"({"likes":["Green tea","chess","STRASSE"]})");
  EXPECT_EQ(updated("{}", R"({"likes":["a","A"]})"), R"({"likes":["a"]})");
}

TEST(MemoryContent, TOOL_12_MergeReplacesTheObjectOfTheSameName) {
  EXPECT_EQ(
      updated(
          R"({"people":[{"name":"Li Na","note":"old"},{"name":"Max"}]})",
          R"({"people":[{"name":"li na ","relation":"sister","note":" "},{"name":"Éva"},{"name":"ÉVA","note":"n"}]})"),
      R"({"people":[{"name":"li na","relation":"sister"},{"name":"Max"},{"name":"ÉVA","note":"n"}]})");
}

TEST(MemoryContent, TOOL_12_MergeRemovesWhatIsEmpty) {
  EXPECT_EQ(updated(R"({"about":"x","likes":["a"],"working_hours":{"days":["mon"]},"team":"t"})",
                    R"({"about":" ","likes":[],"working_hours":{},"role":""})"),
            R"({"team":"t"})");
  EXPECT_EQ(updated(R"({"about":"x"})", R"({"about":""})"), "{}");
}

TEST(MemoryContent, TOOL_12_WorkingHoursAreReplacedAsAWhole) {
  EXPECT_EQ(updated(R"({"working_hours":{"start":"09:00","end":"17:00","days":["mon"]}})",
                    R"({"working_hours":{"days":["tue"],"timezone":""}})"),
            R"({"working_hours":{"days":["tue"]}})");
}

TEST(MemoryContent, TOOL_12_ReplaceForgetsTheRest) {
  EXPECT_EQ(
      updated(R"({"about":"x","likes":["a"]})", R"({"likes":["b","B"],"notes":[],"role":""})", Mode::replace),
      R"({"likes":["b"]})");
  EXPECT_EQ(updated(R"({"about":"x"})", "{}", Mode::replace), "{}");
}

TEST(MemoryContent, TOOL_12_ListsAndTheWholeHaveLimits) {
  json::array fifty;
  for (int i = 0; i < 50; ++i)
    fifty.push_back(json::string{"item " + std::to_string(i)});
  auto const full = json::serialize(json::object{{"likes", fifty}});

  EXPECT_EQ(updated(full, R"({"likes":["ITEM 7"]})"), full);
  EXPECT_EQ(updated(full, R"({"likes":["one more"]})"),
            "/likes: would have 51 items, and at most 50 are allowed; replace it by what still matters");
  auto const exact = json::serialize(json::object{{"about", std::string(kMostContentBytes - 12, 'x')}});
  ASSERT_EQ(exact.size(), kMostContentBytes);
  EXPECT_EQ(updated("{}", exact), exact);
  EXPECT_EQ(
      updated(exact, R"({"a":"b"})"),
      ": the whole content would have 16392 bytes as JSON, and at most 16384 are allowed; replace it by what "
      "still matters");
}

TEST(MemoryContent, TOOL_4_WhatASchemaCannotJudgeIsChecked) {
  EXPECT_EQ(wrong_in(R"({"likes":["a","\u3000"]})"), Faults{"/likes/1: must not be blank"});
  EXPECT_EQ(wrong_in(R"({"people":[{"name":" "}]})"), Faults{"/people/0/name: must not be blank"});
  EXPECT_EQ(wrong_in(R"({"dates":[{"name":"a","date":"2024-02-29"},{"name":"b","date":"2025-02-29"}]})"),
            Faults{"/dates/1/date: must be a date that exists, as YYYY-MM-DD, such as 1990-05-01"});
  EXPECT_EQ(wrong_in(R"({"working_hours":{"start":"09:00"}})"),
            Faults{"/working_hours/end: is required, because start and end belong together"});
  EXPECT_EQ(wrong_in(R"({"working_hours":{"end":"09:00","timezone":"Mars/Base"}})").size(), 2U);
  EXPECT_EQ(
      wrong_in(R"({"working_hours":{"start":"22:00","end":"06:00","timezone":"Europe/Berlin"},"about":" "})"),
      Faults{});
  EXPECT_EQ(wrong_in(R"({"likes":[7,null],"people":["x",{"name":7}],"dates":7,"working_hours":[]})"),
            Faults{})
      << "what the schema judges";
}

}  // namespace
}  // namespace runnel::modules::memory
