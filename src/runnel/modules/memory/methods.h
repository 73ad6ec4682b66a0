#pragma once

#include <vector>

#include "runnel/modules/memory/repository.h"
#include "runnel/modules/method.h"

namespace runnel::modules::memory {

// memory.read: {"items":[{"kind","content"}…],"count"} of what was noted about the caller.
//
// memory.update: {"outcome":"updated"|"unchanged","fields":[…]} with the names of the fields that the memory
// has then; its effect is one statement, or none if nothing changes.
std::vector<Method> memory_methods(Repository repository);

}  // namespace runnel::modules::memory
