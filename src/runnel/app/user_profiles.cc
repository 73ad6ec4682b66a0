#include "runnel/app/user_profiles.h"

#include <utility>

#include "runnel/core/json/write.h"

namespace runnel::app {

namespace {

runtime::FrozenProfile to_frozen(modules::profile::Row const& row) {
  runtime::FrozenProfile frozen;
  JsonObject document{frozen.document};
  document.text("username", row.username)
      .text("bio", row.bio)
      .raw("settings", row.settings.value_or("null"))
      .close();
  frozen.country = row.country;
  return frozen;
}

}  // namespace

store::Async<runtime::FrozenProfile> StoredProfiles::freeze(UserId user) {
  auto const row = co_await repository_.find(std::move(user));
  if (!row) co_return row.error();
  if (!*row) co_return runtime::FrozenProfile{};
  co_return to_frozen(**row);
}

}  // namespace runnel::app
