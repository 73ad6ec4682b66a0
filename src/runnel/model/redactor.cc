#include "runnel/model/redactor.h"

#include <algorithm>
#include <cctype>

#include "runnel/core/text/text.h"

namespace runnel::model {
namespace {

constexpr std::size_t kMaxCharacters = 300;
constexpr std::size_t kLookedAt = std::size_t{8} * 1024;  // What follows is never shown.
constexpr std::size_t kTellingPart = 8;  // This many successive characters of a key must not be shown.
constexpr std::string_view kRedacted = "[redacted]";

bool ends_word(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7F || std::string_view{"\"'`,;()<>{}[]"}.find(c) != std::string_view::npos;
}

bool is_control(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Whether the word has "sk-…", as most vendors' keys begin: also in "key=sk-…", but not in "task-…".
bool has_key_prefix(std::string_view word) {
  for (auto at = word.find("sk-"); at != std::string_view::npos; at = word.find("sk-", at + 1)) {
    if (at == 0 || std::isalnum(static_cast<unsigned char>(word[at - 1])) == 0) return true;
  }
  return false;
}

// The first characters, with an ellipsis if there are more.
std::string shorten(std::string text) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    if (count == kMaxCharacters) return text.substr(0, at) + "…";
    at += std::max<std::size_t>(utf8_sequence(text, at), 1);
  }
  return text;
}

}  // namespace

std::string Redactor::operator()(std::string_view raw) const {
  auto text = to_valid_utf8(raw.substr(0, kLookedAt));
  if (auto const& key = key_.reveal(); !key.empty()) {
    for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + kRedacted.size()))
      text.replace(at, key.size(), kRedacted);
  }
  std::string out;
  bool after_bearer = false;
  for (std::size_t at = 0; at < text.size();) {
    if (ends_word(text[at])) {
      char const c = is_control(text[at]) ? ' ' : text[at];
      if (c != ' ' || !out.ends_with(' ')) out += c;
      ++at;
      continue;
    }
    auto const end = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), ends_word);
    auto const word = std::string_view{text}.substr(at, static_cast<std::size_t>(end - text.begin()) - at);
    out += after_bearer || is_secret(word) ? kRedacted : word;
    after_bearer = lower(word) == "bearer" || lower(word).ends_with(":bearer");
    at += word.size();
  }
  return shorten(std::move(out));
}

bool Redactor::is_secret(std::string_view word) const {
  auto const& key = key_.reveal();
  if (!key.empty() && word.find(key) != std::string_view::npos) return true;
  if (word.size() < kTellingPart) return false;
  if (has_key_prefix(word)) return true;
  if (key.size() < kTellingPart) return false;
  for (std::size_t at = 0; at + kTellingPart <= word.size(); ++at) {
    if (key.find(word.substr(at, kTellingPart)) != std::string::npos) return true;
  }
  return false;
}

}  // namespace runnel::model
