#pragma once

#include "runnel/model/builtin/offline_request.h"
#include "runnel/model/builtin/offline_tone.h"

// The rules by which the offline model understands a sentence. Each returns whether it asks for that, and
// then fills in the request.
namespace runnel::model {

struct Sentence {
  Sentence(OfflineText all_words, Moment const& at_moment);

  OfflineText words;   // All of them.
  Politeness command;  // What may be a command.
  Tone tone;           // Of the command.
  Moment const& moment;
  When when;  // The time in the command.

  [[nodiscard]] bool may_command() const { return tone.commands(command.polite); }
  [[nodiscard]] std::string_view lower() const { return command.words.lower; }
};

bool asks_to_recall(Sentence const& sentence, Request& request);
bool asks_to_remember(Sentence const& sentence, Request& request);
bool asks_about_invites(Sentence const& sentence, Request& request);
bool asks_to_share(Sentence const& sentence, Request& request);
bool asks_to_move(Sentence const& sentence, Request& request);
bool asks_to_delete(Sentence const& sentence, Request& request);
bool asks_for_contact(Sentence const& sentence, Request& request);
bool asks_to_read(Sentence const& sentence, Request& request);
bool asks_to_create(Sentence const& sentence, Request& request);

}  // namespace runnel::model
