#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runnel/model/builtin/offline_plan.h"

// What the offline model says, in Chinese and English.
namespace runnel::model {

// A text in both languages.
struct Words {
  std::string_view english;
  std::string_view chinese;

  [[nodiscard]] std::string in(bool chinese_wanted) const {
    return std::string{chinese_wanted ? chinese : english};
  }
};

// 「text」 or “text”.
std::string quoted(std::string const& text, bool chinese);

// 2026年11月19日（周四） or "Thursday 19 November 2026".
std::string day_words(Day day, bool chinese);

// When an event is, in the user's zone.
std::string span_words(FoundEvent const& event, Zone const& zone, bool chinese);

// How an event is repeated, such as 每周一. The rule itself if it has no plain words.
std::string rule_words(std::string const& rule, bool chinese);

// A line of a list of events: the title, when it is, where, and what is to be known of an invitation.
std::string event_words(FoundEvent const& event, Zone const& zone, bool chinese);

// The lines of a list. Of a long list only the first are shown, and it says how many there are besides.
std::string list_words(std::vector<std::string> const& lines, bool chinese);

// Who the model is and what it can do.
std::string self_words(std::string const& message, bool chinese);

// A request of this kind, as a user would write it.
std::string example_of(Ask ask, bool chinese);

// Two or three things that the user may want next. The model understands each of them.
std::vector<std::string> suggestions(Ask ask, bool chinese);

// A question for what is missing.
Reply ask_for(Missing missing, Ask ask, bool chinese);

// A failure of the tool in plain words.
Reply failure_reply(ToolResult const& result, bool chinese);

// That there are no tools, so that nothing was done.
std::string no_tools_words(bool chinese);

}  // namespace runnel::model
