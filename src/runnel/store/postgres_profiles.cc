#include "runnel/store/postgres_profiles.h"

#include "runnel/store/postgres_rows.h"

namespace runnel::store::postgres {

namespace {

constexpr char kPutProfile[] = R"sql(
INSERT INTO profiles(user_id, username, bio, settings, country, updated_at)
SELECT id, $2, $3, $4::text::jsonb, $5, $6 FROM users WHERE id = $1
ON CONFLICT (user_id) DO UPDATE SET username = excluded.username, bio = excluded.bio, settings = excluded.settings,
  country = excluded.country, updated_at = excluded.updated_at
RETURNING user_id)sql";

constexpr char kProfile[] =
    "SELECT username, bio, settings, country, updated_at FROM profiles WHERE user_id = $1";

}  // namespace

Statement put_profile_statement(UserId const& user, ProfileRow const& profile) {
  return Statement{kPutProfile,       user.text,        profile.username,
                   profile.bio,       profile.settings, unless_empty(profile.country),
                   profile.updated_at};
}

Result<void> to_put_profile(Rows const& rows) {
  if (rows.size() == 0) return Error{Errc::not_found, "a profile of a user who does not exist"};
  return {};
}

Statement profile_statement(UserId const& user) {
  return Statement{kProfile, user.text};
}

Result<std::optional<ProfileRow>> to_profile(Rows const& rows) {
  if (rows.size() == 0) return std::nullopt;
  ProfileRow profile;
  profile.username = rows.text(0, 0);
  profile.bio = rows.text(0, 1);
  if (!rows.is_null(0, 2)) profile.settings = rows.text(0, 2);
  profile.country = rows.text(0, 3);
  profile.updated_at = rows.integer(0, 4);
  return profile;
}

}  // namespace runnel::store::postgres
