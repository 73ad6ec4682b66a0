#pragma once

#include "runnel/runtime/lifecycle/user_profiles.h"

namespace runnel::runtime {

// Every user has the same profile; by default, none is stored.
class SameProfile final : public UserProfiles {
 public:
  explicit SameProfile(FrozenProfile profile = {}) : profile_{std::move(profile)} {}
  store::Async<FrozenProfile> freeze(UserId /*user*/) override { co_return profile_; }

 private:
  FrozenProfile profile_;
};

}  // namespace runnel::runtime
