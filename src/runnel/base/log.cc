#include "runnel/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <vector>

#include "runnel/core/json_write.h"

namespace runnel::base {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kShortestSecret = 8;

// What holds before start_logging and after stop_logging.
constexpr LogOptions kUnstarted{LogLevel::warn, LogFormat::human};

std::atomic<LogLevel> level_now{kUnstarted.level};
std::atomic<LogFormat> format_now{kUnstarted.format};
// Long lines take several writes; the lock keeps them whole.
std::mutex stderr_mutex;

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

// The length of the ticket (HTTP-4) that begins at `at`; 0 where none does.
std::size_t ticket_at(std::string_view text, std::size_t at) {
  static constexpr std::string_view kPrefix = "tkt_";
  if (text.substr(at, kPrefix.size()) != kPrefix) return 0;
  auto const secret = run_length(text, at + kPrefix.size(), is_base64url);
  return secret < kShortestSecret ? 0 : kPrefix.size() + secret;
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

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

std::string time_text() {
  using namespace std::chrono;
  auto const now = system_clock::now();
  std::time_t const seconds = system_clock::to_time_t(now);
  auto const ms = duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  auto const length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ", static_cast<int>(ms));
  return text.data();
}

std::string json_line(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
  std::string line;
  JsonObject object{line};
  object.text("time", time_text()).text("level", name_of(level)).text("event", event);
  for (auto const& field : fields) {
    if (field.is_number) {
      object.raw(field.key, field.value);
    } else if (!field.value.empty()) {
      object.text(field.key, redact(field.key, field.value));
    }
  }
  object.close();
  line += '\n';
  return line;
}

void append_human_value(std::string& line, std::string const& value) {
  bool const plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return is_alnum(c) || std::string_view{"-._~+/:@[]"}.find(c) != std::string_view::npos;
  });
  if (plain) {
    line += value;
  } else {
    append_json_string(line, value);
  }
}

std::string human_line(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
  std::string line = time_text();
  line += ' ';
  line += name_of(level);
  line.append(6 - name_of(level).size(), ' ');
  line += event;
  for (auto const& field : fields) {
    if (field.value.empty()) continue;
    line += ' ';
    line += field.key;
    line += '=';
    append_human_value(line, redact(field.key, field.value));
  }
  line += '\n';
  return line;
}

// A log that cannot be written is not worth failing for: the rest of the line is dropped.
void write_line(std::string_view line) {
  std::lock_guard const lock{stderr_mutex};
  while (!line.empty()) {
    auto const written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void start_logging(LogOptions options) {
  level_now = options.level;
  format_now = options.format;
}

void stop_logging() {
  start_logging(kUnstarted);
}

void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
  if (level < level_now.load(std::memory_order_relaxed)) return;
  bool const json = format_now.load(std::memory_order_relaxed) == LogFormat::json;
  write_line(json ? json_line(level, event, fields) : human_line(level, event, fields));
}

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
    std::size_t const secret = std::max(jwt, word_begins ? ticket_at(value, at) : 0);
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
