#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runnel/http/web_socket/utf8_check.h"

namespace runnel::http {

// Why a WebSocket is closed, as RFC 6455 7.4.1 numbers it.
enum class WebSocketClose : std::uint16_t {
  normal = 1000,
  protocol_error = 1002,
  bad_text = 1007,
  not_allowed = 1008,  // Do not come back.
  too_big = 1009,
  restart = 1012,    // Come back.
  try_later = 1013,  // Come back.
};

// A whole close frame, as a server sends it.
std::string close_frame(WebSocketClose code, std::string_view reason);

// Reads what a client sends on a WebSocket, byte by byte, and says how it is answered (RFC 6455). Clients of
// this server have nothing to say, so their messages are checked and dropped.
class WebSocketReader {
 public:
  // The longest message that a client may send, in all its frames.
  static constexpr std::uint64_t kMostMessage = std::uint64_t{64} * 1024;

  // Appends the frames with which the bytes are answered: pongs, and a close frame if the client has closed
  // or has broken the protocol. Returns false after a close frame; nothing more may be read then.
  bool read(std::string_view bytes, std::string& answer);

  // Whether the client has sent its own close frame.
  [[nodiscard]] bool closed_by_peer() const { return closed_by_peer_; }

 private:
  enum class State : std::uint8_t { head, payload, over };
  static constexpr std::size_t kLongestHead = 14;
  static constexpr std::size_t kMostControl = 125;

  [[nodiscard]] std::uint8_t opcode() const { return head_[0] & 0x0FU; }
  [[nodiscard]] bool is_final() const { return (head_[0] & 0x80U) != 0; }
  [[nodiscard]] bool is_control() const { return opcode() >= 0x8; }
  [[nodiscard]] std::size_t head_size() const;
  [[nodiscard]] std::uint64_t announced_length() const;

  std::size_t take_head(std::string_view bytes, std::string& answer);
  void begin_frame(std::string& answer);
  std::size_t take_payload(std::string_view bytes, std::string& answer);
  void end_frame(std::string& answer);
  void end_control(std::string& answer);
  void answer_close(std::string& answer);
  void fail(WebSocketClose code, std::string_view reason, std::string& answer);

  State state_ = State::head;
  bool in_message_ = false;  // Frames of an unfinished message have come.
  bool is_text_ = false;     // That message is a text.
  bool closed_by_peer_ = false;
  std::uint8_t head_bytes_ = 0;
  std::uint8_t mask_at_ = 0;
  std::uint8_t control_bytes_ = 0;
  Utf8Check text_;
  std::array<std::uint8_t, kLongestHead> head_{};
  std::array<char, kMostControl> control_{};  // The payload of a control frame.
  std::uint64_t payload_left_ = 0;
  std::uint64_t message_bytes_ = 0;
};

}  // namespace runnel::http
