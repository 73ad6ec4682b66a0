#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/log/log.h"

namespace runnel::base {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kShortestSecret = 8;
// The server's own secrets in base64url: a ticket and a calendar's feed have 32 bytes, a dev secret has 16.
constexpr std::size_t kWholeTicket = 43;
constexpr std::size_t kWholeDevSecret = 22;

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

// Whether a word begins at a place. The search is stricter inside a word, because the first letters of a
// secret also occur in ordinary words ("keyJson.first.name").
enum class Place { word_begin, inside_word };

// Finds the server's own secrets in a text, from left to right, in linear time.
class SecretFinder {
 public:
  explicit SecretFinder(std::string_view text) : text_{text} {}

  // The length of the secret that begins at `at`; 0 if none does. `at` must grow from call to call.
  std::size_t length_at(std::size_t at, Place place) {
    return std::max(jwt_at(at, place), own_secret_at(at, place));
  }

 private:
  // The end of the base64url characters that begin at `at` or before it.
  std::size_t run_end(std::size_t at) {
    if (at >= run_end_) run_end_ = at + run_length(text_, at, is_base64url);
    return run_end_;
  }

  // A JSON object in base64url begins with "eyJ", and both a JWT's head and its claims are one.
  std::size_t jwt_at(std::size_t at, Place place) {
    if (at < no_jwt_before_ || text_.substr(at, 3) != "eyJ") return 0;
    std::size_t end = run_end(at);
    if (place == Place::inside_word && text_.substr(end, 4) != ".eyJ") return 0;
    for (int part = 0; part < 2; ++part) {
      if (end >= text_.size() || text_[end] != '.') {
        // What is missing is missing after these characters, so none of them begins a JWT.
        no_jwt_before_ = run_end(at);
        return 0;
      }
      ++end;
      end += run_length(text_, end, is_base64url);
    }
    return end - at;
  }

  // A ticket (HTTP-4), a calendar's feed (TOOL-12) or a dev secret (HTTP-5). Part of a secret counts only at
  // the beginning of a word.
  std::size_t own_secret_at(std::size_t at, Place place) {
    static constexpr std::size_t kPrefix = 4;
    auto const prefix = text_.substr(at, kPrefix);
    if (prefix != "tkt_" && prefix != "cal_" && prefix != "dev_") return 0;
    auto const length = run_end(at) - at;
    auto const whole = prefix == "dev_" ? kWholeDevSecret : kWholeTicket;
    auto const shortest = place == Place::word_begin ? kShortestSecret : whole;
    return length < kPrefix + shortest ? 0 : length;
  }

  std::string_view text_;
  std::size_t run_end_ = 0;
  std::size_t no_jwt_before_ = 0;
};

// The length of "Bearer" and the spaces after it, if they begin at `at`; 0 otherwise.
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
  SecretFinder secrets{value};
  while (at < value.size()) {
    bool const word_begins = at == 0 || !is_alnum(value[at - 1]);
    std::size_t const secret = secrets.length_at(at, word_begins ? Place::word_begin : Place::inside_word);
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
