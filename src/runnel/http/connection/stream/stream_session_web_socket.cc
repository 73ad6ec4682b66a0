#include <string>
#include <string_view>
#include <utility>

#include "runnel/http/connection/stream/stream_session.h"

// The part of StreamSession that talks with the client of a WebSocket: its frames, and the closing handshake.
namespace runnel::http {

using stream::CloseReason;

namespace {
// What the client may send at once.
constexpr std::uint32_t kMostInput = std::uint32_t{256} * 1024;
}  // namespace

// What the client of a WebSocket sends is answered with frames between its messages.
void StreamSession::on_message_bytes(std::string_view bytes) {
  std::string answer;
  bool const goes_on = web_socket_->read(bytes, answer);
  if (parting_) {
    // Only the client's close frame is waited for. Everything else is dropped: closing a socket with unread
    // bytes would turn into a reset, which may overtake the server's close frame.
    if (web_socket_->closed_by_peer()) close(Closing::orderly, parted_as_);
    return;
  }
  if (!goes_on) {
    parting_ = true;
    parted_as_ = StreamEnd::gone;
    ending_ = CloseReason::reconnect;
  }
  if (!answer.empty()) answer_client(std::move(answer));
  stray_bytes_ += static_cast<std::uint32_t>(bytes.size());
  if (stray_bytes_ > kMostInput && state_ == State::live && !parting_)
    part(WebSocketClose::not_allowed, "too much input", StreamEnd::gone);
}

// While the socket takes nothing, only the newest pongs are kept: RFC 6455 5.5.3 asks for no more.
void StreamSession::answer_client(std::string answer) {
  auto frames = stream::share({std::move(answer), {}});
  if (awaiting_writable_ && !parting_) {
    late_answer_ = std::move(frames);
  } else {
    enqueue(std::move(frames));
  }
}

// Tells the client of a WebSocket that the stream is over.
void StreamSession::finish_web_socket() {
  if (parting_) return;
  if (ending_ == CloseReason::ended) return part(WebSocketClose::normal, "", StreamEnd::ended);
  part(WebSocketClose::restart, "reconnect", StreamEnd::reconnect);
}

// Sends what the client has begun to get, and then a close frame.
void StreamSession::part(WebSocketClose code, std::string_view reason, StreamEnd why) {
  parting_ = true;
  parted_as_ = why;
  if (why == StreamEnd::slow) {
    queue_.resize(chunk_open_ ? chunk_parts_ : 0);
    queued_bytes_ = chunk_open_ ? chunk_bytes_ : 0;
  }
  ending_ = why == StreamEnd::ended ? CloseReason::ended : CloseReason::reconnect;
  enqueue(stream::share({close_frame(code, reason), {}}));
}

}  // namespace runnel::http
