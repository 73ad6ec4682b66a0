#include "runnel/modules/memory/commands.h"

#include <array>

namespace runnel::modules::memory {

namespace {

constexpr std::array kMethods{
    CommandMethod{"read", "shows what was noted about the user"},
    CommandMethod{"update", "notes something about the user"},
};

}  // namespace

CommandModule commands() {
  return {"memory", "what was noted about the user", kMethods};
}

}  // namespace runnel::modules::memory
