#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/container/static_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/event.h"
#include "runnel/http/connection/chunk.h"
#include "runnel/http/connection/connection_count.h"
#include "runnel/http/connection/core_sessions.h"
#include "runnel/http/connection/socket.h"
#include "runnel/http/routes/event_feed.h"
#include "runnel/http/web_socket/web_socket_reader.h"
#include "runnel/stream/subscriber.h"

namespace runnel::http {

class WaitingList;

// One live reader, of an SSE stream or on a WebSocket. It is a plain object, because an idle coroutine costs
// several times as much. It lives on one core.
//
// Frames go to the kernel as they come, without an asynchronous operation, while the reader keeps up.
// Otherwise they are queued and leave together, in one chunk, when the socket takes more. A reader that falls
// too far behind, or takes too long for one chunk, is cut and may resume (SSE-6).
//
// The feed of a whole thread continues when a run has ended: the session asks it for what comes next, and
// sends stored events page by page, each when the reader has taken the one before.
//
// On a WebSocket the frames are whole messages, pings keep the connection alive, and a close frame says
// whether the client may come back (TASK-5). It is sent behind the message that has begun, and then the
// client has a short time to answer it.
class StreamSession final : public stream::Subscriber,
                            public Session,
                            public std::enable_shared_from_this<StreamSession> {
 public:
  enum class Kind : std::uint8_t { sse, web_socket };

  StreamSession(CoreSessions& sessions, Kind kind, Framing framing, std::string request_id);

  // The connection may carry another request when the stream has ended. Call this before start().
  void give_back_to(WaitingList& waiting) { waiting_ = &waiting; }

  // The feed continues when it says that a run has ended. Call this before start().
  void expect_more_runs();

  // The stream ends at this time (unix seconds), with a comment that says why: the reader needs a new token.
  // Call this before start().
  void end_at(std::int64_t unix_s);
  [[nodiscard]] bool has_expired() const;

  // Takes over the socket, on which the head and the replay have been sent, and sends the frames that came
  // before this call. `early` is what the client has sent behind its request. The feed is destroyed when the
  // session closes.
  void start(Socket socket, ConnectionEntry entry, std::unique_ptr<EventFeed> feed, std::string_view early);

  void on_frames(stream::SharedFrames frames) override;
  void on_close(stream::CloseReason reason) override;

  void on_tick() override;
  void end_stream() override;
  void stop() override;

 private:
  enum class State : std::uint8_t { waiting, live, closed };
  enum class Closing : std::uint8_t {
    orderly,   // The kernel still sends what it has.
    abortive,  // What the kernel has is dropped, because nobody reads it.
  };
  static constexpr std::size_t kMaxBuffers = 64;
  using Buffers = boost::container::static_vector<boost::asio::const_buffer, kMaxBuffers>;

  void ask_for_more();
  boost::asio::awaitable<void> pump(std::shared_ptr<StreamSession> self);
  bool take_step(FeedStep step);
  void release_feed();
  [[nodiscard]] bool may_be_used_again() const;
  void give_back();
  void leave();
  void overflow();
  void enqueue(stream::SharedFrames frames);
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
  void on_message_bytes(std::string_view bytes);
  void on_end_of_input();
  void finish();
  void finish_web_socket();
  void part(WebSocketClose code, std::string_view reason, StreamEnd why);
  void answer_client(std::string answer);
  void drop_queue();
  void cut_slow_reader(char const* why);
  void expire();
  void close(Closing how, StreamEnd why);

  CoreSessions& sessions_;
  WaitingList* waiting_ = nullptr;  // Null if the connection ends with the stream.
  Socket socket_;
  ConnectionEntry entry_;
  std::unique_ptr<EventFeed> feed_;
  std::unique_ptr<WebSocketReader> web_socket_;  // Null for an SSE stream.
  stream::SharedFrames late_answer_;             // The newest pongs, while the socket takes nothing.
  std::string request_id_;

  // For a feed that continues.
  struct MoreRuns {
    explicit MoreRuns(boost::asio::any_io_executor const& executor) : sent{executor} {}
    bool asked_for = false;  // A run has ended, and the feed was not asked yet.
    bool asking = false;     // The feed is being asked: it must not be destroyed.
    base::Event sent;        // The queue is empty, or the stream ends.
  };
  std::unique_ptr<MoreRuns> more_runs_;  // Null if the feed does not continue.

  std::vector<stream::SharedFrames> queue_;  // The first `chunk_parts_` of them are in the open chunk.
  std::size_t queued_bytes_ = 0;
  std::size_t held_bytes_ = 0;   // The backlog as the user's budget last counted it.
  std::size_t chunk_bytes_ = 0;  // Bytes of the frames in the open chunk.
  std::size_t chunk_sent_ = 0;   // Bytes sent of the open chunk, with its framing.
  std::uint32_t chunk_parts_ = 0;
  std::uint32_t expires_in_ = 0;  // Milliseconds after `opened_`; 0 if never.
  std::uint32_t opened_ = 0;
  std::uint32_t since_ = 0;        // When the open chunk began; if none is open, when the last was sent.
  std::uint32_t stray_bytes_ = 0;  // On a WebSocket, what came lately.
  ChunkHead chunk_head_;
  bool chunk_open_ = false;
  bool last_chunk_done_ = false;
  bool awaiting_writable_ = false;
  bool overflowed_ = false;
  bool expired_ = false;
  bool input_over_ = false;  // The client has finished sending.
  bool parting_ = false;     // The close frame of a WebSocket is queued or has been sent.
  StreamEnd parted_as_ = StreamEnd::ended;
  Framing framing_;
  State state_ = State::waiting;
  std::optional<stream::CloseReason> ending_;
};

}  // namespace runnel::http
