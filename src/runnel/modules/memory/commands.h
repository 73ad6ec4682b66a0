#pragma once

#include "runnel/core/command_module.h"

namespace runnel::modules::memory {

// The methods of memory in project_cli.
CommandModule commands();

}  // namespace runnel::modules::memory
