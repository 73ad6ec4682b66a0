#pragma once

#include <optional>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/store/postgres_connection.h"
#include "runnel/store/rows.h"

// Profiles (FLOW-5), between their record and what travels to and from PostgreSQL.
namespace runnel::store::postgres {

Statement put_profile_statement(UserId const& user, ProfileRow const& profile);
Result<void> to_put_profile(Rows const& rows);  // `not_found` where there is no such user.

Statement profile_statement(UserId const& user);
Result<std::optional<ProfileRow>> to_profile(Rows const& rows);

}  // namespace runnel::store::postgres
