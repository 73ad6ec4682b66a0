#pragma once

#include "runnel/modules/profile/repository.h"
#include "runnel/runtime/lifecycle/user_profiles.h"

namespace runnel::app {

// Gives runs the profiles that the profile module has stored.
class StoredProfiles final : public runtime::UserProfiles {
 public:
  explicit StoredProfiles(store::Sql& sql) : repository_{sql} {}

  store::Async<runtime::FrozenProfile> freeze(UserId user) override;

 private:
  modules::profile::Repository repository_;
};

}  // namespace runnel::app
