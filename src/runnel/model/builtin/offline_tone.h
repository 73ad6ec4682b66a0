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

// Whether it asks what a thing is or how it is done, and not about the user's own data.
bool asks_for_meaning(std::string_view lower);

}  // namespace runnel::model
