#pragma once

#include <string>
#include <string_view>

namespace runnel {

// JSON writes a character beyond U+FFFF as two escapes, the halves of a surrogate pair. Half a pair is no
// character: parsers refuse it.

// What becomes of an escape that is half of a pair without the other half.
enum class LoneHalf {
  replaced,  // "\ufffd", which has the same length.
  kept,      // The three bytes that UTF-8 would have for it, were it allowed: for HalfJoiner.
};

// `json` without lone halves; the rest as it is, be it JSON or not.
std::string mend_surrogates(std::string_view json, LoneHalf lone);

// Joins pairs whose halves came in two pieces of a text, as `LoneHalf::kept` leaves them; what stays alone
// becomes U+FFFD.
class HalfJoiner {
 public:
  // A half at the end is held back until the next piece.
  void join(std::string& piece);
  // What was held back, where no more pieces come.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace runnel
