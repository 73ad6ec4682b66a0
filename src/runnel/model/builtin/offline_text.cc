#include "runnel/model/builtin/offline_text.h"

#include <algorithm>

#include "runnel/core/text/text.h"

namespace runnel::model {
namespace {

bool is_ascii_letter(char c) {
  char const lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z';
}

bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_ascii_word(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c);
}

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

constexpr char32_t kFirstFullWidth = 0xFF01;
constexpr char32_t kLastFullWidth = 0xFF5E;
constexpr char32_t kFullWidthShift = 0xFEE0;

// The ASCII form of a character, or 0 if it has none.
char ascii_form(char32_t c) {
  if (c >= kFirstFullWidth && c <= kLastFullWidth) return static_cast<char>(c - kFullWidthShift);
  switch (c) {
    case 0x3000:
    case 0x00A0:
      return ' ';
    case 0x2018:
    case 0x2019:
      return '\'';
    case 0x2013:
    case 0x2014:
      return '-';
    case 0x3002:
      return '.';
    default:
      return 0;
  }
}

std::string with_ascii_forms(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    char const ascii = ascii_form(code_point_at(text, at));
    if (ascii != 0) {
      out += ascii;
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
  return out;
}

Meanings<std::int64_t> const& numerals() {
  static Meanings<std::int64_t> const all{{"零", 0}, {"〇", 0}, {"一", 1}, {"二", 2}, {"两", 2}, {"三", 3},
                                          {"四", 4}, {"五", 5}, {"六", 6}, {"七", 7}, {"八", 8}, {"九", 9}};
  return all;
}

Meanings<std::int64_t> const& number_words() {
  static Meanings<std::int64_t> const all{
      {"one", 1},     {"two", 2},         {"three", 3},    {"four", 4},         {"five", 5},
      {"six", 6},     {"seven", 7},       {"eight", 8},    {"nine", 9},         {"ten", 10},
      {"eleven", 11}, {"twelve", 12},     {"fifteen", 15}, {"twenty-five", 25}, {"twenty", 20},
      {"thirty", 30}, {"forty-five", 45}, {"forty", 40},   {"fifty", 50},       {"sixty", 60},
      {"ninety", 90}};
  return all;
}

// 0 to 99 in Chinese numerals.
std::optional<Number> take_numerals(Scan& scan) {
  Scan ahead = scan;
  auto const first = ahead.take_one(numerals());
  Number number{first.value_or(0), false, first == 0};
  bool const tens = first != 0 && ahead.take("十");
  if (!first && !tens) return std::nullopt;
  if (tens) number.value = first.value_or(1) * 10;
  if (tens || first == 0) number.value += ahead.take_one(numerals()).value_or(0);
  scan = ahead;
  return number;
}

constexpr std::string_view kPunctuation = " \t.,;:!?\"'-~()[]";

WordList const& wide_punctuation() {
  static WordList const all{"、", "「", "」", "“", "”", "…", "·", "～"};
  return all;
}

bool trim_front(std::string_view& text) {
  if (!text.empty() && kPunctuation.find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
    return true;
  }
  for (auto const& mark : wide_punctuation()) {
    if (!text.starts_with(mark)) continue;
    text.remove_prefix(mark.size());
    return true;
  }
  return false;
}

bool trim_back(std::string_view& text) {
  if (!text.empty() && kPunctuation.find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
    return true;
  }
  for (auto const& mark : wide_punctuation()) {
    if (!text.ends_with(mark)) continue;
    text.remove_suffix(mark.size());
    return true;
  }
  return false;
}

bool is_word_end(std::string_view text, std::size_t at) {
  return at >= text.size() || !is_ascii_word(text[at - 1]) || !is_ascii_letter(text[at]);
}

}  // namespace

std::optional<OfflineText> to_offline_text(std::string_view words) {
  if (first_code_points(words, kLongestRequest).size() < words.size()) return std::nullopt;
  OfflineText out;
  out.text = with_ascii_forms(to_one_line(words));
  out.lower = out.text;
  std::transform(out.lower.begin(), out.lower.end(), out.lower.begin(), lowered);
  return out;
}

OfflineText part_of(OfflineText const& words, std::size_t from, std::size_t length) {
  from = std::min(from, words.text.size());
  return {words.text.substr(from, length), words.lower.substr(from, length)};
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || at >= text.size() || !is_ascii_word(text[at - 1]) || !is_ascii_word(text[at]);
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (auto at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (begins_word(text, at) && is_word_end(text, at + word.size())) return at;
  }
  return std::string_view::npos;
}

bool has_any(std::string_view text, WordList const& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return find_word(text, word) != std::string_view::npos; });
}

std::string_view trimmed(std::string_view text) {
  while (trim_front(text)) {
  }
  while (trim_back(text)) {
  }
  return text;
}

void Scan::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
    ++at_;
}

void Scan::step() {
  at_ += std::max<std::size_t>(utf8_sequence(text_, at_), 1);
}

bool Scan::take(std::string_view word) {
  Scan ahead = *this;
  ahead.skip_blanks();
  auto const from = ahead.at_;
  auto const end = from + word.size();
  if (!ahead.rest().starts_with(word) || !is_word_end(text_, end)) return false;
  bool const inside = from > 0 && is_ascii_letter(text_[from]) && is_ascii_letter(text_[from - 1]);
  if (inside) return false;
  at_ = end;
  return true;
}

bool Scan::take_any(WordList const& words) {
  return std::any_of(words.begin(), words.end(), [this](std::string_view word) { return take(word); });
}

std::optional<Number> Scan::take_digits() {
  Scan ahead = *this;
  ahead.skip_blanks();
  auto const from = ahead.at_;
  Number number{0, true, false};
  while (ahead.at_ < text_.size() && is_ascii_digit(text_[ahead.at_])) {
    number.value = std::min(number.value * 10 + (text_[ahead.at_] - '0'), kLargestNumber);
    ++ahead.at_;
  }
  if (ahead.at_ == from) return std::nullopt;
  number.leading_zero = text_[from] == '0';
  *this = ahead;
  return number;
}

std::optional<Number> Scan::take_number() {
  if (auto const digits = take_digits()) return digits;
  if (auto const numerals = take_numerals(*this)) return numerals;
  auto const word = take_one(number_words());
  if (!word) return std::nullopt;
  return Number{*word, false, false};
}

}  // namespace runnel::model
