// What a client sends on a WebSocket.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/target.h"
#include "runnel/http/web_socket/web_socket_reader.h"

namespace {

using runnel::http::WebSocketReader;

struct Answered {
  std::string frames;
  bool open = true;
};

Answered answer_to(std::string_view bytes, std::size_t piece) {
  WebSocketReader reader;
  Answered out;
  while (!bytes.empty() && out.open) {
    auto const size = std::min(piece, bytes.size());
    out.open = reader.read(bytes.substr(0, size), out.frames);
    bytes.remove_prefix(size);
  }
  return out;
}

void check_frames(std::string_view frames, bool open) {
  bool closed = false;
  while (!frames.empty()) {
    require(!closed, "nothing follows a close frame");
    require(frames.size() >= 2, "a frame has a head");
    auto const first = static_cast<std::uint8_t>(frames[0]);
    auto const length = static_cast<std::uint8_t>(frames[1]);
    require(first == 0x8A || first == 0x88, "the answers are pongs and a close frame");
    require(length <= 125 && frames.size() >= 2U + length, "a control frame is short and whole");
    closed = first == 0x88;
    require(!closed || length != 1, "a close code has two bytes");
    frames.remove_prefix(2U + length);
  }
  require(closed != open, "a close frame is sent if and only if the connection is over");
}

}  // namespace

RUNNEL_FUZZ_TARGET(web_socket) {
  std::string_view const bytes{reinterpret_cast<char const*>(data), size};
  auto const whole = answer_to(bytes, size + 1);
  check_frames(whole.frames, whole.open);
  for (std::size_t const piece : {1U, 7U}) {
    auto const cut = answer_to(bytes, piece);
    require(cut.frames == whole.frames && cut.open == whole.open, "the result does not depend on the cuts");
  }
  return 0;
}
