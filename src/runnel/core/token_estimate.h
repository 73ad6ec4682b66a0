#pragma once

#include <cstdint>
#include <string_view>

namespace runnel {

// How many tokens `text` has, about, where no provider has counted them: a stream that was cut, a call that
// is about to be made. By DeepSeek's rule of thumb: 0.6 tokens for a Chinese character (and for other
// characters of East Asia), 0.3 for an ASCII one; 0.5 for other letters and 2 for what lies beyond the basic
// plane, such as emoji. Rounded up: only an empty text has none.
//
// Not a tokenizer: expect it within a third of the true count for prose in English or Chinese; code, digits
// and rare scripts may be further off.
std::int64_t estimate_tokens(std::string_view text);

// The same in tenths of a token, not rounded: for text that comes in pieces.
std::int64_t estimate_token_tenths(std::string_view text);

}  // namespace runnel
