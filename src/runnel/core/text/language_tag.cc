#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runnel/core/text/locale_names.h"
#include "runnel/core/text/subtags.h"

namespace runnel {
namespace {

constexpr std::size_t kLongestTag = 100;
constexpr std::size_t kLongestSubtag = 8;

// Tags that are older than the grammar. The list is final: RFC 5646 contains all of it.
constexpr std::array<std::string_view, 26> kGrandfathered{
    "art-lojban", "cel-gaulish", "en-gb-oed", "i-ami",      "i-bnn",     "i-default", "i-enochian",
    "i-hak",      "i-klingon",   "i-lux",     "i-mingo",    "i-navajo",  "i-pwn",     "i-tao",
    "i-tay",      "i-tsu",       "no-bok",    "no-nyn",     "sgn-be-fr", "sgn-be-nl", "sgn-ch-de",
    "zh-guoyu",   "zh-hakka",    "zh-min",    "zh-min-nan", "zh-xiang"};

// The languages under which other languages are registered, as in zh-yue.
constexpr std::array<std::string_view, 8> kWithExtensions{"ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"};

template <class List>
bool holds(List const& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_letters(std::string_view subtag) {
  return std::all_of(subtag.begin(), subtag.end(), &is_letter);
}

// Empty if the text has a character that cannot be in a tag.
std::string lower_case(std::string_view text) {
  std::string out;
  for (char const c : text) {
    char const lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!is_letter(lower) && !is_digit(lower) && lower != '-') return {};
    out += lower;
  }
  return out;
}

std::vector<std::string_view> split_tag(std::string_view tag) {
  std::vector<std::string_view> subtags;
  for (;;) {
    auto const hyphen = tag.find('-');
    subtags.push_back(tag.substr(0, hyphen));
    if (hyphen == std::string_view::npos) return subtags;
    tag.remove_prefix(hyphen + 1);
  }
}

bool is_script_form(std::string_view subtag) {
  return subtag.size() == 4 && all_letters(subtag);
}

bool is_region_form(std::string_view subtag) {
  return (subtag.size() == 2 && all_letters(subtag)) ||
         (subtag.size() == 3 && std::all_of(subtag.begin(), subtag.end(), &is_digit));
}

bool is_variant_form(std::string_view subtag) {
  return subtag.size() >= 5 || (subtag.size() == 4 && is_digit(subtag.front()));
}

// Checks the subtags in the order of RFC 5646's `langtag`. Each part has a function, which returns false if
// the part is wrong. Every part except the language may be missing.
class TagWalk {
 public:
  explicit TagWalk(std::vector<std::string_view> subtags) : subtags_{std::move(subtags)} {}

  bool is_valid() {
    return language() && optional(&is_script_form, SubtagKind::script) &&
           optional(&is_region_form, SubtagKind::region) && variants() && extensions() && private_use() &&
           at_ == subtags_.size();
  }

 private:
  // The next subtag. Empty if there are no more.
  [[nodiscard]] std::string_view next() const { return at_ < subtags_.size() ? subtags_[at_] : ""; }

  bool language() {
    auto const primary = next();
    if (!is_registered(SubtagKind::language, primary)) return false;
    ++at_;
    auto const second = next();
    if (second.size() != 3 || !all_letters(second)) return true;
    ++at_;
    return holds(kWithExtensions, primary) && is_registered(SubtagKind::language, second);
  }

  bool optional(bool (*has_form)(std::string_view), SubtagKind kind) {
    if (!has_form(next())) return true;
    return is_registered(kind, subtags_[at_++]);
  }

  bool variants() {
    for (auto const begin = at_; is_variant_form(next()); ++at_) {
      if (!is_registered(SubtagKind::variant, next()) || holds(taken_since(begin), next())) return false;
    }
    return true;
  }

  bool extensions() {
    std::string seen;
    while (next() == "t" || next() == "u") {
      if (seen.find(next()) != std::string::npos) return false;
      seen += subtags_[at_++];
      auto const begin = at_;
      while (next().size() >= 2)
        ++at_;
      if (at_ == begin) return false;
    }
    return true;
  }

  bool private_use() {
    if (next() != "x") return true;
    bool const has_more = at_ + 1 < subtags_.size();
    at_ = subtags_.size();
    return has_more;
  }

  [[nodiscard]] std::vector<std::string_view> taken_since(std::size_t begin) const {
    return {subtags_.begin() + static_cast<std::ptrdiff_t>(begin),
            subtags_.begin() + static_cast<std::ptrdiff_t>(at_)};
  }

  std::vector<std::string_view> subtags_;
  std::size_t at_ = 0;
};

bool has_good_length(std::string_view subtag) {
  return !subtag.empty() && subtag.size() <= kLongestSubtag;
}

}  // namespace

bool is_language_tag(std::string_view text) {
  if (text.size() > kLongestTag) return false;
  auto const tag = lower_case(text);
  if (holds(kGrandfathered, tag)) return true;
  auto subtags = split_tag(tag);
  return std::all_of(subtags.begin(), subtags.end(), &has_good_length) &&
         TagWalk{std::move(subtags)}.is_valid();
}

}  // namespace runnel
