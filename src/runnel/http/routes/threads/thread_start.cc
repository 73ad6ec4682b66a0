#include "runnel/http/routes/threads/thread_start.h"

#include <utility>

namespace runnel::http {

namespace {

using Place = std::variant<ThreadPlace, BadEventId>;

Place no_such_epoch() {
  return BadEventId{"was not sent by any run of this thread"};
}

// The same rules as for the stream of one run, but a reader that has the whole run waits for the next one.
Place place_after(store::RunRow run, std::string const& cursor) {
  auto const point = resume_point(run, cursor);
  if (auto const* bad = std::get_if<BadEventId>(&point)) return *bad;
  if (std::holds_alternative<AlreadyComplete>(point)) return ThreadPlace::behind(run);
  if (std::holds_alternative<EventsExpired>(point)) {
    auto place = ThreadPlace::behind(run);
    place.expired = true;
    return place;
  }
  return ThreadPlace::within(std::move(run), std::get<ResumeAfter>(point).position);
}

store::Async<store::RunRow> read_run(store::Store& store, RunKey run) {
  auto found = co_await store.run_by_key(run);
  if (!found) co_return found.error();
  if (!*found) co_return Error{Errc::not_found, "the run is gone"};
  co_return std::move(**found);
}

Place place_without_cursor(store::RunRow run, ThreadFrom from) {
  if (run.log_expired) {
    auto place = ThreadPlace::behind(run);
    place.expired = from == ThreadFrom::newest;
    return place;
  }
  bool const shown = from == ThreadFrom::newest || !store::is_ended(run.status);
  return shown ? ThreadPlace::within(std::move(run), Position{}) : ThreadPlace::behind(run);
}

}  // namespace

ThreadPlace ThreadPlace::behind(store::RunRow const& run) {
  ThreadPlace place;
  place.after = run.epoch;
  place.read = run.key;
  return place;
}

ThreadPlace ThreadPlace::within(store::RunRow run, Position position) {
  auto place = behind(run);
  place.run = std::move(run);
  place.position = position;
  return place;
}

store::Async<Place> thread_place(ThreadReads reads, ThreadKey thread, ThreadFrom from,
                                 std::optional<std::string> last_event_id) {
  if (last_event_id) {
    auto const cursor = parse_position(*last_event_id);
    if (!cursor) co_return Place{BadEventId{"is not an event id"}};
    auto const key = co_await reads.runs.with_epoch(thread, cursor->epoch);
    if (!key) co_return key.error();
    if (!*key) co_return no_such_epoch();
    auto run = co_await read_run(reads.store, **key);
    if (!run) co_return run.error();
    co_return place_after(std::move(*run), *last_event_id);
  }
  if (from == ThreadFrom::start) co_return Place{ThreadPlace{}};
  auto const newest = co_await reads.runs.newest(thread);
  if (!newest) co_return newest.error();
  if (!*newest) co_return Place{ThreadPlace{}};
  auto run = co_await read_run(reads.store, (*newest)->key);
  if (!run) co_return run.error();
  co_return place_without_cursor(std::move(*run), from);
}

}  // namespace runnel::http
