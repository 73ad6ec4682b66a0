#include "runnel/app/routes.h"

#include "runnel/app/listings.h"
#include "runnel/app/serve.h"
#include "runnel/http/auth/auth_routes.h"
#include "runnel/http/routes/approval_routes.h"
#include "runnel/http/routes/openapi.h"
#include "runnel/http/routes/run_routes.h"
#include "runnel/http/routes/server/health_routes.h"
#include "runnel/http/routes/server/index_page.h"
#include "runnel/http/routes/server/metrics_route.h"
#include "runnel/http/routes/server/static_files.h"
#include "runnel/http/routes/stage_routes.h"
#include "runnel/http/routes/tasks/task_routes.h"
#include "runnel/http/routes/threads/thread_event_routes.h"
#include "runnel/http/routes/threads/thread_routes.h"
#include "runnel/http/routes/usage_routes.h"

namespace runnel::app {
namespace {

boost::asio::awaitable<http::Checks> readiness(SharedProbe* store, runtime::Service* service) {
  auto const writable = co_await store->ask();
  http::Checks checks;
  checks.emplace_back("store", writable.has_value());
  checks.emplace_back("accepting", !service->draining());
  co_return checks;
}

Result<void> add_page(api::Router& router, std::string const& folder) {
  if (folder.empty()) {
    http::add_index_page(router);
    return {};
  }
  auto files = http::StaticFiles::open(folder);
  if (!files) return files.error();
  http::add_static_files(router, std::move(*files));
  return {};
}

void add_metrics(api::Router& router, RouteParts const& parts, std::string const& who) {
  if (who == "off") return;
  http::add_metrics_route(router, parts.metrics, parts.scraping,
                          who == "user" ? api::Access::user : api::Access::open);
}

}  // namespace

Result<api::Router> make_router(Settings const& settings, RouteParts const& parts) {
  auto document = parts.modules.openapi();
  api::Router router{std::make_shared<api::OpenApiContract const>(document)};
  auto const page = add_page(router, settings.static_dir);
  if (!page) return page.error();
  http::add_openapi_route(router, std::move(document));
  http::add_health_routes(
      router, [probe = &parts.probe, service = &parts.service] { return readiness(probe, service); });
  add_metrics(router, parts, settings.metrics);
  if (is_dev_mode(settings))
    http::add_dev_token_route(router, parts.authenticator, parts.clock, parts.dev_secret);
  http::FeedParts const feed{parts.store, parts.hub, parts.cores, parts.replaying};
  http::ThreadFeedParts const threads{feed, parts.store};
  http::add_run_routes(router, parts.service, parts.clock, threads,
                       static_cast<std::size_t>(settings.message_limit_bytes));
  http::add_thread_event_routes(router, threads);
  http::add_task_routes(router, parts.service, feed, parts.live_tasks,
                        static_cast<std::size_t>(settings.message_limit_bytes));
  http::add_approval_routes(router, parts.service, parts.clock);
  http::add_stages_route(router, parts.store, parts.replaying);
  http::add_thread_routes(router, parts.store, parts.clock,
                          {static_cast<std::size_t>(settings.history_page_bytes),
                           [service = &parts.service, hub = &parts.hub](ThreadKey thread) {
                             service->sweep_soon();
                             hub->threads().tell(thread);
                           }});
  http::add_usage_route(router, parts.store);
  http::add_listing_routes(
      router, make_listings(parts.flows, parts.models, list_methods(parts.modules.methods(), parts.custom)));
  parts.modules.add_routes(router);
  return router;
}

}  // namespace runnel::app
