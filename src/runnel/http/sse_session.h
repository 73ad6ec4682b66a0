#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/container/static_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/http/census.h"
#include "runnel/http/event_feed.h"
#include "runnel/http/roster.h"
#include "runnel/http/socket.h"
#include "runnel/stream/subscriber.h"

namespace runnel::http {

// How the body's end is marked.
enum class Framing : std::uint8_t {
  chunked,  // HTTP/1.1.
  plain,    // HTTP/1.0: by closing.
};

// One live SSE reader: a plain object, because an idle coroutine costs several times as much. It lives on one
// core.
//
// Frames go to the kernel as they come, without an asynchronous operation, while the reader keeps up.
// Otherwise they are queued and leave together, in one chunk, when the socket takes more; a reader that falls
// too far behind, or takes too long for one chunk, is cut and may resume (SSE-6).
class SseSession final : public stream::Subscriber,
                         public Member,
                         public std::enable_shared_from_this<SseSession> {
 public:
  SseSession(Roster& roster, Framing framing, std::string request_id);

  // The stream ends when this time (unix seconds) has come, with a comment that says why: the reader needs a
  // new token. Before start().
  void end_at(std::int64_t unix_s);
  [[nodiscard]] bool has_expired() const;

  // Takes over the socket, whose head and replay have been sent, and what came before goes out. The feed is
  // destroyed when the session closes.
  void start(Socket socket, Place place, std::unique_ptr<EventFeed> feed);

  void on_frames(stream::Bytes frames) override;
  void on_close(stream::CloseReason reason) override;

  void on_tick() override;
  void end_stream() override;
  void stop() override;

 private:
  enum class State : std::uint8_t { waiting, live, closed };
  enum class Closing : std::uint8_t {
    orderly,   // What the kernel has still goes out.
    abortive,  // It is dropped: nobody reads it.
  };
  static constexpr std::size_t kMaxBuffers = 64;
  using Buffers = boost::container::static_vector<boost::asio::const_buffer, kMaxBuffers>;

  void overflow();
  void flush();
  bool open_chunk();
  void open_last_chunk();
  [[nodiscard]] Buffers unsent() const;
  void advance(std::size_t written);
  [[nodiscard]] std::size_t backlog() const;
  void await_reader();
  bool hold_backlog();
  void await_writable();
  void watch_peer();
  void on_readable();
  void on_end_of_input();
  void finish();
  void cut_slow_reader(char const* why);
  void expire();
  void close(Closing how, StreamEnd why);

  Roster& roster_;
  Socket socket_;
  Place place_;
  std::unique_ptr<EventFeed> feed_;
  std::string request_id_;

  std::vector<stream::Bytes> queue_;  // The first `chunk_parts_` of them are in the open chunk.
  std::size_t queued_bytes_ = 0;
  std::size_t held_bytes_ = 0;   // Of the backlog, as its user's budget knows it.
  std::size_t chunk_bytes_ = 0;  // Of the open chunk's frames.
  std::size_t chunk_sent_ = 0;   // Of the open chunk with its framing.
  std::uint32_t chunk_parts_ = 0;
  std::uint32_t expires_in_ = 0;  // Milliseconds after `opened_`; 0: never.
  std::uint32_t opened_ = 0;
  std::uint32_t since_ = 0;  // When the open chunk was begun, or else the last one was sent.
  std::uint32_t stray_bytes_ = 0;
  std::array<char, 18> chunk_head_{};
  std::uint8_t chunk_head_size_ = 0;
  bool chunk_open_ = false;
  bool last_chunk_done_ = false;
  bool awaiting_writable_ = false;
  bool overflowed_ = false;
  bool expired_ = false;
  Framing framing_;
  State state_ = State::waiting;
  std::optional<stream::CloseReason> ending_;
};

}  // namespace runnel::http
