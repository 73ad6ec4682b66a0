#pragma once

#include <cstdint>
#include <string_view>

namespace runnel {

// Estimates how many tokens `text` has if no provider has counted them: in a stream that was cut, or in a
// call that is about to be made. It follows DeepSeek's rule of thumb: 0.6 tokens for a Chinese character (and
// for other East Asian characters), 0.3 for an ASCII character, 0.5 for other letters, and 2 for characters
// beyond the basic plane, such as emoji. The result is rounded up, so only an empty text has none.
//
// This is not a tokenizer. For prose in English or Chinese, expect a result within a third of the true count;
// for code, digits and rare scripts it may be further off.
std::int64_t estimate_tokens(std::string_view text);

// The same in tenths of a token and not rounded, for text that arrives in pieces.
std::int64_t estimate_token_tenths(std::string_view text);

}  // namespace runnel
