#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::modules::profile {

struct Row {
  std::string username;
  std::string bio;
  std::optional<std::string> settings;  // A JSON object. Empty for all defaults.
  std::string country;                  // From the settings. Empty if unknown. New threads keep it (USE-7).
  std::int64_t updated_at = 0;          // UNIX milliseconds.
};

// The profile that is frozen with a run of the user $1, and the user's country: see store::AdmitRequest.
inline constexpr char kFrozenProfile[] = R"sql(
SELECT '{"username":' || json_quote(CAST(username AS text)) ||
       ',"bio":' || json_quote(CAST(bio AS text)) ||
       ',"settings":' || coalesce(CAST(settings AS text), 'null') || '}', country
FROM profiles WHERE user_id = $1)sql";

class Repository {
 public:
  explicit Repository(store::Sql& sql) : sql_{&sql} {}

  // Replaces the user's whole profile. A token alone does not create a user, so this also creates the user if
  // needed. `invalid` if the settings are not a JSON object, or if the country does not have two letters.
  store::Async<void> put(UserId user, Row row);

  // Empty if the user has not stored a profile.
  store::Async<std::optional<Row>> find(UserId user);

 private:
  store::Sql* sql_;
};

}  // namespace runnel::modules::profile
