#include "runnel/http/routes/run_feed.h"

#include <string>
#include <utility>
#include <vector>

#include "runnel/base/log/log.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/http/routes/resume_point.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

// Small, because each of a user's streams may hold a page for a slow reader.
constexpr std::size_t kPageBytes = std::size_t{64} * 1024;
// Rows up to this size are encoded on the reader's core.
constexpr std::size_t kEncodedHere = std::size_t{8} * 1024;

std::size_t size_of(std::vector<store::LogRow> const& rows) {
  std::size_t bytes = 0;
  for (auto const& row : rows)
    bytes += row.body.size();
  return bytes;
}

// How many times in a row neither the channel nor the store may have the next event before the reader is told
// to reconnect.
constexpr int kMostFruitless = 8;

FeedStep step(FeedStep::Kind kind, stream::SharedFrames frames = nullptr) {
  return {kind, std::move(frames)};
}

}  // namespace

RunFeed::RunFeed(FeedParts parts, UserId reader, store::RunRow const& run, Position after, Wire wire,
                 Until until)
    : parts_{parts},
      user_{std::move(reader)},
      run_{run.key},
      names_{run.thread_id, run.id},
      after_{after},
      wire_{wire},
      until_{until},
      ended_{store::is_ended(run.status)} {
  if (!ended_) channel_ = parts_.hub.open(run_, names_);
}

RunFeed::~RunFeed() {
  if (reader_ != 0) channel_->detach(reader_);
}

store::Async<void> RunFeed::read_ahead() {
  if (!ended_) co_return Result<void>{};
  auto page = co_await read_page();
  if (!page) co_return page.error();
  ahead_ = std::move(*page);
  co_return Result<void>{};
}

asio::awaitable<FeedStep> RunFeed::next(std::shared_ptr<stream::Subscriber> reader) {
  auto const ahead = std::exchange(ahead_, nullptr);
  if (ahead && !ahead->bytes.empty()) co_return step(FeedStep::Kind::frames, ahead);
  for (int fruitless = 0; !complete_; ++fruitless) {
    if (fruitless == kMostFruitless) co_return step(FeedStep::Kind::reconnect);
    if (!ended_) {
      reader_ = co_await channel_->attach(make_attach(reader));
      if (reader_ != 0) co_return step(FeedStep::Kind::live);
    }
    auto page = co_await read_page();
    unreadable_ = !page && page.error().code == Errc::not_found;
    if (!page) co_return step(FeedStep::Kind::reconnect);
    if (*page && !(*page)->bytes.empty()) co_return step(FeedStep::Kind::frames, std::move(*page));
  }
  co_return step(FeedStep::Kind::ended);
}

stream::Channel::Attach RunFeed::make_attach(std::shared_ptr<stream::Subscriber> reader) const {
  return {after_, wire_, parts_.cores.current(), std::move(reader), looked_, until_ == Until::pause};
}

// The frames of the log's next rows. If there are none, finds out whether the run has ended.
asio::awaitable<Result<stream::SharedFrames>> RunFeed::read_page() {
  auto rows = co_await parts_.store.read_log(run_, after_.n, kPageBytes);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return co_await look_again();
  // A new writer may have begun meanwhile, at a number that is not beyond the reader's place (SSE-4).
  if (after_.n > 0 && rows->front().epoch > after_.epoch) {
    auto const row = co_await find_run();
    if (!row) co_return row.error();
    auto const place = within_sealed_epoch(*row, after_);
    if (place.n < after_.n) rows = co_await parts_.store.read_log(run_, place.n, kPageBytes);
    if (!rows) co_return rows.error();
    after_ = place;
  }
  looked_ = false;
  auto page = co_await encode(&*rows);
  if (!page && page.error().code == Errc::unavailable) co_return page.error();
  if (!page) {
    base::log(
        base::LogLevel::error, "log row is unreadable",
        {{"run_id", names_.run.text}, {"thread_id", names_.thread.text}, {"detail", page.error().detail}});
    co_return Error{Errc::not_found, "the log can no longer be read"};
  }
  parts_.hub.metrics().stored_frames.add(static_cast<std::int64_t>(page->count()));
  co_return stream::share(std::move(*page));
}

// A large page takes milliseconds of work, so it is not encoded on a core, and only one page of a user at a
// time.
asio::awaitable<Result<stream::Frames>> RunFeed::encode(std::vector<store::LogRow> const* rows) {
  if (size_of(*rows) <= kEncodedHere) co_return encode_rows(*rows);
  co_return co_await parts_.replaying.run<stream::Frames>(user_.text,
                                                          [this, rows] { return encode_rows(*rows); });
}

// May be called on any thread, while nothing else uses the feed.
Result<stream::Frames> RunFeed::encode_rows(std::vector<store::LogRow> const& rows) {
  stream::Frames page;
  for (auto const& row : rows) {
    auto const records = parse_log_body(row.body, row.epoch);
    if (!records) return records.error();
    for (auto const& record : *records) {
      if (record.position.n <= after_.n) continue;
      page.add(parts_.hub.encoding(), wire_, names_, record);
      after_ = record.position;
      complete_ = is_terminal(record.fact) ||
                  (until_ == Until::pause && std::holds_alternative<RunPaused>(record.fact));
      if (complete_) return page;
    }
  }
  return page;
}

// The channel was opened before this check, so if the run continues, its next events come through the
// channel.
asio::awaitable<Result<stream::SharedFrames>> RunFeed::look_again() {
  auto const row = co_await find_run();
  if (!row) co_return row.error();
  after_ = within_sealed_epoch(*row, after_);
  ended_ = store::is_ended(row->status);
  looked_ = !ended_ && row->last_n <= after_.n;
  if (row->log_expired) co_return Error{Errc::not_found, "the log has expired meanwhile"};
  if (ended_ && row->last_n < after_.n) co_return Error{Errc::invalid, "beyond the end of the run"};
  complete_ = ended_ && row->last_n == after_.n;
  co_return stream::SharedFrames{};
}

store::Async<store::RunRow> RunFeed::find_run() {
  auto row = co_await parts_.store.run_by_key(run_);
  if (!row) co_return row.error();
  if (!*row) co_return Error{Errc::not_found, "the run is gone"};
  co_return std::move(**row);
}

}  // namespace runnel::http
