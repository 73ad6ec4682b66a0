#pragma once

#include <string>

#include "runnel/core/ids.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// The part of the user's profile that a run keeps, as it was when the run was admitted (FLOW-6). Empty if no
// profile is stored.
struct FrozenProfile {
  std::string document;  // JSON, for read_stored_profile().
  std::string country;   // ISO 3166-1 alpha-2; a new thread keeps it (USE-7).
};

// The source of the users' profiles. May be called on any thread.
class UserProfiles {
 public:
  UserProfiles() = default;
  UserProfiles(UserProfiles const&) = delete;
  UserProfiles& operator=(UserProfiles const&) = delete;
  virtual ~UserProfiles() = default;

  virtual store::Async<FrozenProfile> freeze(UserId user) = 0;
};

}  // namespace runnel::runtime
