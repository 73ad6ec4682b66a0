#pragma once

#include <memory>
#include <vector>

#include "runnel/base/skills/skills.h"
#include "runnel/modules/method.h"

namespace runnel::modules::skills {

// The code of a failure of skills.read, besides kInvalidInput. Its message lists what there is.
inline constexpr char kNotFound[] = "NOT_FOUND";

// skills.read: {"skill","content","actions":[names]} of a card, or {"skill","action","content"} of an action.
// Names are looked up in `loaded` and never become paths (TOOL-11).
std::vector<Method> skill_methods(std::shared_ptr<base::Skills const> loaded);

}  // namespace runnel::modules::skills
