#include "runnel/app/routes.h"

#include "runnel/http/auth_routes.h"
#include "runnel/http/health_routes.h"
#include "runnel/http/index_page.h"
#include "runnel/http/openapi.h"
#include "runnel/http/run_routes.h"
#include "runnel/http/thread_routes.h"
#include "runnel/protocol/encode.h"

namespace runnel::app {
namespace {

boost::asio::awaitable<http::Checks> readiness(store::Store* store, runtime::Service* service) {
  auto const writable = co_await store->probe();
  http::Checks checks;
  checks.emplace_back("store", writable.has_value());
  checks.emplace_back("accepting", !service->draining());
  co_return checks;
}

}  // namespace

http::Router make_router(RouteParts const& parts) {
  http::Router router{http::openapi_contract()};
  http::add_index_page(router);
  http::add_openapi_route(router);
  http::add_health_routes(
      router, [store = &parts.store, service = &parts.service] { return readiness(store, service); });
  http::add_dev_token_route(router, parts.authenticator, parts.clock);
  http::add_run_routes(router, parts.service, {parts.store, parts.hub, parts.cores, &protocol::encode_frame});
  http::add_thread_routes(router, parts.store, parts.clock);
  return router;
}

}  // namespace runnel::app
