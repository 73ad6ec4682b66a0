#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runnel/api/body_check.h"
#include "runnel/api/openapi_document.h"
#include "runnel/api/problem.h"
#include "runnel/api/testing/run_handler.h"
#include "runnel/base/testing/chosen_clock.h"
#include "runnel/core/json/parse.h"
#include "runnel/modules/module.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/testing/sqlite_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules {

// A module with its own SQLite database. Requests reach it through its routes, as in the server.
class ModuleUnderTest {
 public:
  explicit ModuleUnderTest(Definition definition, std::int64_t storage_bytes_per_user = 0)
      : definition_{std::move(definition)},
        storage_bytes_per_user_{storage_bytes_per_user},
        router_{std::make_shared<api::OpenApiContract const>(api::assemble_openapi({definition_.openapi}))},
        database_{open()},
        module_{make()} {
    module_->add_routes(router_);
  }

  api::Response ask(api::Method method, std::string const& path, std::string body = {},
                    std::string user = "ann", std::int64_t token_expires_at = 0) {
    api::Request request;
    request.method = method;
    request.path = path;
    request.user = UserId{std::move(user)};
    request.token_expires_at = token_expires_at;
    request.body = std::move(body);
    return ask(std::move(request));
  }

  // The path may have a query. If it has a secret, the request becomes one of the secret's user, and an
  // unknown secret is answered with 404.
  api::Response ask(api::Request request) {
    auto const target = api::parse_target(request.path).value();
    auto const match = router_.match(request.method, target.path);
    auto const& found = std::get<api::Router::Found>(match);
    request.path = target.path;
    request.query_items = target.query_items;
    request.params = found.params;
    if (found.route->access == api::Access::path_secret) {
      auto owner = run_async(found.route->options.owner_of(found.params));
      if (!owner) return api::problem_from(owner.error(), "");
      request.user = std::move(*owner);
    } else {
      EXPECT_EQ(found.route->access, api::Access::user);
    }
    auto refusal = api::take_body(*found.route->operation, {}, request, found.route->options.values);
    if (refusal) return std::move(*refusal);
    return std::get<api::Response>(api::run_handler(found.route->handler(std::move(request))));
  }

  // Opens the same database again, as another process or a restart would.
  [[nodiscard]] std::unique_ptr<store::Database> open() const {
    store::SqliteOptions options;
    options.path = path();
    options.module_migrations = definition_.migrations;
    return store::open_sqlite(std::move(options)).value();
  }
  [[nodiscard]] std::string path() const { return folder_.file("runnel.db"); }

  store::Database& database() { return *database_; }
  Module& module() { return *module_; }
  base::Cores& cores() { return cores_; }
  base::ChosenClock& clock() { return clock_; }

 private:
  std::unique_ptr<Module> make() {
    return definition_.make({*database_, clock_, cores_, storage_bytes_per_user_});
  }

  Definition definition_;
  std::int64_t storage_bytes_per_user_;
  store::TemporaryFolder folder_;
  base::ChosenClock clock_;
  base::Cores cores_{1};  // Started by a test that needs it.
  api::Router router_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<Module> module_;
};

}  // namespace runnel::modules
