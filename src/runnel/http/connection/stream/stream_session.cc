#include "runnel/http/connection/stream/stream_session.h"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <netinet/tcp.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/http/connection/waiting_list.h"
#include "runnel/protocol/web_socket_frame.h"

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;
using stream::CloseReason;
using stream::SharedFrames;

namespace {

// A client has nothing to send on a stream, but some proxies send a little.
constexpr std::size_t kMaxStrayBytes = std::size_t{64} * 1024;
// What the client of a WebSocket may send in each second.
constexpr std::uint32_t kInputPerTick = std::uint32_t{32} * 1024;
// If its queue has room for more than this, an idle session gives the queue's memory back.
constexpr std::size_t kKeptQueue = 8;
// A backlog that grows is reported to the budget in steps of this size.
constexpr std::size_t kHoldStep = std::size_t{32} * 1024;
// A chunk with one token is smaller than this.
constexpr std::size_t kCopiedTogether = 1024;

// A token that is valid for longer does not end its stream, because the clock of CoreSessions wraps around
// after 49 days.
constexpr std::int64_t kLongestStreamS = std::int64_t{30} * 24 * 3600;

// `retry` is the reader's pause before it reconnects, in milliseconds.
SharedFrames const& expired_comment() {
  static SharedFrames const comment =
      stream::share({": the token of this stream has expired\nretry: 500\n\n", {}});
  return comment;
}

SharedFrames const& keep_alive_comment() {
  static SharedFrames const comment = stream::share({": keep-alive\n\n", {}});
  return comment;
}

SharedFrames const& ping() {
  static SharedFrames const frame =
      stream::share({std::string{protocol::WebSocketHead{protocol::WebSocketOpcode::ping, 0}.bytes()}, {}});
  return frame;
}

// Small parts are copied into one buffer, because one buffer is cheaper for the kernel than several.
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

StreamSession::StreamSession(CoreSessions& sessions, Kind kind, Framing framing, std::string request_id)
    : sessions_{sessions},
      socket_{sessions.context()},
      web_socket_{kind == Kind::web_socket ? std::make_unique<WebSocketReader>() : nullptr},
      request_id_{std::move(request_id)},
      framing_{framing} {}

void StreamSession::end_at(std::int64_t unix_s) {
  using namespace std::chrono;
  auto const now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  if (unix_s - now / 1000 > kLongestStreamS) return;
  auto const left = std::max<std::int64_t>(unix_s * 1000 - now, 0);
  opened_ = sessions_.now();
  expires_in_ = static_cast<std::uint32_t>(left + sessions_.since_tick().count() + 1);
}

bool StreamSession::has_expired() const {
  return expires_in_ != 0 && sessions_.passed(std::chrono::milliseconds{expires_in_}, opened_);
}

void StreamSession::start(Socket socket, ConnectionEntry entry, std::unique_ptr<EventFeed> feed,
                          std::string_view early) {
  socket_ = std::move(socket);
  entry_ = std::move(entry);
  feed_ = std::move(feed);
  state_ = State::live;
  since_ = sessions_.now();
  sessions_.enter(*this);
  error_code ec;
  error_code ignored;
  socket_.non_blocking(true, ec);
  if (ec) return close(Closing::abortive, StreamEnd::gone);
  // A reader that vanished without closing is found because it does not acknowledge what was sent, however
  // little that was.
  socket_.set_option(UserTimeout{static_cast<int>(sessions_.limits().write_timeout.count())}, ignored);
  if (sessions_.stopping()) return stop();
  watch_peer();
  if (overflowed_) return cut_slow_reader("its buffer is full");

  if (sessions_.draining() && !ending_) ending_ = CloseReason::reconnect;
  if (web_socket_ && has_expired()) return expire();
  if (web_socket_ && !early.empty()) on_message_bytes(early);
  if (web_socket_ && ending_ && state_ == State::live) finish_web_socket();
  flush();
  if (more_runs_ && more_runs_->asked_for) ask_for_more();
}

void StreamSession::on_frames(SharedFrames frames) {
  if (state_ == State::closed || ending_ || overflowed_ || frames == nullptr || frames->bytes.empty()) return;
  // A reader is cut only if it was too far behind before: a single large batch is not the reader's fault.
  if (backlog() > sessions_.limits().subscriber_buffer_bytes) return overflow();
  enqueue(std::move(frames));
}

void StreamSession::enqueue(SharedFrames frames) {
  queued_bytes_ += frames->bytes.size();
  queue_.push_back(std::move(frames));
  if (state_ != State::live) return;
  if (!awaiting_writable_) return flush();
  if (!parting_ && backlog() >= held_bytes_ + kHoldStep && !hold_backlog())
    cut_slow_reader("its user's budget is used up");
}

void StreamSession::overflow() {
  overflowed_ = true;
  if (state_ == State::live) {
    cut_slow_reader("its buffer is full");
  } else {
    drop_queue();
  }
}

// Also gives its memory back, which an assignment of {} would keep.
void StreamSession::drop_queue() {
  queue_ = std::vector<SharedFrames>{};
}

void StreamSession::on_close(CloseReason reason) {
  if (state_ == State::closed || ending_) return;
  if (more_runs_ && reason == CloseReason::ended) {
    more_runs_->asked_for = true;
    return ask_for_more();
  }
  ending_ = reason;
  if (state_ != State::live) return;
  if (web_socket_) return finish_web_socket();
  flush();
}

void StreamSession::on_tick() {
  if (state_ != State::live) return;
  if (web_socket_) stray_bytes_ -= std::min(stray_bytes_, kInputPerTick);
  if (has_expired()) return expire();
  if (chunk_open_) {
    if (sessions_.passed(sessions_.limits().write_timeout, since_)) cut_slow_reader("a write took too long");
  } else if (parting_) {
    if (sessions_.passed(sessions_.limits().stop_grace, since_)) close(Closing::orderly, parted_as_);
  } else if (sessions_.passed(sessions_.limits().keep_alive, since_)) {
    on_frames(web_socket_ ? ping() : keep_alive_comment());
  }
}

void StreamSession::expire() {
  expires_in_ = 0;
  if (parting_) return;
  expired_ = true;
  if (web_socket_) return part(WebSocketClose::not_allowed, "the token has expired", StreamEnd::expired);
  on_frames(expired_comment());
  on_close(CloseReason::reconnect);
}

void StreamSession::end_stream() {
  on_close(CloseReason::reconnect);
}

void StreamSession::stop() {
  if (web_socket_ && state_ == State::live && !parting_)
    part(WebSocketClose::restart, "the server stops", StreamEnd::shutdown);
  close(Closing::orderly, StreamEnd::shutdown);
}

void StreamSession::flush() {
  if (awaiting_writable_ || state_ != State::live) return;
  while (open_chunk()) {
    error_code ec;
    auto const written = write_some(socket_, unsent(), ec);
    if (is_would_block(ec)) return await_reader();
    if (ec == asio::error::interrupted) continue;
    if (ec) return close(Closing::abortive, StreamEnd::gone);
    advance(written);
  }
  if (held_bytes_ > 0) hold_backlog();
  if (more_runs_) more_runs_->sent.notify_all();
  if (late_answer_ && !parting_) return enqueue(std::exchange(late_answer_, nullptr));
  if (ending_) finish();
}

// Only a reader that does not keep up gets here, so for the others a backlog costs nothing.
void StreamSession::await_reader() {
  if (parting_ || hold_backlog()) return await_writable();
  cut_slow_reader("its user's budget is used up");
}

bool StreamSession::hold_backlog() {
  held_bytes_ = backlog();
  return feed_->hold_backlog(held_bytes_);
}

// Begins a chunk with everything that is queued, unless one is open. False if there is nothing to send.
bool StreamSession::open_chunk() {
  if (chunk_open_) return true;
  if (queue_.empty()) {
    open_last_chunk();
    return chunk_open_;
  }
  chunk_parts_ = static_cast<std::uint32_t>(queue_.size());
  chunk_bytes_ = queued_bytes_;
  chunk_sent_ = 0;
  chunk_head_ = ChunkHead{framing_, chunk_bytes_};
  since_ = sessions_.now();
  chunk_open_ = true;
  return true;
}

void StreamSession::open_last_chunk() {
  if (ending_ != CloseReason::ended || framing_ != Framing::chunked || last_chunk_done_) return;
  chunk_head_ = ChunkHead::of_last_chunk();
  chunk_parts_ = 0;
  chunk_bytes_ = 0;
  chunk_sent_ = 0;
  since_ = sessions_.now();
  last_chunk_done_ = true;
  chunk_open_ = true;
}

StreamSession::Buffers StreamSession::unsent() const {
  Buffers out;
  std::size_t skip = chunk_sent_;
  auto const add = [&out, &skip](std::string_view bytes) {
    auto const skipped = std::min(skip, bytes.size());
    skip -= skipped;
    if (skipped < bytes.size() && out.size() < out.capacity()) {
      out.emplace_back(bytes.data() + skipped, bytes.size() - skipped);
    }
  };
  add(chunk_head_.text());
  for (std::size_t i = 0; i < chunk_parts_ && out.size() < out.capacity(); ++i)
    add(queue_[i]->bytes);
  if (chunk_parts_ > 0) add(ChunkHead::tail(framing_));
  return out;
}

void StreamSession::advance(std::size_t written) {
  chunk_sent_ += written;
  sessions_.metrics().stream_bytes.add(static_cast<std::int64_t>(written));
  auto const tail = chunk_parts_ > 0 ? ChunkHead::tail(framing_).size() : 0;
  if (chunk_sent_ < chunk_head_.size() + chunk_bytes_ + tail) return;

  queue_.erase(queue_.begin(), queue_.begin() + chunk_parts_);
  if (queue_.empty() && queue_.capacity() > kKeptQueue) drop_queue();
  queued_bytes_ -= chunk_bytes_;
  chunk_open_ = false;
  chunk_sent_ = 0;
  since_ = sessions_.now();
}

// Bytes of frames that the kernel has not taken.
std::size_t StreamSession::backlog() const {
  if (!chunk_open_ || chunk_sent_ <= chunk_head_.size()) return queued_bytes_;
  return queued_bytes_ - std::min(chunk_sent_ - chunk_head_.size(), chunk_bytes_);
}

void StreamSession::await_writable() {
  awaiting_writable_ = true;
  socket_.async_wait(asio::socket_base::wait_write, [self = shared_from_this()](error_code const& ec) {
    self->awaiting_writable_ = false;
    if (self->state_ == State::closed) return;
    if (ec) return self->close(Closing::abortive, StreamEnd::gone);
    self->flush();
  });
}

// Without this, a reader that leaves a silent run would be noticed only after one or two keep-alives.
void StreamSession::watch_peer() {
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](error_code const& ec) {
    if (self->state_ == State::closed) return;
    if (ec) return self->close(Closing::abortive, StreamEnd::gone);
    self->on_readable();
  });
}

void StreamSession::on_readable() {
  std::array<char, 1024> discarded;  // NOLINT: only read into.
  error_code ec;
  auto const got = socket_.read_some(asio::buffer(discarded), ec);
  if (ec == asio::error::eof) return on_end_of_input();
  if (ec && !is_would_block(ec) && ec != asio::error::interrupted)
    return close(Closing::abortive, StreamEnd::gone);
  if (web_socket_) {
    on_message_bytes({discarded.data(), got});
    if (state_ != State::closed) watch_peer();
    return;
  }
  stray_bytes_ += static_cast<std::uint32_t>(got);
  if (stray_bytes_ > kMaxStrayBytes) return close(Closing::abortive, StreamEnd::gone);
  watch_peer();
}

// A client that has only finished sending still reads. One that has left answers the comment with a reset.
void StreamSession::on_end_of_input() {
  if (web_socket_) return close(Closing::orderly, parting_ ? parted_as_ : StreamEnd::gone);
  input_over_ = true;
  socket_.async_wait(asio::socket_base::wait_error, [self = shared_from_this()](error_code const& /*ec*/) {
    self->close(Closing::abortive, StreamEnd::gone);
  });
  on_frames(keep_alive_comment());
}

void StreamSession::finish() {
  if (web_socket_) {
    // The client closes the connection when it has the close frame.
    if (web_socket_->closed_by_peer()) close(Closing::orderly, parted_as_);
    return;
  }
  if (may_be_used_again()) return give_back();
  // Bytes left unread would turn the close into a reset, which may overtake the last frames.
  std::array<char, 1024> discarded;  // NOLINT: only read into.
  error_code ignored;
  socket_.read_some(asio::buffer(discarded), ignored);
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  close(Closing::orderly, ending_ == CloseReason::ended ? StreamEnd::ended
                          : expired_                    ? StreamEnd::expired
                                                        : StreamEnd::reconnect);
}

// What came from the client while the stream lasted was dropped, so it must be nothing.
bool StreamSession::may_be_used_again() const {
  return waiting_ != nullptr && ending_ == CloseReason::ended && last_chunk_done_ && stray_bytes_ == 0 &&
         !input_over_ && !sessions_.draining();
}

// A client that has read the last chunk may send its next request on the connection. Closing it would break
// that request.
void StreamSession::give_back() {
  state_ = State::closed;
  drop_queue();
  error_code ignored;
  socket_.cancel(ignored);
  waiting_->add(OpenConnection{std::move(socket_), std::move(entry_), {}});
  sessions_.metrics().stream_closed(StreamEnd::ended);
  leave();
}

void StreamSession::cut_slow_reader(char const* why) {
  base::log(base::LogLevel::info, "slow reader cut",
            {{"request_id", request_id_},
             {"run_id", feed_->run().run.text},
             {"thread_id", feed_->run().thread.text},
             {"why", why},
             {"unsent", static_cast<std::int64_t>(backlog())}});
  if (web_socket_ && !parting_) return part(WebSocketClose::try_later, "too slow", StreamEnd::slow);
  close(Closing::abortive, StreamEnd::slow);
}

void StreamSession::close(Closing how, StreamEnd why) {
  if (state_ == State::closed) return;
  bool const was_live = state_ == State::live;
  state_ = State::closed;
  drop_queue();
  chunk_open_ = false;
  error_code ignored;
  if (how == Closing::abortive) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  entry_.give_up();
  if (!was_live) return;
  sessions_.metrics().stream_closed(why);

  leave();
}

void StreamSession::leave() {
  if (more_runs_) more_runs_->sent.notify_all();
  if (more_runs_ && more_runs_->asking) return;  // pump() does it.
  // Posted, not done at once: the caller may be the channel, and destroying the feed detaches it from the
  // channel.
  asio::post(sessions_.context(), [self = shared_from_this()] { self->release_feed(); });
}

void StreamSession::release_feed() {
  feed_.reset();
  sessions_.leave(*this);
}

}  // namespace runnel::http
