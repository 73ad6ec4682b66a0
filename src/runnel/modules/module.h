#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/api/router.h"
#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/core/card/card.h"
#include "runnel/core/command_module.h"
#include "runnel/core/ids.h"
#include "runnel/modules/method.h"
#include "runnel/store/migration.h"
#include "runnel/store/sql.h"

// A module is a feature with its own rows and routes, in its own folder: its schema, its repository, its part
// of the OpenAPI document, its routes and their tests. Modules do not know each other.
namespace runnel::modules {

// What every module may use. All of it outlives the module.
struct Context {
  store::Sql& sql;
  base::Clock const& clock;
  base::Cores& cores;
  std::int64_t storage_bytes_per_user = 0;  // 0 means no limit (HTTP-9).
};

// The user of a server in dev mode.
struct DemoUser {
  UserId user;
  std::string timezone;  // A name in the IANA database.
  std::int64_t now_ms = 0;
};

class Module {
 public:
  Module() = default;
  Module(Module const&) = delete;
  Module& operator=(Module const&) = delete;
  virtual ~Module() = default;

  // The handlers may be called until the module is destroyed.
  virtual void add_routes(api::Router& router) = 0;

  // What models can do with the module. They may be called until the module is destroyed.
  virtual std::vector<Method> methods() { return {}; }

  // Adds a few rows for a user, so that a new server in dev mode has something to show. Fails with `conflict`
  // if some of them are there already; then it may have added none.
  virtual store::Async<void> add_demo_data(DemoUser /*demo*/) { co_return Result<void>{}; }

  // Start and stop the module's background work, if it has any. start() is called when the server listens.
  // stop() is called when no request is left, before the cores stop. Neither is called from a core.
  virtual void start() {}
  virtual void stop() {}
};

// What a module's folder provides to app/modules.cc. `define()` returns it; it is declared in the folder's
// module.h, in the folder's namespace.
struct Definition {
  std::vector<store::Migration> migrations;
  // Its part of the OpenAPI document (api/openapi_document.h). By default, that of a module without routes.
  std::string_view openapi = R"({"paths":{}})";
  std::function<std::unique_ptr<Module>(Context const& context)> make;
  CommandModule commands{};       // The methods that models can call, by name. Empty if there are none.
  std::vector<CardForm> cards{};  // Of the methods whose results users are shown as cards (TOOL-8).
};

}  // namespace runnel::modules
