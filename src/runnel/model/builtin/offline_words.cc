#include "runnel/model/builtin/offline_words.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runnel/core/text/text.h"

namespace runnel::model {
namespace {

bool is_han(std::string_view sequence) {
  return sequence.size() == 3 && sequence >= "\u4e00" && sequence <= "\u9fff";
}

bool is_wide(std::string_view sequence) {
  return sequence.size() >= 3;
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
  std::string word;
  bool word_has_letters = false;
  auto const finish = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
    word_has_letters = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    auto const sequence = text.substr(at, length);
    bool const space = sequence == " " || sequence == "\n";
    if (is_wide(sequence) || (space && word_has_letters)) finish();
    word += sequence;
    if (!space) word_has_letters = true;
    if (is_wide(sequence)) finish();
    at += length;
  }
  finish();
  return words;
}

std::string padded(std::string text, std::size_t words) {
  for (auto n = split_words(text).size() + 1; n <= words; ++n)
    text += " " + std::to_string(n);
  return text;
}

}  // namespace runnel::model
