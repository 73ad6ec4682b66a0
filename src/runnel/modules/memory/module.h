#pragma once

#include "runnel/modules/module.h"

namespace runnel::modules::memory {

// What was noted about a user, as a person and at work. Models read and change it with memory.read and
// memory.update; apps show and correct it under /api/v1/memory. It is part of the prompts of the user's runs.
Definition define();

}  // namespace runnel::modules::memory
