#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/log.h"

namespace runnel::base {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kShortestSecret = 8;

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// "X-Api-Key", "api_key" and "apiKey" all hold the word "key"; "input_tokens" does not hold "token".
std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string> words(1);
  bool after_lower = false;
  for (char const c : key) {
    bool const upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if ((!is_alnum(c) || (upper && after_lower)) && !words.back().empty()) words.emplace_back();
    if (is_alnum(c)) words.back() += lower(c);
    after_lower = is_alnum(c) && !upper;
  }
  return words;
}

bool names_a_secret(std::string_view key) {
  static constexpr std::array<std::string_view, 7> kSecrets = {
      "token", "key", "secret", "password", "authorization", "ticket", "apikey"};
  auto const words = words_of(key);
  return std::any_of(words.begin(), words.end(), [](std::string const& word) {
    return std::find(kSecrets.begin(), kSecrets.end(), word) != kSecrets.end();
  });
}

// The characters of RFC 6750's b64token.
bool is_token_char(char c) {
  return is_alnum(c) || std::string_view{"-._~+/="}.find(c) != std::string_view::npos;
}

bool is_base64url(char c) {
  return is_alnum(c) || c == '-' || c == '_';
}

template <class Predicate>
std::size_t run_length(std::string_view text, std::size_t at, Predicate belongs) {
  std::size_t end = at;
  while (end < text.size() && belongs(text[end]))
    ++end;
  return end - at;
}

// The length of the JWT that begins at `at`; 0 where none does. A JSON object in base64url begins with "eyJ".
std::size_t jwt_at(std::string_view text, std::size_t at) {
  if (text.substr(at, 3) != "eyJ") return 0;
  std::size_t end = at + run_length(text, at, is_base64url);
  for (int part = 0; part < 2; ++part) {
    if (end >= text.size() || text[end] != '.') return 0;
    ++end;
    end += run_length(text, end, is_base64url);
  }
  return end - at;
}

// The length of the ticket (HTTP-4) or dev secret (HTTP-5) that begins at `at`; 0 where none does.
std::size_t own_secret_at(std::string_view text, std::size_t at) {
  static constexpr std::size_t kPrefix = 4;
  auto const prefix = text.substr(at, kPrefix);
  if (prefix != "tkt_" && prefix != "dev_") return 0;
  auto const secret = run_length(text, at + kPrefix, is_base64url);
  return secret < kShortestSecret ? 0 : kPrefix + secret;
}

// The length of "Bearer " and the blanks after it at `at`; 0 where it is not there.
std::size_t bearer_at(std::string_view text, std::size_t at) {
  static constexpr std::string_view kScheme = "bearer";
  if (text.size() - at <= kScheme.size()) return 0;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    if (lower(text[at + i]) != kScheme[i]) return 0;
  }
  auto const blanks = run_length(text, at + kScheme.size(), [](char c) { return c == ' '; });
  return blanks == 0 ? 0 : kScheme.size() + blanks;
}

}  // namespace

std::string redact(std::string_view key, std::string_view value) {
  if (names_a_secret(key)) return std::string{kRedacted};

  std::string out;
  std::size_t at = 0;
  // A run of characters that begins no JWT at one place begins none later: it is looked at once.
  std::size_t no_jwt_before = 0;
  while (at < value.size()) {
    bool const word_begins = at == 0 || !is_alnum(value[at - 1]);
    std::size_t const jwt = word_begins && at >= no_jwt_before ? jwt_at(value, at) : 0;
    if (jwt == 0 && word_begins && at >= no_jwt_before && value.substr(at, 3) == "eyJ")
      no_jwt_before = at + run_length(value, at, is_base64url);
    std::size_t const secret = std::max(jwt, word_begins ? own_secret_at(value, at) : 0);
    std::size_t const scheme = word_begins ? bearer_at(value, at) : 0;
    std::size_t const token = scheme > 0 ? run_length(value, at + scheme, is_token_char) : 0;
    if (secret > 0) {
      out += kRedacted;
      at += secret;
    } else if (token >= kShortestSecret) {
      out.append(value, at, scheme).append(kRedacted);
      at += scheme + token;
    } else {
      out += value[at++];
    }
  }
  return out;
}

}  // namespace runnel::base
