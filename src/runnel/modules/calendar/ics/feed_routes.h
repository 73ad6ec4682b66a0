#pragma once

#include "runnel/api/router.h"
#include "runnel/base/fair_pool.h"
#include "runnel/modules/module.h"

namespace runnel::modules::calendar {

// /api/v1/calendar/feed: the caller's feed. /api/v1/calendar/feeds/{feed}: what it has, for everybody who
// knows its address. The pool, whose keys are users, makes the text; it outlives the routes.
void add_feed_routes(api::Router& router, Context const& context, base::FairPool& pool);

}  // namespace runnel::modules::calendar
