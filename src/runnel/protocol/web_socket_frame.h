#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runnel::protocol {

// What a frame of RFC 6455 is, in its section 5.2.
enum class WebSocketOpcode : std::uint8_t {
  continuation = 0x0,
  text = 0x1,
  binary = 0x2,
  close = 0x8,
  ping = 0x9,
  pong = 0xA,
};

// The bytes before the payload of a frame that a server sends: the last of its message and not masked. The
// length is written in as few bytes as it fits.
class WebSocketHead {
 public:
  WebSocketHead(WebSocketOpcode opcode, std::uint64_t payload) {
    add(0x80U | static_cast<std::uint8_t>(opcode));
    if (payload <= 125) {
      add(payload);
    } else if (payload <= 0xFFFF) {
      add(126);
      add_bytes(payload, 2);
    } else {
      add(127);
      add_bytes(payload, 8);
    }
  }

  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  void add(std::uint64_t byte) { bytes_[size_++] = static_cast<char>(byte & 0xFFU); }
  void add_bytes(std::uint64_t value, unsigned count) {
    while (count-- > 0)
      add(value >> (8U * count));
  }

  std::array<char, 10> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace runnel::protocol
