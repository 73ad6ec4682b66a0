#pragma once

#include <string>
#include <vector>

#include "runnel/core/json/write.h"
#include "runnel/modules/calendar/repository.h"

// An event as JSON, for models and for apps.
namespace runnel::modules::calendar {

// Appends {"event_id","title"}; "start_at" and "end_at" in UTC with milliseconds, or "all_day":true,
// "start_date" and "end_date", which is the last day; "timezone"; and those of "location", "description" and
// "reminders" that the event has. For a guest also "organizer", "invite_id" and "invite_status". The object
// stays open.
void append_event_fields(JsonObject& object, Event const& event);

// Appends [{"invite_id","user_id","status"}…].
void append_guests(std::string& out, std::vector<Guest> const& guests);

}  // namespace runnel::modules::calendar
