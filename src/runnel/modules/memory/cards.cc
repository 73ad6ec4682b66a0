#include "runnel/modules/memory/cards.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "runnel/core/json/members.h"
#include "runnel/core/text/text.h"

namespace runnel::modules::memory {

namespace json = boost::json;

namespace {

// A line of a card has at most this many characters, and names at most this many elements of a list.
constexpr std::size_t kLongestLine = 200;
constexpr std::size_t kMostNamed = 10;

// The fields of both kinds of content (update_input.json). One that is not here is shown by its own name.
struct Label {
  char const* field;
  char const* english;
  char const* chinese;
};
constexpr std::array<Label, 18> kLabels{{{"preferred_name", "Name", "称呼"},
                                         {"about", "About", "简介"},
                                         {"likes", "Likes", "喜欢"},
                                         {"dislikes", "Dislikes", "不喜欢"},
                                         {"people", "People", "重要的人"},
                                         {"dates", "Dates", "重要日期"},
                                         {"habits", "Habits", "习惯"},
                                         {"notes", "Notes", "备注"},
                                         {"role", "Role", "职务"},
                                         {"organization", "Organization", "单位"},
                                         {"team", "Team", "团队"},
                                         {"location", "Location", "地点"},
                                         {"working_hours", "Working hours", "工作时间"},
                                         {"skills", "Skills", "技能"},
                                         {"projects", "Projects", "项目"},
                                         {"colleagues", "Colleagues", "同事"},
                                         {"tools", "Tools", "工具"},
                                         {"goals", "Goals", "目标"}}};

std::string label_of(std::string_view field, bool chinese) {
  for (auto const& label : kLabels) {
    if (field == label.field) return chinese ? label.chinese : label.english;
  }
  return std::string{field};
}

void append_words(std::string& out, json::value const& value, bool chinese);

// "Wei, friend" for {"name":"Wei","relation":"friend"}.
void append_members(std::string& out, json::object const& object, bool chinese) {
  bool first = true;
  for (auto const& [name, value] : object) {
    if (!first) out += chinese ? "，" : ", ";
    first = false;
    append_words(out, value, chinese);
  }
}

void append_elements(std::string& out, json::array const& list, bool chinese) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += chinese ? "；" : "; ";
    if (i == kMostNamed) {
      out += "…";
      return;
    }
    append_words(out, list[i], chinese);
  }
}

// The content is valid by its schema, so it is not nested deeply.
void append_words(std::string& out, json::value const& value, bool chinese) {
  if (value.is_string()) out += std::string_view{value.get_string()};
  if (value.is_object()) append_members(out, value.get_object(), chinese);
  if (value.is_array()) append_elements(out, value.get_array(), chinese);
}

std::string line_of(std::string_view field, json::value const& value, bool chinese) {
  std::string words;
  append_words(words, value, chinese);
  auto const shown = first_code_points(words, kLongestLine);
  auto text = shown.size() == words.size() ? words : std::string{shown} + "…";
  if (text.empty()) text = chinese ? "已删除" : "removed";
  return label_of(field, chinese) + (chinese ? "：" : ": ") + text;
}

std::optional<json::object> memory_hints(CardCall const& call) {
  auto const* const content = call.input.if_contains("content");
  if (content == nullptr || !content->is_object()) return std::nullopt;
  return json::object{{"kind", text_at(call.input, "kind")},
                      {"outcome", text_at(call.data, "outcome")},
                      {"content", *content}};
}

Card memory_card(json::object const& hints, CardReader const& reader) {
  bool const chinese = reader.reads_chinese();
  Card card;
  if (text_at(hints, "outcome") == "unchanged") {
    card.title = chinese ? "记忆没有变化" : "Nothing new to remember";
  } else {
    card.title = chinese ? "记忆已更新" : "Memory updated";
  }
  auto& item = card.items.emplace_back();
  bool const at_work = text_at(hints, "kind") == "work_profile";
  if (at_work) item.title = chinese ? "工作" : "Work";
  if (!at_work) item.title = chinese ? "个人" : "Personal";
  if (auto const* const content = hints.if_contains("content")) {
    for (auto const& [field, value] : as_object(*content))
      item.lines.push_back(line_of(field, value, chinese));
  }
  return card;
}

}  // namespace

std::vector<CardForm> card_forms() {
  return {{"memory.update", &memory_hints, &memory_card}};
}

}  // namespace runnel::modules::memory
