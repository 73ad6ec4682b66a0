#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// How the offline model handles text.
namespace runnel::model {

bool has_han(std::string const& text);

// The first `limit` code points, with an ellipsis if there are more.
std::string shortened(std::string const& text, std::size_t limit);

// Splits a text into words, each with the space before it, and single wide characters. Joined, they are the
// text.
std::vector<std::string> split_words(std::string const& text);

// How many words that are. A text may be a long one, so no word is made for it.
std::size_t count_words(std::string_view text);

// `text` with numbers after it, so that it has at least `words` words.
std::string padded(std::string text, std::size_t words);

}  // namespace runnel::model
