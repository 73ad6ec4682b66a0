#pragma once

#include <cstddef>
#include <string_view>

namespace runnel::http {

// Reads a request's head as it arrives, before anything is allocated for the request. It finds the end of the
// head, and refuses at the first wrong byte what RFC 9112 forbids and parsers disagree about, because such
// disagreement lets requests be smuggled past a proxy. Line by line:
//
//   CR or LF alone, NUL, other control characters except tab        malformed
//   an empty line before the request line                           malformed
//   a request line that is not METHOD SP TARGET SP HTTP/d.d         malformed (so is one without a version)
//   a target with characters that are not visible ASCII             malformed
//   a version that is not 1.0 or 1.1 (such as HTTP/2's preface)     unsupported version
//   a field that begins with a space (a folded line)                malformed
//   a field whose name is not a token (space before the colon)      malformed
//
// What the fields mean together is checked by refuse_head.
class HeadScan {
 public:
  enum class State { incomplete, whole, malformed, unsupported_version };

  // `bytes` is everything that has arrived; each call sees the same bytes and more. Once the state is not
  // `incomplete`, it stays.
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
