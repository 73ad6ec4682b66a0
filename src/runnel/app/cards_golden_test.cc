#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "runnel/app/modules.h"
#include "runnel/tools/cards/cards.h"
#include "runnel/tools/post_processor.h"

// The cards of the results in tests/conformance/cards/samples.json must be the bytes stored beside it. A test
// in Node.js checks those against the schemas of A2UI and shows them in a browser. With
// RUNNEL_UPDATE_GOLDEN=1 this test rewrites them.
namespace runnel::app {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

fs::path cards_folder() {
  return fs::path{RUNNEL_SOURCE_DIR} / "tests/conformance/cards";
}

std::string bytes_in(fs::path const& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

json::array card_samples() {
  return json::parse(bytes_in(cards_folder() / "samples.json")).as_array();
}

std::string text_of(json::value const& sample, std::string_view name) {
  return std::string{sample.at(name).as_string()};
}

std::string card_for(json::value const& sample, CardReader const& reader) {
  auto const method = text_of(sample, "method");
  auto const dot = method.find('.');
  auto outcome =
      tools::success({method.substr(0, dot), method.substr(dot + 1)}, json::serialize(sample.at("data")));
  tools::ToolJob job;
  job.id = ToolCallId{"call_" + text_of(sample, "name")};
  job.args = JsonText::parse(json::serialize(json::object{{"input", sample.at("input")}})).value();
  job.reader = reader;
  tools::Cards{Modules{Settings{}}.cards()}.put_on(outcome, method, job);
  return outcome.card ? outcome.card->str() : std::string{};
}

struct Reading {
  std::string name;
  CardReader reader;
};
std::vector<Reading> readings() {
  return {{"zh-CN", {"zh-CN", "Asia/Shanghai"}}, {"en", {"en", "Europe/Berlin"}}};
}

TEST(CardGolden, TOOL_8_EverySampleGivesTheStoredCard) {
  bool const update = std::getenv("RUNNEL_UPDATE_GOLDEN") != nullptr;
  std::size_t made = 0;
  for (auto const& sample : card_samples()) {
    for (auto const& reading : readings()) {
      auto const path = cards_folder() / "golden" / (text_of(sample, "name") + "." + reading.name + ".json");
      auto const card = card_for(sample, reading.reader);
      if (update) std::ofstream{path, std::ios::binary} << card;
      EXPECT_FALSE(card.empty()) << path;
      EXPECT_EQ(card, bytes_in(path)) << path;
      ++made;
    }
  }
  auto const files = std::distance(fs::directory_iterator{cards_folder() / "golden"}, {});
  EXPECT_EQ(static_cast<std::size_t>(files), made);
}

TEST(CardGolden, TOOL_8_TheNineMethodsHaveACardAndASampleAndNoOtherDoes) {
  std::set<std::string> const nine{"calendar.read",          "calendar.create",        "calendar.update",
                                   "calendar.delete",        "calendar.share",         "contacts.read",
                                   "calendar.accept_invite", "calendar.reject_invite", "memory.update"};
  std::set<std::string> forms;
  for (auto const& form : Modules{Settings{}}.cards())
    forms.emplace(form.method);
  std::set<std::string> sampled;
  for (auto const& sample : card_samples())
    sampled.insert(text_of(sample, "method"));

  EXPECT_EQ(forms, nine);
  EXPECT_EQ(sampled, nine);
}

}  // namespace
}  // namespace runnel::app
