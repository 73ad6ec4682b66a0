#pragma once

#include "runnel/base/clock.h"
#include "runnel/http/router.h"
#include "runnel/store/store.h"

namespace runnel::http {

// What a profile's settings are written as (FLOW-5).
enum class ProfileUpgrade {
  on_write,  // The newest version.
  deferred,  // The version that they were sent with.
};

// GET and PUT /api/v1/profile: the caller's own profile.
void add_profile_routes(Router& router, store::Store& store, base::Clock const& clock,
                        ProfileUpgrade upgrade);

}  // namespace runnel::http
