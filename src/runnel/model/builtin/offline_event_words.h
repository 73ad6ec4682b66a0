#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runnel/model/builtin/offline_text.h"

// What a user's words say of an event besides its time.
namespace runnel::model {

// The words by which an existing event is found: "the team meeting" has the word "team" and the noun
// "meeting". In Chinese, where no blanks stand between words, they are the pieces between words such as 和
// and 的.
struct EventWords {
  std::vector<std::string> terms;  // In lower case.
  bool meeting = false;            // "meeting" or 会, which only counts if something in the title agrees.
  bool any = false;                // A noun such as "event" or 日程, which says nothing of the title.

  [[nodiscard]] bool empty() const { return terms.empty() && !meeting && !any; }
};

EventWords to_event_words(OfflineText const& words);

// Whether an event with this title may be meant. All terms must be in the title, ASCII ones at the beginning
// of a word. `strict`: if a meeting is spoken of, the title must say so as well.
enum class Strict { no, yes };
bool may_be(EventWords const& words, std::string_view title, Strict strict);

// What a new event is called, and where it takes place.
struct EventName {
  std::string title;
  std::string location;
};
EventName to_event_name(OfflineText const& words);

// Whether the words have a noun for something that stands in calendars, such as "lunch" or 例会.
bool has_event_noun(std::string_view lower);

}  // namespace runnel::model
