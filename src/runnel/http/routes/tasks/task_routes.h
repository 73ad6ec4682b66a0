#pragma once

#include <cstddef>
#include <memory>

#include "runnel/api/router.h"
#include "runnel/http/routes/run_feed.h"
#include "runnel/http/routes/tasks/live_task.h"
#include "runnel/runtime/lifecycle/service.h"

namespace runnel::http {

// openapi.json: the part of the OpenAPI document that describes these routes.
std::string_view tasks_openapi_part();

// The dialect tasks: runs as tasks that are started with a text, and polled or followed on a WebSocket
// (TASK-1 to TASK-7). `live` is stopped before the server is.
void add_task_routes(api::Router& router, runtime::Service& service, FeedParts feed,
                     std::shared_ptr<LiveTasks> live, std::size_t message_bytes);

}  // namespace runnel::http
