#pragma once

#include <string_view>

#include "runnel/model/builtin/offline_text.h"

// How a sentence is meant: as a command, a question or a report.
namespace runnel::model {

// What stands before a command, such as "could you please" and 请帮我. `polite` stays true if something was
// there before.
struct Politeness {
  OfflineText words;  // The rest.
  bool polite = false;
};
Politeness without_politeness(OfflineText const& words);

struct Tone {
  bool asks = false;       // For information: "when", 什么.
  bool yes_or_no = false;  // A question that "yes" answers.
  bool unreal = false;     // A negation, a condition, or what somebody else has said.
  bool done = false;       // It tells of what has happened.

  // Whether it may be a command.
  [[nodiscard]] bool commands(bool polite) const { return !asks && !unreal && (!yes_or_no || polite); }
};
Tone tone_of(std::string_view lower);

// Whether it tells of an event: how it was, or what became of it or may become of it. "The meeting at 3 pm
// went well", 早上九点的会很无聊, 明天三点的会延期. The words have no time in them.
bool tells_of_event(std::string_view lower);

// Whether "remind me" behind these words is asked for by the user: behind nothing, an event or a word such as
// 请. 王伟提醒我 is a report.
bool may_ask_behind(std::string_view before);

// Whether it has a past tense such as "went".
bool has_past_tense(std::string_view lower);

// Whether it begins like an indirect question: "when we met".
bool begins_question(std::string_view lower);

// Whether it asks what a thing is or how it is done, and not about the user's own data.
bool asks_for_meaning(std::string_view lower);

}  // namespace runnel::model
