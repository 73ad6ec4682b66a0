#include "runnel/http/request_account.h"

#include <string_view>

#include "runnel/api/router.h"
#include "runnel/base/log/log.h"
#include "runnel/core/ids.h"

namespace runnel::http {
namespace {

// How many bytes of a path a log line has at most.
constexpr std::size_t kLoggedPath = 512;

// Health checks and scrapes come every few seconds and would hide the other lines.
bool is_logged(std::string_view path, int status) {
  return status >= 500 || (path != "/healthz" && path != "/readyz" && path != "/metrics");
}

// The run that a request names, in the form that the routes under /agent/runs use.
RunNames run_named_by(api::Request const& request) {
  RunNames out;
  for (auto const& [name, value] : request.query_items) {
    if (name == "runId" && is_usable_id(value)) out.run = RunId{value};
  }
  for (auto const& [name, value] : request.params) {
    if (name == "thread_id" && is_usable_id(value)) out.thread = ThreadId{value};
  }
  return out;
}

}  // namespace

void RequestAccount::identify(api::Request const& request) {
  path = request.path;
  user = request.user.text;
  token_expires_at = request.token_expires_at;
  run = run_named_by(request);
  route = request.route;
}

void RequestAccount::answered(int status, RunNames const& about, HttpMetrics const& metrics) {
  if (!about.run.empty()) run = about;
  auto const took = std::chrono::steady_clock::now() - begun;
  (route != nullptr ? route->metrics : metrics.no_route).answered(status, took);

  if (!is_logged(path, status)) return;
  base::log(base::LogLevel::info, "request",
            {{"request_id", exchange.request_id},
             {"method", to_string(method)},
             {"path", std::string_view{path}.substr(0, kLoggedPath)},
             {"status", std::int64_t{status}},
             {"ms", std::int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(took).count()}},
             {"user", user},
             {"run_id", run.run.text},
             {"thread_id", run.thread.text}});
}

}  // namespace runnel::http
