#include "runnel/http/run_feed.h"

#include <string>
#include <utility>
#include <vector>

#include "runnel/base/log.h"
#include "runnel/core/fact_json.h"
#include "runnel/http/resume_point.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

// Small: each of a user's streams may hold a page for a reader that is slow.
constexpr std::size_t kPageBytes = std::size_t{64} * 1024;
// Rows up to this size are encoded on the reader's core.
constexpr std::size_t kEncodedHere = std::size_t{8} * 1024;

// Frames of the log.
struct Page {
  std::string text;
  std::int64_t frames = 0;
};

std::size_t size_of(std::vector<store::LogRow> const& rows) {
  std::size_t bytes = 0;
  for (auto const& row : rows)
    bytes += row.body.size();
  return bytes;
}

// How often neither the channel nor the store has the next event before the reader is told to come again.
constexpr int kMostFruitless = 8;

class StoredThenLive final : public RunFeed {
 public:
  StoredThenLive(FeedParts parts, UserId reader, store::RunRow const& run, Position after, Dialect dialect)
      : parts_{parts},
        user_{std::move(reader)},
        run_{run.key},
        names_{run.thread_id, run.id},
        after_{after},
        dialect_{dialect},
        ended_{store::is_ended(run.status)} {
    if (!ended_) channel_ = parts_.hub.open(run_, names_);
  }
  ~StoredThenLive() override {
    if (reader_ != 0) channel_->detach(reader_);
  }

  store::Async<void> read_ahead() override {
    if (!ended_) co_return Result<void>{};
    auto page = co_await read_page();
    if (!page) co_return page.error();
    ahead_ = std::move(*page);
    co_return Result<void>{};
  }

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    auto const ahead = std::exchange(ahead_, nullptr);
    if (ahead && !ahead->empty()) co_return step(FeedStep::Kind::frames, ahead);
    for (int fruitless = 0; !complete_; ++fruitless) {
      if (fruitless == kMostFruitless) co_return step(FeedStep::Kind::reconnect);
      if (!ended_) {
        reader_ = co_await channel_->attach(make_attach(reader));
        if (reader_ != 0) co_return step(FeedStep::Kind::live);
      }
      auto page = co_await read_page();
      if (!page) co_return step(FeedStep::Kind::reconnect);
      if (*page && !(*page)->empty()) co_return step(FeedStep::Kind::frames, std::move(*page));
    }
    co_return step(FeedStep::Kind::ended);
  }

  [[nodiscard]] RunNames const& run() const override { return names_; }
  [[nodiscard]] Dialect dialect() const override { return dialect_; }

 private:
  static FeedStep step(FeedStep::Kind kind, stream::Bytes frames = nullptr) {
    return {kind, std::move(frames)};
  }

  [[nodiscard]] stream::Channel::Attach make_attach(std::shared_ptr<stream::Subscriber> reader) const {
    return {after_, dialect_, parts_.cores.current(), std::move(reader), looked_};
  }

  // The frames of the log's next rows. Where there are none, learns whether the run has ended meanwhile.
  asio::awaitable<Result<stream::Bytes>> read_page() {
    auto const rows = co_await parts_.store.read_log(run_, after_.n, kPageBytes);
    if (!rows) co_return rows.error();
    if (rows->empty()) co_return co_await look_again();
    looked_ = false;
    auto page = co_await encode(&*rows);
    if (!page && page.error().code == Errc::unavailable) co_return page.error();
    if (!page) {
      base::log(
          base::LogLevel::error, "log row is unreadable",
          {{"run_id", names_.run.text}, {"thread_id", names_.thread.text}, {"detail", page.error().detail}});
      co_return Error{Errc::not_found, "the log can no longer be read"};
    }
    parts_.hub.metrics().stored_frames.add(page->frames);
    co_return std::make_shared<std::string const>(std::move(page->text));
  }

  // Milliseconds of work for a large page: not on a core, and one page of a user at a time.
  asio::awaitable<Result<Page>> encode(std::vector<store::LogRow> const* rows) {
    if (size_of(*rows) <= kEncodedHere) co_return encode_rows(*rows);
    co_return co_await parts_.replaying.run<Page>(user_.text, [this, rows] { return encode_rows(*rows); });
  }

  // On any thread, while nothing else is done with the feed.
  Result<Page> encode_rows(std::vector<store::LogRow> const& rows) {
    Page page;
    for (auto const& row : rows) {
      auto const records = parse_log_body(row.body, row.epoch);
      if (!records) return records.error();
      for (auto const& record : *records) {
        if (record.position.n <= after_.n) continue;
        auto const before = page.text.size();
        parts_.encode(dialect_, names_, record, page.text);
        if (page.text.size() > before) ++page.frames;
        after_ = record.position;
        complete_ = is_terminal(record.fact);
      }
    }
    return page;
  }

  // The channel was opened before this look: if the run goes on, what comes next will come through the
  // channel.
  asio::awaitable<Result<stream::Bytes>> look_again() {
    auto const row = co_await parts_.store.run_by_key(run_);
    if (!row) co_return row.error();
    if (!*row) co_return Error{Errc::not_found, "the run is gone"};
    after_ = within_sealed_epoch(**row, after_);
    ended_ = store::is_ended((*row)->status);
    looked_ = !ended_ && (*row)->last_n <= after_.n;
    if ((*row)->log_expired) co_return Error{Errc::not_found, "the log has expired meanwhile"};
    if (ended_ && (*row)->last_n < after_.n) co_return Error{Errc::invalid, "beyond the end of the run"};
    complete_ = ended_ && (*row)->last_n == after_.n;
    co_return stream::Bytes{};
  }

  FeedParts const parts_;
  UserId const user_;
  RunKey const run_;
  RunNames const names_;
  Position after_;
  Dialect const dialect_;
  bool ended_;             // All of the run is in the store.
  bool looked_ = false;    // The store has nothing after `after_`, and the run goes on: wait for its writer.
  bool complete_ = false;  // The terminal was given.
  stream::Bytes ahead_;    // Read, but not yet given.
  std::shared_ptr<stream::Channel> channel_;
  stream::ReaderId reader_ = 0;
};

}  // namespace

std::unique_ptr<RunFeed> make_run_feed(FeedParts parts, UserId reader, store::RunRow const& run,
                                       Position after, Dialect dialect) {
  return std::make_unique<StoredThenLive>(parts, std::move(reader), run, after, dialect);
}

}  // namespace runnel::http
