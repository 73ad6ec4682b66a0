#pragma once

#include <memory>

#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/http/authenticator.h"
#include "runnel/http/router.h"
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
};

// Every route of the server in dev mode, held to the OpenAPI document.
http::Router make_router(RouteParts const& parts);

}  // namespace runnel::app
