#include "runnel/model/openai/retry_after.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <string>
#include <string_view>

namespace runnel::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr double kLongest = 1e9;  // More than any real wait; larger values count as this.

std::string_view trim(std::string_view text) {
  auto const begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> read_number(std::string_view text) {
  double number = 0;
  auto const* const end = text.data() + text.size();
  auto const [stopped, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || stopped != end || !std::isfinite(number)) return std::nullopt;
  return std::clamp(number, 0.0, kLongest);
}

milliseconds to_milliseconds(double count) {
  return milliseconds{static_cast<std::int64_t>(std::min(count, kLongest))};
}

// Reads "Sun, 06 Nov 1994 08:49:37 GMT", the only form of a date that servers may send.
std::optional<system_clock::time_point> read_date(std::string const& text) {
  std::tm parts{};
  auto const* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return system_clock::from_time_t(::timegm(&parts));
}

}  // namespace

std::optional<milliseconds> read_retry_after(net::HttpHead const& head, system_clock::time_point now) {
  if (auto const text = head.header("retry-after-ms")) {
    if (auto const count = read_number(trim(*text))) return to_milliseconds(*count);
  }
  auto const text = head.header("retry-after");
  if (!text) return std::nullopt;
  if (auto const seconds = read_number(trim(*text))) return to_milliseconds(*seconds * 1000);
  auto const date = read_date(std::string{trim(*text)});
  if (!date) return std::nullopt;
  return std::max(std::chrono::ceil<milliseconds>(*date - now), milliseconds{0});
}

}  // namespace runnel::model
