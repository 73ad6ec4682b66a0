#pragma once

#include <string>
#include <string_view>

namespace runnel::flow {

// Whole characters out of text that comes in pieces cut anywhere. From the first byte on that belongs to
// none, or from U+0000 on, which cannot be stored, it gives nothing more.
class CharacterJoiner {
 public:
  void feed(std::string_view piece, std::string& out);

 private:
  std::string rest_;  // The first bytes of a character.
  bool broken_ = false;
};

}  // namespace runnel::flow
