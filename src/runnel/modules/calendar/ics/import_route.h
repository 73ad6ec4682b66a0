#pragma once

#include "runnel/api/router.h"
#include "runnel/base/fair_pool.h"
#include "runnel/modules/module.h"

namespace runnel::modules::calendar {

// /api/v1/calendar/import. The pool, whose keys are users, reads the file; it outlives the route.
void add_import_route(api::Router& router, Context const& context, base::FairPool& pool);

}  // namespace runnel::modules::calendar
