#include "runnel/http/web_socket/web_socket_reader.h"

#include <algorithm>

#include "runnel/core/text/text.h"
#include "runnel/protocol/web_socket_frame.h"

namespace runnel::http {

namespace {

using protocol::WebSocketHead;
using protocol::WebSocketOpcode;

constexpr std::size_t kMaskBytes = 4;

bool is(std::uint8_t opcode, WebSocketOpcode wanted) {
  return opcode == static_cast<std::uint8_t>(wanted);
}

// The codes that an endpoint may put into a close frame.
bool may_be_sent(unsigned code) {
  bool const defined = code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
  return defined || (code >= 3000 && code <= 4999);
}

void append_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload) {
  out.append(WebSocketHead{opcode, payload.size()}.bytes()).append(payload);
}

}  // namespace

std::string close_frame(WebSocketClose code, std::string_view reason) {
  auto const number = static_cast<std::uint16_t>(code);
  std::string payload{static_cast<char>(number >> 8U), static_cast<char>(number & 0xFFU)};
  payload += reason;
  std::string out;
  append_frame(out, WebSocketOpcode::close, payload);
  return out;
}

bool WebSocketReader::read(std::string_view bytes, std::string& answer) {
  while (!bytes.empty() && state_ != State::over) {
    bytes.remove_prefix(state_ == State::head ? take_head(bytes, answer) : take_payload(bytes, answer));
  }
  return state_ != State::over;
}

std::size_t WebSocketReader::head_size() const {
  if (head_bytes_ < 2) return 2;
  auto const length = head_[1] & 0x7FU;
  return 2 + kMaskBytes + (length == 126 ? 2 : length == 127 ? 8 : 0);
}

std::uint64_t WebSocketReader::announced_length() const {
  std::uint64_t const length = head_[1] & 0x7FU;
  if (length < 126) return length;
  std::uint64_t value = 0;
  for (std::size_t i = 2; i < head_size() - kMaskBytes; ++i)
    value = value << 8U | head_[i];
  return value;
}

// One byte, and the frame begins if it was the head's last.
std::size_t WebSocketReader::take_head(std::string_view bytes, std::string& answer) {
  head_[head_bytes_++] = static_cast<std::uint8_t>(bytes.front());
  if (head_bytes_ >= 2 && (head_[1] & 0x80U) == 0) {
    fail(WebSocketClose::protocol_error, "frames of clients must be masked", answer);
  } else if (head_bytes_ == head_size()) {
    begin_frame(answer);
  }
  return 1;
}

void WebSocketReader::begin_frame(std::string& answer) {
  auto const broken = [&](std::string_view why) { fail(WebSocketClose::protocol_error, why, answer); };
  auto const length = announced_length();
  auto const written = head_size() - 2 - kMaskBytes;
  bool const is_known = opcode() <= 0x2 || (opcode() >= 0x8 && opcode() <= 0xA);
  bool const continues = is(opcode(), WebSocketOpcode::continuation);
  if ((head_[0] & 0x70U) != 0) return broken("a reserved bit is set");
  if (!is_known) return broken("the opcode is not known");
  if ((written == 2 && length < 126) || (written == 8 && (length <= 0xFFFF || length >> 63U != 0)))
    return broken("the length is not written in its shortest form");
  if (is_control() && (!is_final() || length > kMostControl))
    return broken("a control frame must be one frame of at most 125 bytes");
  if (!is_control() && continues != in_message_)
    return broken(continues ? "there is no message to continue" : "the message before has not ended");
  if (!is_control()) {
    if (!continues) {
      is_text_ = is(opcode(), WebSocketOpcode::text);
      message_bytes_ = 0;
      text_.restart();
    }
    in_message_ = true;
    message_bytes_ += std::min(length, kMostMessage + 1);
    if (message_bytes_ > kMostMessage)
      return fail(WebSocketClose::too_big, "a message may have at most 65536 bytes", answer);
  }
  state_ = State::payload;
  payload_left_ = length;
  mask_at_ = 0;
  control_bytes_ = 0;
  if (length == 0) end_frame(answer);
}

std::size_t WebSocketReader::take_payload(std::string_view bytes, std::string& answer) {
  std::array<char, 1024> piece{};
  auto const size =
      static_cast<std::size_t>(std::min<std::uint64_t>({bytes.size(), payload_left_, piece.size()}));
  auto const* const mask = head_.data() + head_size() - kMaskBytes;
  for (std::size_t i = 0; i < size; ++i) {
    piece[i] = static_cast<char>(static_cast<std::uint8_t>(bytes[i]) ^ mask[mask_at_]);
    mask_at_ = (mask_at_ + 1) % kMaskBytes;
  }
  payload_left_ -= size;
  if (is_control()) {
    std::copy_n(piece.begin(), size, control_.begin() + control_bytes_);
    control_bytes_ = static_cast<std::uint8_t>(control_bytes_ + size);
  } else if (is_text_ && !text_.add({piece.data(), size})) {
    fail(WebSocketClose::bad_text, "the text is not UTF-8", answer);
    return size;
  }
  if (payload_left_ == 0) end_frame(answer);
  return size;
}

void WebSocketReader::end_frame(std::string& answer) {
  state_ = State::head;
  if (is_control()) {
    end_control(answer);
  } else if (is_final()) {
    in_message_ = false;
    if (is_text_ && !text_.is_whole()) fail(WebSocketClose::bad_text, "the text is not UTF-8", answer);
  }
  head_bytes_ = 0;
}

void WebSocketReader::end_control(std::string& answer) {
  if (is(opcode(), WebSocketOpcode::close)) return answer_close(answer);
  if (is(opcode(), WebSocketOpcode::ping))
    append_frame(answer, WebSocketOpcode::pong, {control_.data(), control_bytes_});
}

// A close frame is answered with the same code.
void WebSocketReader::answer_close(std::string& answer) {
  closed_by_peer_ = true;
  std::string_view const payload{control_.data(), control_bytes_};
  if (payload.size() == 1) return fail(WebSocketClose::protocol_error, "a close code has two bytes", answer);
  auto const byte = [&](std::size_t at) {
    return static_cast<unsigned>(static_cast<std::uint8_t>(payload[at]));
  };
  if (!payload.empty() && !may_be_sent(byte(0) << 8U | byte(1)))
    return fail(WebSocketClose::protocol_error, "this close code may not be sent", answer);
  if (payload.size() > 2 && !is_utf8(payload.substr(2)))
    return fail(WebSocketClose::bad_text, "the reason is not UTF-8", answer);
  append_frame(answer, WebSocketOpcode::close, payload.substr(0, 2));
  state_ = State::over;
}

void WebSocketReader::fail(WebSocketClose code, std::string_view reason, std::string& answer) {
  answer += close_frame(code, reason);
  state_ = State::over;
}

}  // namespace runnel::http
