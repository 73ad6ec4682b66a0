#include "runnel/http/routes/threads/thread_feed.h"

#include <utility>

#include "runnel/api/message.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/protocol/notices.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

FeedStep thread_step(FeedStep::Kind kind, stream::SharedFrames frames = nullptr) {
  return {kind, std::move(frames)};
}

}  // namespace

ThreadFeed::ThreadFeed(FeedParts parts, store::Sql& sql, UserId reader, store::ThreadRow const& thread,
                       ThreadPlace place, Wire wire)
    : parts_{parts},
      runs_{sql},
      user_{std::move(reader)},
      thread_{thread.key},
      wire_{wire},
      watch_{parts.hub.threads().watch(thread.key)},
      names_{thread.id, RunId{}},
      place_{std::move(place)} {
  if (!place_.run) return;
  names_.run = place_.run->id;
  run_ = std::make_unique<RunFeed>(parts_, user_, *place_.run, place_.position, wire_);
}

asio::awaitable<FeedStep> ThreadFeed::next(std::shared_ptr<stream::Subscriber> reader) {
  if (std::exchange(live_, false)) run_.reset();
  for (;;) {
    if (!run_) {
      watch_->clear();
      auto const opened = co_await open_next();
      if (!opened) co_return thread_step(FeedStep::Kind::reconnect);
      if (!*opened && watch_->wait(reader)) co_return thread_step(FeedStep::Kind::live);
      if (!*opened) continue;
    }
    if (auto ahead = std::exchange(ahead_, nullptr))
      co_return sent(thread_step(FeedStep::Kind::frames, std::move(ahead)));
    auto step = co_await run_->next(reader);
    // A reader that has the beginning of such a run must come back: clients of AG-UI take no second run
    // before the first has ended.
    bool const passes_over = run_->is_unreadable() && !has_begun_;
    if (step.kind != FeedStep::Kind::ended && !passes_over) co_return sent(std::move(step));
    place_.expired = passes_over;
    run_.reset();
  }
}

FeedStep ThreadFeed::sent(FeedStep step) {
  live_ = step.kind == FeedStep::Kind::live;
  has_begun_ = true;
  return step;
}

store::Async<bool> ThreadFeed::open_next() {
  for (;;) {
    auto const next = co_await runs_.next(thread_, place_.after, place_.read);
    if (!next) co_return next.error();
    if (!*next) break;
    auto row = co_await parts_.store.run_by_key((*next)->key);
    if (!row) co_return row.error();
    if (!*row) co_return Error{Errc::not_found, "the run is gone"};
    place_.expired = place_.expired || (*next)->expired_before;
    auto const opened = co_await open(std::move(**row));
    if (!opened) co_return opened.error();
    if (*opened) co_return true;
  }
  auto const there = co_await check_thread();
  if (!there) co_return there.error();
  co_return false;
}

store::Async<bool> ThreadFeed::open(store::RunRow run) {
  bool const expired = place_.expired;
  names_.run = run.id;
  place_ = ThreadPlace::behind(run);
  Position after;
  if (expired) {
    auto const told = co_await tell_expired(run.key);
    place_.expired = !told;
    if (!told && told.error().code == Errc::not_found) co_return false;
    if (!told) co_return told.error();
    after = *told;
  }
  run_ = std::make_unique<RunFeed>(parts_, user_, run, after, wire_);
  has_begun_ = false;
  co_return true;
}

// The first event has no id: a reader that is cut behind it is told again.
store::Async<Position> ThreadFeed::tell_expired(RunKey run) {
  auto const rows = co_await parts_.store.read_log(run, 0, 1);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return Error{Errc::not_found, "the run has no events"};
  auto const records = parse_log_body(rows->front().body, rows->front().epoch);
  if (!records) co_return Error{Errc::not_found, "the log can no longer be read"};
  auto const& first = records->front();
  stream::Frames frames;
  protocol::append_notice(wire_, names_, first.fact, first.time_us, frames.bytes);
  protocol::append_events_expired(
      wire_, names_, first.time_us,
      "/api/v1/agent/history?threadId=" + api::encode_component(names_.thread.text), frames.bytes);
  frames.ends.push_back(static_cast<std::uint32_t>(frames.bytes.size()));
  ahead_ = stream::share(std::move(frames));
  co_return first.position;
}

// A reader of a thread that was deleted must not wait forever.
store::Async<void> ThreadFeed::check_thread() {
  auto const row = co_await parts_.store.thread(user_, names_.thread);
  if (!row) co_return row.error();
  if (!*row || (*row)->key != thread_) co_return Error{Errc::not_found, "the thread is gone"};
  co_return Result<void>{};
}

}  // namespace runnel::http
