#pragma once

#include "runnel/modules/module.h"

namespace runnel::modules::calendar {

// The user's events, and the events of others to which the user is invited. Apps reach them under
// /api/v1/calendar, models through the methods of calendar.
Definition define();

}  // namespace runnel::modules::calendar
