#include "runnel/http/profile_routes.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/json_schema.h"
#include "runnel/base/log.h"
#include "runnel/core/profile.h"
#include "runnel/http/body_check.h"
#include "runnel/http/problem.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

struct ProfileRoutes {
  store::Store& store;
  base::Clock const& clock;
  bool keep_version;
};

// A stored value that is no longer valid must not lock its user out: the default stands in for it.
Profile read_row(store::ProfileRow const& row, std::string const& request_id) {
  Profile profile;
  profile.username = row.username;
  profile.bio = row.bio;
  auto reading = read_stored_settings(row.settings.value_or(""));
  for (auto const& [path, what] : reading.problems) {
    base::log(base::LogLevel::warn, "stored profile has a bad value",
              {{"request_id", request_id}, {"path", "/settings" + path}, {"problem", what}});
  }
  profile.settings = std::move(reading.settings);
  return profile;
}

Response shown(std::optional<store::ProfileRow> const& row, bool keep_version,
               std::string const& request_id) {
  auto profile = row ? read_row(*row, request_id) : Profile{};
  return json_response(200, to_json(upgrade(std::move(profile), keep_version)));
}

store::ProfileRow row_of(Profile const& profile, std::int64_t now) {
  store::ProfileRow row;
  row.username = profile.username;
  row.bio = profile.bio;
  row.settings = to_json(profile.settings);
  row.country = profile.settings.preferences.country;
  row.updated_at = now;
  return row;
}

std::vector<base::Violation> violations_in(std::string_view body) {
  std::vector<base::Violation> violations;
  for (auto& [path, what] : read_profile_strictly(body).problems)
    violations.push_back({std::move(path), std::move(what)});
  return violations;
}

asio::awaitable<Reply> show_profile(ProfileRoutes routes, Request request) {
  auto const row = co_await routes.store.profile(request.user);
  if (!row) co_return problem_from(row.error(), request.request_id);
  co_return shown(*row, routes.keep_version, request.request_id);
}

asio::awaitable<Reply> replace_profile(ProfileRoutes routes, Request request) {
  auto const profile = upgrade(read_profile_strictly(request.body).profile, routes.keep_version);

  // A token alone makes nobody a user; whoever writes becomes one.
  auto const now = routes.clock.now_ms();
  auto const user = co_await routes.store.ensure_user(request.user, now);
  if (!user) co_return problem_from(user.error(), request.request_id);
  auto row = row_of(profile, now);
  auto const stored = co_await routes.store.put_profile(request.user, std::move(row));
  if (!stored) co_return problem_from(stored.error(), request.request_id);
  co_return json_response(200, to_json(profile));
}

}  // namespace

void add_profile_routes(Router& router, store::Store& store, base::Clock const& clock,
                        ProfileUpgrade upgrade) {
  ProfileRoutes const routes{store, clock, upgrade == ProfileUpgrade::deferred};
  std::string const path = "/api/v1/profile";
  router.add(Method::get, path, Access::user,
             [routes](Request request) { return show_profile(routes, std::move(request)); });
  router.add(Method::put, path, Access::user,
             [routes](Request request) { return replace_profile(routes, std::move(request)); },
             {.values = &violations_in});
}

}  // namespace runnel::http
