#pragma once

#include <string>
#include <string_view>

namespace runnel {

// JSON writes a character beyond U+FFFF as two escapes, the halves of a surrogate pair. Half a pair is not a
// character, so parsers refuse it.

// What happens to an escape that is one half of a pair without the other half.
enum class LoneHalf {
  replaced,  // It becomes "\ufffd", which has the same length.
  kept,      // It becomes the three bytes that UTF-8 would use if it allowed halves. For HalfJoiner.
};

// `json` without escapes of lone halves. The rest is unchanged, valid JSON or not.
std::string mend_surrogates(std::string_view json, LoneHalf lone);

// Joins pairs whose halves arrive in two pieces of a text, in the form that `LoneHalf::kept` gives them. A
// half that stays alone becomes U+FFFD.
class HalfJoiner {
 public:
  // Joins the pairs in `piece`. The first half of a pair at its end is held back until the next piece.
  void join(std::string& piece);
  // Call it after the last piece. It returns U+FFFD for a half that is still held back, otherwise an empty
  // text.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace runnel
