#pragma once

#include "runnel/modules/module.h"

namespace runnel::modules::calendar {

// The user's events. Models reach them through the methods calendar.create and calendar.read; there are no
// routes.
Definition define();

}  // namespace runnel::modules::calendar
