#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// How the offline model reads a user's words: from left to right, by tables of words.
namespace runnel::model {

// A user's words in the form that the rules read: valid UTF-8 on one line, with ASCII digits and punctuation
// in place of their full-width forms.
struct OfflineText {
  std::string text;
  std::string lower;  // The same bytes with ASCII letters in lower case, so that places are the same in both.
};

// A text of more code points is no request that the rules are made for. So the time that they take is
// limited, whatever a user sends.
inline constexpr std::size_t kLongestRequest = 200;

// Empty if the text is longer than that.
std::optional<OfflineText> to_offline_text(std::string_view words);

// The part of it that begins at `from`.
OfflineText part_of(OfflineText const& words, std::size_t from, std::size_t length = std::string::npos);

// Whether a word may begin at this place: not inside a word of ASCII letters or digits.
bool begins_word(std::string_view text, std::size_t at);

// Where `word` begins in `text`, from `from` on; ASCII letters only as whole words. npos if nowhere.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);

using WordList = std::vector<std::string_view>;

// Whether `text` has one of the words.
bool has_any(std::string_view text, WordList const& words);

// `text` without the blanks and punctuation at its ends.
std::string_view trimmed(std::string_view text);

// A number as it was written. Numbers above kLargestNumber are kLargestNumber.
struct Number {
  std::int64_t value = 0;
  bool in_digits = false;
  bool leading_zero = false;
};
inline constexpr std::int64_t kLargestNumber = 1'000'000'000;

// A word, and what it means.
template <class Meaning>
using Meanings = std::vector<std::pair<std::string_view, Meaning>>;

// Reads a text from left to right. Each function skips blanks first, and moves on only if it finds what it
// looks for. A copy is a place to come back to.
class Scan {
 public:
  explicit Scan(std::string_view lower, std::size_t at = 0) : text_{lower}, at_{at} {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

  // A word of ASCII letters must be whole.
  bool take(std::string_view word);
  bool take_any(WordList const& words);

  // In a table, a word must come before its own beginning: "tomorrow" before "to".
  template <class Meaning>
  std::optional<Meaning> take_one(Meanings<Meaning> const& table) {
    for (auto const& [word, meaning] : table) {
      if (take(word)) return meaning;
    }
    return std::nullopt;
  }

  std::optional<Number> take_digits();
  // 3, 十二, 两, twelve.
  std::optional<Number> take_number();

  void skip_blanks();
  // Moves on by one character.
  void step();

 private:
  std::string_view text_;
  std::size_t at_;
};

}  // namespace runnel::model
