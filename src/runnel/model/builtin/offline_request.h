#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/model/builtin/offline_dates.h"
#include "runnel/model/builtin/offline_event_words.h"
#include "runnel/model/builtin/offline_note.h"

// What a user asks for, as far as rules can tell.
namespace runnel::model {

enum class Ask {
  nothing,  // Nothing that needs a tool.
  create_event,
  read_events,
  find_event,  // When an event is.
  read_invites,
  move_event,
  delete_event,
  share_event,
  accept_invite,
  reject_invite,
  find_contact,
  remember,
  recall
};

// What keeps a request from being done, so that the user is asked for it.
enum class Missing {
  nothing,
  time,
  title,
  event,
  person,
  possible_time,  // The time does not exist.
  one_time,       // There is more than one.
  time_to_come,   // The time has passed.
  no_secret
};

struct Request {
  Ask ask = Ask::nothing;
  Missing missing = Missing::nothing;
  bool chinese = false;                       // The language of the answer.
  When when;                                  // Of the event, or what is to be read.
  When target;                                // Where it is moved to.
  std::optional<std::int64_t> shift_minutes;  // By how much it is moved.
  EventName name;                             // Of a new event.
  EventWords words;                           // Which event, or which invitation.
  std::string person;
  Note note;
};

// The same words at the same moment are always understood alike. A change is asked for only by a command, or
// by the plain mention of an event to come; not by a question, a condition, a negation, or a report.
Request understand(std::string const& words, Moment const& moment);

}  // namespace runnel::model
