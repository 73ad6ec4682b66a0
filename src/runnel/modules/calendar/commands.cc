#include "runnel/modules/calendar/commands.h"

#include <array>

namespace runnel::modules::calendar {

namespace {

constexpr std::array kMethods{
    CommandMethod{"create", "adds an event to the user's calendar"},
    CommandMethod{"read", "shows a day, a range of time or one event"},
};

}  // namespace

CommandModule commands() {
  return {"calendar", "the user's events", kMethods};
}

}  // namespace runnel::modules::calendar
