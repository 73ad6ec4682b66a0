#pragma once

#include <memory>

#include "runnel/base/skills/skills.h"
#include "runnel/modules/module.h"

namespace runnel::modules::skills {

// What models read about the other modules, with skills.read. It has no rows and no routes.
Definition define(std::shared_ptr<base::Skills const> loaded);

}  // namespace runnel::modules::skills
