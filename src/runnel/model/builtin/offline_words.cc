#include "runnel/model/builtin/offline_words.h"

#include <algorithm>
#include <string_view>

#include "runnel/core/text/text.h"

namespace runnel::model {
namespace {

bool is_han(std::string_view sequence) {
  return sequence.size() == 3 && sequence >= "\u4e00" && sequence <= "\u9fff";
}

bool is_wide(std::string_view sequence) {
  return sequence.size() >= 3;
}

// Calls `use` with each word of the text, one after the other.
template <class Use>
void for_each_word(std::string_view text, Use const& use) {
  std::size_t from = 0;
  bool has_letters = false;
  auto const finish = [&](std::size_t end) {
    if (end > from) use(text.substr(from, end - from));
    from = end;
    has_letters = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    auto const sequence = text.substr(at, length);
    bool const space = sequence == " " || sequence == "\n";
    if (is_wide(sequence) || (space && has_letters)) finish(at);
    if (!space) has_letters = true;
    at += length;
    if (is_wide(sequence)) finish(at);
  }
  finish(text.size());
}

}  // namespace

bool has_han(std::string const& text) {
  for (std::size_t at = 0; at < text.size();) {
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    if (is_han(std::string_view{text}.substr(at, length))) return true;
    at += length;
  }
  return false;
}

std::string shortened(std::string const& text, std::size_t limit) {
  auto const first = first_code_points(text, limit);
  return first.size() == text.size() ? text : std::string{first} + "…";
}

std::vector<std::string> split_words(std::string const& text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  for_each_word(text, [&](std::string_view) { ++count; });
  return count;
}

std::string padded(std::string text, std::size_t words) {
  for (auto n = count_words(text) + 1; n <= words; ++n)
    text += " " + std::to_string(n);
  return text;
}

}  // namespace runnel::model
