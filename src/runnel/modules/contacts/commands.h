#pragma once

#include "runnel/core/command_module.h"

namespace runnel::modules::contacts {

// The methods of contacts in project_cli.
CommandModule commands();

}  // namespace runnel::modules::contacts
