#pragma once

#include "runnel/core/command_module.h"

namespace runnel::modules::skills {

// The methods of skills in project_cli.
CommandModule commands();

}  // namespace runnel::modules::skills
