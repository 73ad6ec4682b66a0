#pragma once

#include "runnel/api/router.h"
#include "runnel/modules/module.h"

namespace runnel::modules::calendar {

// /api/v1/calendar: the caller's events and invitations, for apps. Where an input names no time zone, it is
// UTC.
void add_calendar_routes(api::Router& router, Context const& context);

}  // namespace runnel::modules::calendar
