#include "runnel/http/text_forms.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace runnel::http {

namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;

// Takes text apart from the front; what does not fit is remembered and asked for once, at the end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_{text} {}

  // Exactly `digits` digits.
  int number(std::size_t digits, int lowest, int highest) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      value = value * 10 + digit();
    }
    if (value < lowest || value > highest) failed_ = true;
    return value;
  }

  bool skip(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any_of) {
    if (!skip(any_of)) failed_ = true;
  }

  int digit() {
    if (!has_digit()) {
      failed_ = true;
      return 0;
    }
    int const value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }
  [[nodiscard]] bool has_digit() const {
    return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

std::optional<std::int64_t> scan_date(Scanner& text) {
  using namespace std::chrono;
  int const years = text.number(4, 0, 9999);
  text.expect("-");
  int const months = text.number(2, 1, 12);
  text.expect("-");
  int const days = text.number(2, 1, 31);
  year_month_day const date{year{years}, month{static_cast<unsigned>(months)},
                            day{static_cast<unsigned>(days)}};
  if (text.failed() || !date.ok()) return std::nullopt;
  return milliseconds{sys_days{date}.time_since_epoch()}.count();
}

std::int64_t scan_decimals(Scanner& text) {
  std::int64_t ms = text.digit() * 100;
  for (std::int64_t unit = 10; text.has_digit(); unit /= 10) {
    ms += text.digit() * unit;
  }
  return ms;
}

std::int64_t scan_time(Scanner& text) {
  std::int64_t ms = text.number(2, 0, 23) * kHourMs;
  text.expect(":");
  ms += text.number(2, 0, 59) * kMinuteMs;
  text.expect(":");
  ms += text.number(2, 0, 59) * 1000;
  if (text.skip(".")) ms += scan_decimals(text);
  return ms;
}

std::int64_t scan_offset(Scanner& text) {
  if (text.skip("Zz")) return 0;
  bool const west = text.skip("-");
  if (!west) text.expect("+");
  std::int64_t ms = text.number(2, 0, 23) * kHourMs;
  text.expect(":");
  ms += text.number(2, 0, 59) * kMinuteMs;
  return west ? -ms : ms;
}

}  // namespace

std::optional<std::int64_t> parse_instant(std::string_view text) {
  Scanner scanner{text};
  auto const date = scan_date(scanner);
  if (!date || scanner.at_end()) return date;
  scanner.expect("Tt");
  auto const time = scan_time(scanner);
  auto const offset = scan_offset(scanner);
  if (scanner.failed() || !scanner.at_end()) return std::nullopt;
  return *date + time - offset;
}

std::string to_rfc3339(std::int64_t unix_ms) {
  auto const seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, unix_ms % 1000);
}

std::string encode_component(std::string_view text) {
  std::string out;
  for (char const c : text) {
    bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace runnel::http
