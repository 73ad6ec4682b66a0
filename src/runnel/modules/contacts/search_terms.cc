#include "runnel/modules/contacts/search_terms.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <stdexcept>

#include "runnel/core/text/text.h"

namespace runnel::modules::contacts {

namespace {

constexpr std::size_t kLongestTerm = 32;  // In characters.
constexpr std::size_t kShortestPhoneEnd = 4;

enum class Kind { separator, spaced, unspaced };

struct Character {
  std::string_view bytes;
  Kind kind;
};

bool is_unspaced(UChar32 c) {
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(c, &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_HANGUL:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
      return true;
    default:
      return false;
  }
}

Kind kind_of(UChar32 c) {
  bool const is_mark = (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
  if (u_isalnum(c) == 0 && !is_mark) return Kind::separator;
  return is_unspaced(c) && !is_mark ? Kind::unspaced : Kind::spaced;
}

std::vector<std::vector<Character>> words_in(std::string_view folded) {
  std::vector<std::vector<Character>> words;
  bool in_word = false;
  for (std::size_t at = 0; at < folded.size();) {
    auto const length = std::max<std::size_t>(1, utf8_sequence(folded, at));
    auto const kind = kind_of(static_cast<UChar32>(code_point_at(folded, at)));
    if (kind != Kind::separator) {
      if (!in_word) words.emplace_back();
      words.back().push_back({folded.substr(at, length), kind});
    }
    in_word = kind != Kind::separator;
    at += length;
  }
  return words;
}

std::string joined(std::vector<Character> const& word, std::size_t from, std::size_t most) {
  std::string out;
  for (auto i = from; i < word.size() && i - from < most; ++i)
    out += word[i].bytes;
  return out;
}

// Whether a term begins with the word's character at `i`.
bool begins_term(std::vector<Character> const& word, std::size_t i) {
  return i == 0 || word[i].kind == Kind::unspaced || word[i - 1].kind == Kind::unspaced;
}

std::u16string to_utf16(std::string_view text) {
  std::u16string out(text.size(), u'\0');
  std::int32_t length = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8WithSub(out.data(), static_cast<std::int32_t>(out.size()), &length, text.data(),
                       static_cast<std::int32_t>(text.size()), 0xFFFD, nullptr, &status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU cannot read a text");
  out.resize(static_cast<std::size_t>(length));
  return out;
}

std::string to_utf8(std::u16string const& text) {
  std::string out(text.size() * 3, '\0');
  std::int32_t length = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strToUTF8WithSub(out.data(), static_cast<std::int32_t>(out.size()), &length, text.data(),
                     static_cast<std::int32_t>(text.size()), 0xFFFD, nullptr, &status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU cannot write a text");
  out.resize(static_cast<std::size_t>(length));
  return out;
}

}  // namespace

std::string fold(std::string_view text) {
  if (text.empty()) return {};
  UErrorCode status = U_ZERO_ERROR;
  auto const* const normalizer = unorm2_getNFKCCasefoldInstance(&status);
  auto const source = to_utf16(text);
  std::u16string out(source.size() * 2 + 32, u'\0');
  auto const normalize = [&] {
    status = U_ZERO_ERROR;
    return unorm2_normalize(normalizer, source.data(), static_cast<std::int32_t>(source.size()), out.data(),
                            static_cast<std::int32_t>(out.size()), &status);
  };
  auto length = normalize();
  if (status == U_BUFFER_OVERFLOW_ERROR) {  // One character can become eighteen.
    out.resize(static_cast<std::size_t>(length));
    length = normalize();
  }
  if (U_FAILURE(status)) throw std::runtime_error("ICU cannot fold a text");
  out.resize(static_cast<std::size_t>(length));
  return to_utf8(out);
}

std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms;
  auto const folded = fold(text);
  for (auto const& word : words_in(folded)) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (begins_term(word, i)) terms.push_back(joined(word, i, kLongestTerm));
    }
  }
  return terms;
}

std::vector<std::string> phone_terms(std::string_view phone) {
  std::string digits;
  for (char const c : fold(phone)) {
    if (c >= '0' && c <= '9' && digits.size() < kLongestTerm) digits += c;
  }
  auto terms = terms_of(phone);
  if (!digits.empty()) terms.push_back(digits);
  for (std::size_t at = 1; at + kShortestPhoneEnd <= digits.size(); ++at)
    terms.push_back(digits.substr(at));
  return terms;
}

std::vector<std::string> query_words(std::string_view query) {
  std::set<std::string> words;
  auto const folded = fold(query);
  for (auto const& word : words_in(folded))
    words.insert(joined(word, 0, kLongestTerm));
  std::vector<std::string> out{words.begin(), words.end()};
  std::stable_sort(out.begin(), out.end(),
                   [](std::string const& a, std::string const& b) { return a.size() > b.size(); });
  return out;
}

}  // namespace runnel::modules::contacts
