#pragma once

#include <string>
#include <string_view>

namespace runnel::flow {

// Joins pieces of text that may be cut anywhere, and gives whole characters. It gives nothing more after the
// first byte that is not part of a character, or after U+0000, which cannot be stored.
class CharacterJoiner {
 public:
  void feed(std::string_view piece, std::string& out);

 private:
  std::string rest_;  // The first bytes of an incomplete character.
  bool broken_ = false;
};

}  // namespace runnel::flow
