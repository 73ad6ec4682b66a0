#include "runnel/core/time/instant.h"

#include <date/date.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <locale>
#include <sstream>

namespace runnel {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kDay = "0000-00-00";
constexpr std::string_view kTime = "T00:00:00";
constexpr std::size_t kKeptDecimals = 3;

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// Whether the text has the shape of `pattern`, in which 0 stands for any digit. This check is needed because
// date::parse also accepts other numbers of digits.
bool has_shape(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(),
                    [](char c, char expected) { return expected == '0' ? is_decimal(c) : c == expected; });
}

// Empty if the text does not have the format, or names a date or a time that does not exist.
template <class Time>
std::optional<Time> read_time(std::string const& text, char const* format) {
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  Time time;
  in >> date::parse(format, time);
  if (in.fail()) return std::nullopt;
  return time;
}

// Takes ".123456" off the front of `rest`, and returns ".123". Empty if there are no decimals.
std::string_view take_decimals(std::string_view& rest) {
  if (!rest.starts_with('.')) return {};
  auto const end = std::find_if_not(rest.begin() + 1, rest.end(), is_decimal);
  auto const decimals = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(decimals.size());
  return decimals.substr(0, 1 + kKeptDecimals);
}

bool is_offset(std::string_view text) {
  return (has_shape(text, "+00:00") || has_shape(text, "-00:00")) && text.substr(1, 2) <= "23" &&
         text.substr(4) <= "59";
}

std::optional<std::int64_t> read_instant(std::string text) {
  std::replace(text.begin(), text.end(), 't', 'T');
  if (text.ends_with('Z') || text.ends_with('z')) text.replace(text.size() - 1, 1, "+00:00");
  std::string_view rest = text;
  auto const moment = rest.substr(0, kDay.size() + kTime.size());
  if (!has_shape(moment, std::string{kDay} + std::string{kTime})) return std::nullopt;
  rest.remove_prefix(moment.size());
  auto const decimals = take_decimals(rest);
  if (decimals == "." || !is_offset(rest)) return std::nullopt;
  auto const instant = read_time<date::sys_time<milliseconds>>(
      std::string{moment} + std::string{decimals} + std::string{rest}, "%FT%T%Ez");
  if (!instant) return std::nullopt;
  return instant->time_since_epoch().count();
}

}  // namespace

std::string to_rfc3339(std::int64_t unix_ms) {
  auto const second = std::chrono::floor<seconds>(milliseconds{unix_ms});
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(second.count()),
                     (milliseconds{unix_ms} - second).count());
}

std::string to_rfc3339_seconds(std::int64_t unix_s) {
  return fmt::format("{:%FT%T}Z", fmt::gmtime(unix_s));
}

std::optional<std::chrono::local_days> parse_day(std::string_view text) {
  if (!has_shape(text, kDay)) return std::nullopt;
  auto const day = read_time<date::local_days>(std::string{text}, "%F");
  if (!day) return std::nullopt;
  return std::chrono::local_days{std::chrono::days{day->time_since_epoch().count()}};
}

std::optional<std::int64_t> parse_instant(std::string_view text) {
  auto const day = parse_day(text);
  if (!day) return read_instant(std::string{text});
  return milliseconds{day->time_since_epoch()}.count();
}

std::optional<std::int64_t> parse_instant(std::string_view text, Zone const& zone) {
  auto const day = parse_day(text);
  return day ? zone.day_begins(*day) : read_instant(std::string{text});
}

}  // namespace runnel
