#include "runnel/http/sse_session.h"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <netinet/tcp.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

#include "runnel/base/log.h"

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;
using stream::Bytes;
using stream::CloseReason;

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

// A client has nothing to say on a stream; some proxies send a little all the same.
constexpr std::size_t kMaxStrayBytes = std::size_t{64} * 1024;
// Beyond this an idle session gives its queue's memory back.
constexpr std::size_t kKeptQueue = 8;
// How exactly the budget knows a backlog that grows.
constexpr std::size_t kHoldStep = std::size_t{32} * 1024;
// A token's chunk is smaller than this.
constexpr std::size_t kCopiedTogether = 1024;

// No stream outlives a token that is good for longer; the roster's clock wraps after 49 days.
constexpr std::int64_t kLongestStreamS = std::int64_t{30} * 24 * 3600;

// `retry` is the reader's pause before it reconnects, in milliseconds.
Bytes const& expired_comment() {
  static Bytes const comment =
      std::make_shared<std::string const>(": the token of this stream has expired\nretry: 500\n\n");
  return comment;
}

Bytes const& keep_alive_comment() {
  static Bytes const comment = std::make_shared<std::string const>(": keep-alive\n\n");
  return comment;
}

// Small parts are copied together: for the kernel one buffer is cheaper than several.
template <class Parts>
std::size_t write_some(Socket& socket, Parts const& parts, error_code& ec) {
  if (asio::buffer_size(parts) > kCopiedTogether) return socket.write_some(parts, ec);
  std::array<char, kCopiedTogether> bytes;  // NOLINT: only what was copied into it is read.
  auto const size = asio::buffer_copy(asio::buffer(bytes), parts);
  return socket.write_some(asio::buffer(bytes, size), ec);
}

using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;

bool is_would_block(error_code const& ec) {
  return ec == asio::error::would_block || ec == asio::error::try_again;
}

}  // namespace

SseSession::SseSession(Roster& roster, Framing framing, std::string request_id)
    : roster_{roster}, socket_{roster.context()}, request_id_{std::move(request_id)}, framing_{framing} {}

void SseSession::end_at(std::int64_t unix_s) {
  using namespace std::chrono;
  auto const now = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
  auto const left = std::max<std::int64_t>(unix_s - now, 0);
  if (left > kLongestStreamS) return;
  opened_ = roster_.now();
  expires_in_ = static_cast<std::uint32_t>(left * 1000 + 1);
}

bool SseSession::has_expired() const {
  return expires_in_ != 0 && roster_.passed(std::chrono::milliseconds{expires_in_}, opened_);
}

void SseSession::start(Socket socket, Place place, std::unique_ptr<EventFeed> feed) {
  socket_ = std::move(socket);
  place_ = std::move(place);
  feed_ = std::move(feed);
  state_ = State::live;
  since_ = roster_.now();
  roster_.enter(*this);
  error_code ec;
  error_code ignored;
  socket_.non_blocking(true, ec);
  if (ec) return close(Closing::abortive, StreamEnd::gone);
  // A reader that vanished without a word is found by its silence to what was sent, however little that was.
  socket_.set_option(UserTimeout{static_cast<int>(roster_.limits().write_timeout.count())}, ignored);
  if (roster_.stopping()) return stop();
  if (overflowed_) return cut_slow_reader("its buffer is full");

  if (roster_.draining() && !ending_) ending_ = CloseReason::reconnect;
  watch_peer();
  flush();
}

void SseSession::on_frames(Bytes frames) {
  if (state_ == State::closed || ending_ || overflowed_ || frames == nullptr || frames->empty()) return;
  // Cut is who was too far behind before: a single large batch is no reader's fault.
  if (backlog() > roster_.limits().subscriber_buffer_bytes) return overflow();
  queued_bytes_ += frames->size();
  queue_.push_back(std::move(frames));
  if (state_ != State::live) return;
  if (!awaiting_writable_) return flush();
  if (backlog() >= held_bytes_ + kHoldStep && !hold_backlog())
    cut_slow_reader("its user's budget is used up");
}

void SseSession::overflow() {
  overflowed_ = true;
  if (state_ == State::live) {
    cut_slow_reader("its buffer is full");
  } else {
    queue_ = {};
  }
}

void SseSession::on_close(CloseReason reason) {
  if (state_ == State::closed || ending_) return;
  ending_ = reason;
  if (state_ == State::live) flush();
}

void SseSession::on_tick() {
  if (state_ != State::live) return;
  if (has_expired()) return expire();
  if (chunk_open_) {
    if (roster_.passed(roster_.limits().write_timeout, since_)) cut_slow_reader("a write took too long");
  } else if (roster_.passed(roster_.limits().keep_alive, since_)) {
    on_frames(keep_alive_comment());
  }
}

void SseSession::expire() {
  expires_in_ = 0;
  expired_ = true;
  on_frames(expired_comment());
  on_close(CloseReason::reconnect);
}

void SseSession::end_stream() {
  on_close(CloseReason::reconnect);
}

void SseSession::stop() {
  close(Closing::orderly, StreamEnd::shutdown);
}

void SseSession::flush() {
  if (awaiting_writable_) return;
  while (open_chunk()) {
    error_code ec;
    auto const written = write_some(socket_, unsent(), ec);
    if (is_would_block(ec)) return await_reader();
    if (ec == asio::error::interrupted) continue;
    if (ec) return close(Closing::abortive, StreamEnd::gone);
    advance(written);
  }
  if (held_bytes_ > 0) hold_backlog();
  if (ending_) finish();
}

// Only here, off the path of a reader that keeps up, does a backlog cost anything.
void SseSession::await_reader() {
  if (hold_backlog()) return await_writable();
  cut_slow_reader("its user's budget is used up");
}

bool SseSession::hold_backlog() {
  held_bytes_ = backlog();
  return feed_->hold_backlog(held_bytes_);
}

// Begins a chunk with all that is queued, unless one is open. False: there is nothing to send.
bool SseSession::open_chunk() {
  if (chunk_open_) return true;
  if (queue_.empty()) {
    open_last_chunk();
    return chunk_open_;
  }
  chunk_parts_ = static_cast<std::uint32_t>(queue_.size());
  chunk_bytes_ = queued_bytes_;
  chunk_sent_ = 0;
  chunk_head_size_ = 0;
  if (framing_ == Framing::chunked) {
    auto* const end = std::to_chars(chunk_head_.begin(), chunk_head_.end() - 2, chunk_bytes_, 16).ptr;
    kLineEnd.copy(end, kLineEnd.size());
    chunk_head_size_ = static_cast<std::uint8_t>(end + kLineEnd.size() - chunk_head_.begin());
  }
  since_ = roster_.now();
  chunk_open_ = true;
  return true;
}

void SseSession::open_last_chunk() {
  if (ending_ != CloseReason::ended || framing_ != Framing::chunked || last_chunk_done_) return;
  // The empty chunk has no frames and no line end after them, so it is all head.
  kLastChunk.copy(chunk_head_.data(), kLastChunk.size());
  chunk_head_size_ = static_cast<std::uint8_t>(kLastChunk.size());
  chunk_parts_ = 0;
  chunk_bytes_ = 0;
  chunk_sent_ = 0;
  since_ = roster_.now();
  last_chunk_done_ = true;
  chunk_open_ = true;
}

SseSession::Buffers SseSession::unsent() const {
  Buffers out;
  std::size_t skip = chunk_sent_;
  auto const add = [&out, &skip](std::string_view bytes) {
    auto const skipped = std::min(skip, bytes.size());
    skip -= skipped;
    if (skipped < bytes.size() && out.size() < out.capacity()) {
      out.emplace_back(bytes.data() + skipped, bytes.size() - skipped);
    }
  };
  add({chunk_head_.data(), chunk_head_size_});
  for (std::size_t i = 0; i < chunk_parts_ && out.size() < out.capacity(); ++i)
    add(*queue_[i]);
  if (chunk_parts_ > 0 && framing_ == Framing::chunked) add(kLineEnd);
  return out;
}

void SseSession::advance(std::size_t written) {
  chunk_sent_ += written;
  roster_.metrics().stream_bytes.add(static_cast<std::int64_t>(written));
  bool const framed = chunk_parts_ > 0 && framing_ == Framing::chunked;
  if (chunk_sent_ < chunk_head_size_ + chunk_bytes_ + (framed ? kLineEnd.size() : 0)) return;

  queue_.erase(queue_.begin(), queue_.begin() + chunk_parts_);
  if (queue_.empty() && queue_.capacity() > kKeptQueue) queue_ = {};
  queued_bytes_ -= chunk_bytes_;
  chunk_open_ = false;
  chunk_sent_ = 0;
  since_ = roster_.now();
}

// Bytes of frames that the kernel has not taken.
std::size_t SseSession::backlog() const {
  if (!chunk_open_ || chunk_sent_ <= chunk_head_size_) return queued_bytes_;
  return queued_bytes_ - std::min(chunk_sent_ - chunk_head_size_, chunk_bytes_);
}

void SseSession::await_writable() {
  awaiting_writable_ = true;
  socket_.async_wait(asio::socket_base::wait_write, [self = shared_from_this()](error_code const& ec) {
    self->awaiting_writable_ = false;
    if (self->state_ == State::closed) return;
    if (ec) return self->close(Closing::abortive, StreamEnd::gone);
    self->flush();
  });
}

// Without this a reader that leaves a silent run would be noticed only at a keep-alive or two.
void SseSession::watch_peer() {
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](error_code const& ec) {
    if (self->state_ == State::closed) return;
    if (ec) return self->close(Closing::abortive, StreamEnd::gone);
    self->on_readable();
  });
}

void SseSession::on_readable() {
  std::array<char, 1024> discarded;  // NOLINT: only read into.
  error_code ec;
  auto const got = socket_.read_some(asio::buffer(discarded), ec);
  if (ec == asio::error::eof) return on_end_of_input();
  if (ec && !is_would_block(ec) && ec != asio::error::interrupted)
    return close(Closing::abortive, StreamEnd::gone);
  stray_bytes_ += static_cast<std::uint32_t>(got);
  if (stray_bytes_ > kMaxStrayBytes) return close(Closing::abortive, StreamEnd::gone);
  watch_peer();
}

// A client that only has nothing more to say still reads. One that has left answers the comment with a reset.
void SseSession::on_end_of_input() {
  socket_.async_wait(asio::socket_base::wait_error, [self = shared_from_this()](error_code const& /*ec*/) {
    self->close(Closing::abortive, StreamEnd::gone);
  });
  on_frames(keep_alive_comment());
}

void SseSession::finish() {
  // Bytes left unread would turn the close into a reset, which may overtake the last frames.
  std::array<char, 1024> discarded;  // NOLINT: only read into.
  error_code ignored;
  socket_.read_some(asio::buffer(discarded), ignored);
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  close(Closing::orderly, ending_ == CloseReason::ended ? StreamEnd::ended
                          : expired_                    ? StreamEnd::expired
                                                        : StreamEnd::reconnect);
}

void SseSession::cut_slow_reader(char const* why) {
  base::log(base::LogLevel::info, "slow reader cut",
            {{"request_id", request_id_},
             {"run_id", feed_->run().run.text},
             {"thread_id", feed_->run().thread.text},
             {"why", why},
             {"unsent", static_cast<std::int64_t>(backlog())}});
  close(Closing::abortive, StreamEnd::slow);
}

void SseSession::close(Closing how, StreamEnd why) {
  if (state_ == State::closed) return;
  bool const was_live = state_ == State::live;
  state_ = State::closed;
  queue_ = {};
  error_code ignored;
  if (how == Closing::abortive) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  place_.give_up();
  if (!was_live) return;
  roster_.metrics().stream_closed(why);

  // Not at once: the caller may be the channel, which the feed's end leaves.
  asio::post(roster_.context(), [self = shared_from_this()] {
    self->feed_.reset();
    self->roster_.leave(*self);
  });
}

}  // namespace runnel::http
