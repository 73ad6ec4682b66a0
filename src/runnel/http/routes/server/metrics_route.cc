#include "runnel/http/routes/server/metrics_route.h"

#include <utility>

#include "runnel/api/problem.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

api::Response page(std::string text) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", std::move(text), {{"Cache-Control", "no-store"}}};
}

asio::awaitable<api::Reply> show_metrics(base::Metrics const* metrics, base::BlockingPool* pool,
                                         std::string request_id) {
  auto text = co_await pool->run<std::string>(
      [metrics](std::size_t) -> Result<std::string> { return metrics->text(); });
  if (!text) co_return api::problem_from(text.error(), request_id);
  co_return page(std::move(*text));
}

}  // namespace

void add_metrics_route(api::Router& router, base::Metrics const& metrics, base::BlockingPool& pool,
                       api::Access access) {
  router.add(api::Method::get, "/metrics", access, [&metrics, &pool](api::Request request) {
    return show_metrics(&metrics, &pool, request.request_id);
  });
}

}  // namespace runnel::http
