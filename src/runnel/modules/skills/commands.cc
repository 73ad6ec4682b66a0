#include "runnel/modules/skills/commands.h"

#include <array>

namespace runnel::modules::skills {

namespace {

constexpr std::array kMethods{
    CommandMethod{"read", "shows a skill, or one of its actions"},
};

}  // namespace

CommandModule commands() {
  return {"skills", "how the other modules are used", kMethods};
}

}  // namespace runnel::modules::skills
