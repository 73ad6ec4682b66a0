#pragma once

#include <vector>

#include "runnel/core/card/card.h"

namespace runnel::modules::calendar {

// The cards of the calendar's methods (TOOL-8). They are made from
// {"outcome","count","events":[…],"failed"?:[{"message"}…]}. The outcome is "shown", "invites", "created",
// "updated", "deleted", "shared", "accepted" or "rejected", and the events are the first of `count`. An event
// has its title and span as event_json.h writes them, and what is known of: "location", "rrule", "organizer",
// "invite_status", "guests":[{"user_id","status"}…] and "conflicts":[{"title","start_at","end_at"}…].
std::vector<CardForm> card_forms();

}  // namespace runnel::modules::calendar
