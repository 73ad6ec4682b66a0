#include "runnel/http/routes/run_lookup.h"

#include <utility>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"

namespace runnel::http {

namespace asio = boost::asio;

api::Response no_such_run() {
  return api::problem(404, "NOT_FOUND", "You have no such run on this thread.");
}

api::Response run_id_missing() {
  return api::problem(400, "RUN_ID_REQUIRED",
                      "The query parameter 'runId' is required: ?runId=…, with the runId from the answer "
                      "that started the run.");
}

api::Response events_expired(store::RunRow const& run) {
  std::string details;
  JsonObject{details}
      .text("historyUrl", "/api/v1/agent/history?threadId=" + api::encode_component(run.thread_id.text))
      .close();
  return api::problem(410, "EVENTS_EXPIRED",
                      "The events of this run are no longer kept; its messages are at details.historyUrl.",
                      details);
}

asio::awaitable<std::variant<NamedRun, api::Response>> find_run(store::Store* store,
                                                                api::Request const* request) {
  auto const run_id = request->query("runId");
  if (!run_id) co_return run_id_missing();
  auto found =
      co_await find_named_run(*store, request->user, ThreadId{request->param("thread_id")}, RunId{*run_id});
  if (!found) co_return api::problem_from(found.error(), request->request_id);
  if (!*found) co_return no_such_run();
  co_return std::move(**found);
}

}  // namespace runnel::http
