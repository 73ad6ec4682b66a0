#include "runnel/modules/calendar/commands.h"

#include <array>

namespace runnel::modules::calendar {

namespace {

constexpr std::array kMethods{
    CommandMethod{"create", "adds events to the user's calendar"},
    CommandMethod{"read", "shows a day, a range of time, one event or the open invitations"},
    CommandMethod{"update", "changes or moves events"},
    CommandMethod{"delete", "deletes events"},
    CommandMethod{"share", "invites other users to an event"},
    CommandMethod{"accept_invite", "accepts an invitation"},
    CommandMethod{"reject_invite", "rejects an invitation"},
};

}  // namespace

CommandModule commands() {
  return {"calendar", "the user's events and invitations", kMethods};
}

}  // namespace runnel::modules::calendar
