#pragma once

#include <memory>
#include <string>

#include "runnel/app/settings.h"
#include "runnel/app/shared_probe.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/base/fair_pool.h"
#include "runnel/base/metrics.h"
#include "runnel/http/authenticator.h"
#include "runnel/http/router.h"
#include "runnel/http/tickets.h"
#include "runnel/runtime/service.h"
#include "runnel/store/store.h"
#include "runnel/stream/hub.h"

namespace runnel::app {

// What the routes work with. All outlive the server.
struct RouteParts {
  base::Cores& cores;
  base::Clock const& clock;
  store::Store& store;
  stream::Hub& hub;
  runtime::Service& service;
  std::shared_ptr<http::Authenticator const> authenticator;
  std::string dev_secret;  // Empty: not dev mode.
  http::Tickets& tickets;
  SharedProbe& probe;
  base::Metrics const& metrics;
  base::BlockingPool& scraping;
  base::FairPool& replaying;
};

// Every route that the settings ask for, held to the OpenAPI document. Fails with `invalid` where the folder
// of files cannot be opened.
Result<http::Router> make_router(Settings const& settings, RouteParts const& parts);

}  // namespace runnel::app
