#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/http/connection/stream/stream_session.h"

// The part of StreamSession that goes on when a run has ended, for a feed that shows several (RUN-15).
namespace runnel::http {

namespace asio = boost::asio;
using stream::CloseReason;

void StreamSession::expect_more_runs() {
  more_runs_ = std::make_unique<MoreRuns>(sessions_.context().get_executor());
}

void StreamSession::ask_for_more() {
  if (state_ != State::live || ending_ || more_runs_->asking) return;
  more_runs_->asking = true;
  sessions_.spawn("next run of a thread", pump(shared_from_this()));
}

// The run that was shown has ended, and the feed says how the stream continues.
asio::awaitable<void> StreamSession::pump(std::shared_ptr<StreamSession> self) {
  std::string failure;
  try {
    bool goes_on = true;
    while (goes_on) {
      // What the reader has not taken counts for its user until it has.
      while (state_ == State::live && !ending_ && !queue_.empty())
        co_await more_runs_->sent.wait();
      if (state_ != State::live || ending_) break;
      more_runs_->asked_for = false;
      auto step = co_await feed_->next(self);
      goes_on = take_step(std::move(step));
    }
  } catch (std::exception const& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    base::log(base::LogLevel::error, "stream failed", {{"request_id", request_id_}, {"detail", failure}});
    on_close(CloseReason::reconnect);
  }
  more_runs_->asking = false;
  if (state_ == State::closed) release_feed();
}

// Whether the feed is to be asked again.
bool StreamSession::take_step(FeedStep step) {
  if (state_ != State::live || ending_) return false;
  switch (step.kind) {
    case FeedStep::Kind::live:
      return more_runs_->asked_for;
    case FeedStep::Kind::frames:
      on_frames(std::move(step.frames));
      return true;
    case FeedStep::Kind::ended:
      ending_ = CloseReason::ended;
      flush();
      return false;
    case FeedStep::Kind::reconnect:
      break;
  }
  on_close(CloseReason::reconnect);
  return false;
}

}  // namespace runnel::http
