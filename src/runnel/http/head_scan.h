#pragma once

#include <cstddef>
#include <string_view>

namespace runnel::http {

// Reads a request's head as it arrives, before anything is allocated for the request: finds its end, and
// refuses at the first byte what RFC 9112 forbids and parsers disagree about, which is how requests are
// smuggled past a proxy. Line by line:
//
//   CR or LF alone, NUL, other control characters (but tab)   malformed
//   an empty line before the request line                     malformed
//   other than METHOD SP TARGET SP HTTP/d.d, all visible      malformed (so is HTTP/0.9)
//   a version that is not 1.0 or 1.1 (so is HTTP/2's preface)  unsupported version
//   a field that begins with a space (a folded one)           malformed
//   a field whose name is no token (space before the colon)   malformed
//
// What the fields mean together is for refuse_head.
class HeadScan {
 public:
  enum class State { incomplete, whole, malformed, unsupported_version };

  // `bytes` is all that has arrived; each call sees more of the same. Once the state is not `incomplete`, it
  // stays.
  State advance(std::string_view bytes);

  [[nodiscard]] State state() const { return state_; }

 private:
  [[nodiscard]] State end_line(std::string_view line);

  State state_ = State::incomplete;
  std::size_t seen_ = 0;
  std::size_t line_begin_ = 0;
  bool after_return_ = false;
};

}  // namespace runnel::http
