#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <vector>

#include "runnel/core/json/write.h"
#include "runnel/modules/calendar/repository.h"

// An event as JSON, for models and for apps.
namespace runnel::modules::calendar {

// Appends {"event_id","title"}; "start_at" and "end_at" in UTC with milliseconds, or "all_day":true,
// "start_date" and "end_date", which is the last day; "timezone"; and those of "location", "description" and
// "reminders" that the event has. For a guest there are no reminders, which are the organizer's, but
// "organizer", "invite_id" and "invite_status". A series also has "rrule", and an occurrence of it
// "occurrence_start". The object stays open.
void append_event_fields(JsonObject& object, Event const& event);

// Appends what only the answer about one series has, if the event is one: its "exdates", if there are any,
// and "next_occurrences", the starts of at most kMostNext from now on.
inline constexpr std::size_t kMostNext = 5;
void append_series_details(JsonObject& object, Event const& event, std::int64_t now_ms);

// Appends what names the event to a user, the title and the span as above, except for what the input says
// itself: a result has nothing of its input (V2-2).
void append_event_name(JsonObject& object, Event const& event, boost::json::object const& input);

// Appends the "rrule" of a series, unless the input says it itself. An occurrence has none.
void append_rule(JsonObject& object, Event const& event, boost::json::object const& input);

// Appends [{"invite_id","user_id","status"}…].
void append_guests(std::string& out, std::vector<Guest> const& guests);

}  // namespace runnel::modules::calendar
