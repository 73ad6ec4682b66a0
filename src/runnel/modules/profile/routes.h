#pragma once

#include "runnel/api/router.h"
#include "runnel/base/clock.h"
#include "runnel/modules/profile/module.h"
#include "runnel/modules/profile/repository.h"

namespace runnel::modules::profile {

// GET and PUT /api/v1/profile: the caller's own profile.
void add_profile_routes(api::Router& router, Repository repository, base::Clock const& clock,
                        Upgrade upgrade);

}  // namespace runnel::modules::profile
