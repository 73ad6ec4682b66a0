#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runnel::flow {

// The text of a JSON string that is still being written, from behind its opening quote to its closing one.
// Gives whole characters only, however the bytes are cut, and nothing from the first place on that
// parse_lenient_json would refuse: invalid UTF-8, a control character, an escape that is none. Half of a
// surrogate pair and U+0000 are U+FFFD there and here.
class StringDecoder {
 public:
  // Appends the characters that are complete now, and returns how many bytes it has read: all of them, unless
  // the string ends among them.
  std::size_t feed(std::string_view piece, std::string& out);

  [[nodiscard]] bool is_complete() const { return state_ == State::complete; }
  [[nodiscard]] bool is_broken() const { return state_ == State::broken; }

 private:
  enum class State { plain, character, escape, hex, low_half, complete, broken };

  [[nodiscard]] bool is_over() const { return is_complete() || is_broken(); }
  void take(char c, std::string& out);
  void take_plain(char c, std::string& out);
  void take_character(char c, std::string& out);
  void take_escape(char c, std::string& out);
  void take_hex(char c, std::string& out);
  void drop_half(std::string& out);
  void take_unit(std::string& out);

  State state_ = State::plain;
  std::string character_;   // The first bytes of one.
  int digits_ = 0;          // Of a \u escape.
  std::uint32_t unit_ = 0;  // What they make.
  std::uint32_t high_ = 0;  // The first half of a surrogate pair; 0: none is open.
};

}  // namespace runnel::flow
