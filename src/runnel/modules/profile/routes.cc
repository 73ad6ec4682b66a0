#include "runnel/modules/profile/routes.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/api/body_check.h"
#include "runnel/api/problem.h"
#include "runnel/base/log/log.h"
#include "runnel/base/schema/json_schema.h"
#include "runnel/core/profile.h"

namespace runnel::modules::profile {

namespace asio = boost::asio;

namespace {

struct ProfileRoutes {
  Repository repository;
  base::Clock const& clock;
  bool keep_version;
};

// A stored value that is not valid must not lock its user out, so its default is used instead.
Profile read_row(Row const& row, std::string const& request_id) {
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

api::Response shown(std::optional<Row> const& row, bool keep_version, std::string const& request_id) {
  auto profile = row ? read_row(*row, request_id) : Profile{};
  return api::json_response(200, to_json(upgrade(std::move(profile), keep_version)));
}

Row row_of(Profile const& profile, std::int64_t now) {
  Row row;
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

asio::awaitable<api::Reply> show_profile(ProfileRoutes routes, api::Request request) {
  auto const row = co_await routes.repository.find(request.user);
  if (!row) co_return api::problem_from(row.error(), request.request_id);
  co_return shown(*row, routes.keep_version, request.request_id);
}

asio::awaitable<api::Reply> replace_profile(ProfileRoutes routes, api::Request request) {
  auto const profile = upgrade(read_profile_strictly(request.body).profile, routes.keep_version);

  auto row = row_of(profile, routes.clock.now_ms());
  auto const stored = co_await routes.repository.put(request.user, std::move(row));
  if (!stored) co_return api::problem_from(stored.error(), request.request_id);
  co_return api::json_response(200, to_json(profile));
}

}  // namespace

void add_profile_routes(api::Router& router, Repository repository, base::Clock const& clock,
                        Upgrade upgrade) {
  ProfileRoutes const routes{repository, clock, upgrade == Upgrade::deferred};
  std::string const path = "/api/v1/profile";
  router.add(api::Method::get, path, api::Access::user,
             [routes](api::Request request) { return show_profile(routes, std::move(request)); });
  router.add(api::Method::put, path, api::Access::user,
             [routes](api::Request request) { return replace_profile(routes, std::move(request)); },
             {.values = &violations_in});
}

}  // namespace runnel::modules::profile
