#include "runnel/http/routes/tasks/task_answers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runnel/base/log/log.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/core/json/write.h"
#include "runnel/http/routes/tasks/log_place.h"
#include "runnel/protocol/wires.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kEventPage = std::size_t{64} * 1024;

// The events from `from` on of the next rows of a log. `after` is moved to their end.
Result<stream::SharedFrames> encode_rows(stream::Encoding const& encoding, RunNames const& names,
                                         std::vector<store::LogRow> const& rows, std::int64_t from,
                                         Position& after) {
  auto const wire = protocol::tasks_wire(protocol::Transport::poll);
  stream::Frames page;
  for (auto const& row : rows) {
    auto const records = parse_log_body(row.body, row.epoch);
    if (!records) return records.error();
    for (auto const& record : *records) {
      if (record.position.n <= after.n) continue;
      after = record.position;
      if (record.idx >= from) page.add(encoding, wire, names, record);
    }
  }
  return stream::share(std::move(page));
}

}  // namespace

std::string_view task_status(store::RunStatus status) {
  return store::is_ended(status) ? to_string(status) : "running";
}

api::Response task_response(TaskAnswer const& answer) {
  std::string body;
  body.reserve(answer.elements.size() + 256);
  JsonObject object{body};
  object.text("task_id", answer.task).text("conversation_id", answer.conversation);
  object.text("status", answer.status);
  object.key("events").append("[").append(answer.elements).append("]");
  object.number("next_offset", answer.next_idx).number("first_offset", answer.first_idx).close();
  return api::json_response(200, std::move(body));
}

asio::awaitable<Result<TaskEvents>> read_task_events(FeedParts parts, UserId user, store::RunRow const* run,
                                                     std::int64_t from) {
  auto const begin = std::clamp(from, oldest_kept(run->next_idx), run->next_idx);
  TaskEvents events{begin};
  if (run->log_expired) co_return TaskEvents{run->next_idx};
  Position after;
  if (begin > 0) {
    auto const place = co_await parts.store.place_of_idx(run->key, begin);
    if (!place) co_return place.error();
    after = place->after;
  }
  RunNames const names{run->thread_id, run->id};
  for (;;) {
    auto const rows = co_await parts.store.read_log(run->key, after.n, kEventPage);
    if (!rows) co_return rows.error();
    // Shorter than the run's row says: the log has expired meanwhile.
    if (rows->empty() && events.next_idx() < run->next_idx) co_return TaskEvents{run->next_idx};
    if (rows->empty()) co_return std::move(events);
    auto const encode = [&] { return encode_rows(parts.hub.encoding(), names, *rows, begin, after); };
    Result<stream::SharedFrames> page;
    if (are_small(*rows)) {
      page = encode();
    } else {
      page = co_await parts.replaying.run<stream::SharedFrames>(user.text, encode);
    }
    if (!page && page.error().code != Errc::unavailable) {
      base::log(
          base::LogLevel::error, "log row is unreadable",
          {{"run_id", names.run.text}, {"thread_id", names.thread.text}, {"detail", page.error().detail}});
      co_return TaskEvents{run->next_idx};
    }
    if (!page) co_return page.error();
    events.add(std::move(*page));
  }
}

}  // namespace runnel::http
