#pragma once

#include <memory>
#include <string>

#include "runnel/api/router.h"
#include "runnel/app/modules.h"
#include "runnel/app/settings/settings.h"
#include "runnel/app/shared_probe.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/base/fair_pool.h"
#include "runnel/base/metrics/metrics.h"
#include "runnel/flow/flow.h"
#include "runnel/http/auth/authenticator.h"
#include "runnel/http/routes/tasks/live_task.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/lifecycle/service.h"
#include "runnel/store/database.h"
#include "runnel/stream/hub.h"
#include "runnel/tools/custom/custom_module.h"

namespace runnel::app {

// What the routes work with. All of it must outlive the server.
struct RouteParts {
  base::Cores& cores;
  base::Clock const& clock;
  store::Database& store;
  stream::Hub& hub;
  runtime::Service& service;
  std::shared_ptr<http::Authenticator const> authenticator;
  std::string dev_secret;  // Empty if the server is not in dev mode.
  Modules& modules;
  tools::CustomModules const& custom;
  flow::Catalog const& flows;
  model::Registry const& models;
  SharedProbe& probe;
  base::Metrics const& metrics;
  base::BlockingPool& scraping;
  base::FairPool& replaying;
  std::shared_ptr<http::LiveTasks> live_tasks;
};

// A router with every route that the settings ask for, checked against the OpenAPI document. Fails with
// `invalid` if the folder of static files cannot be opened.
Result<api::Router> make_router(Settings const& settings, RouteParts const& parts);

}  // namespace runnel::app
