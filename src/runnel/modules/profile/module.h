#pragma once

#include "runnel/modules/module.h"

namespace runnel::modules::profile {

// The version in which a profile's settings are written (FLOW-5).
enum class Upgrade {
  on_write,  // The newest version.
  deferred,  // The version in which they were sent.
};

// Who the user is, and the user's languages, time zone and country: /api/v1/profile.
Definition define(Upgrade upgrade);

}  // namespace runnel::modules::profile
