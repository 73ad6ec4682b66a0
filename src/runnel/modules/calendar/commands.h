#pragma once

#include "runnel/core/command_module.h"

namespace runnel::modules::calendar {

// The calendar's methods in project_cli.
CommandModule commands();

}  // namespace runnel::modules::calendar
