#pragma once

#include <cstddef>
#include <string>
#include <vector>

// How the offline model handles text.
namespace runnel::model {

bool has_han(std::string const& text);

// The first `limit` code points, with an ellipsis where there are more.
std::string shortened(std::string const& text, std::size_t limit);

// Words with the space before them, and wide characters one by one: what joins back to the text.
std::vector<std::string> split_words(std::string const& text);

// `text` with numbers behind it, so that it has at least so many words.
std::string padded(std::string text, std::size_t words);

}  // namespace runnel::model
