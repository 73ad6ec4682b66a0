#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "runnel/api/message.h"
#include "runnel/core/error.h"
#include "runnel/http/routes/run_feed.h"
#include "runnel/http/routes/tasks/task_events.h"
#include "runnel/store/rows.h"

namespace runnel::http {

// The status of a task: `running` until its run has ended (TASK-2).
std::string_view task_status(store::RunStatus status);

// What a poll is answered with.
struct TaskAnswer {
  std::string_view task;
  std::string_view conversation;
  std::string_view status;
  std::string_view elements;  // The events, separated by commas.
  std::int64_t first_idx = 0;
  std::int64_t next_idx = 0;
};

api::Response task_response(TaskAnswer const& answer);

// The kept events of the run from `from` on, up to the end of its log, read from the store. None if the log
// has expired or cannot be read. A large page is turned into events in the pool, one page of a user at a
// time.
boost::asio::awaitable<Result<TaskEvents>> read_task_events(FeedParts parts, UserId user,
                                                            store::RunRow const* run, std::int64_t from);

}  // namespace runnel::http
