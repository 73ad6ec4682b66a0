#include "runnel/http/connection/head_scan.h"

#include <algorithm>

namespace runnel::http {
namespace {

using State = HeadScan::State;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_visible(char c) {
  return c > ' ' && c < 0x7f;
}

bool is_control(char c) {
  return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
}

// RFC 9110 5.6.2.
bool is_token_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

State check_version(std::string_view version) {
  constexpr std::string_view kName = "HTTP/";
  auto const number = version.substr(std::min(version.size(), kName.size()));
  if (!version.starts_with(kName) || number.size() != 3 || !is_digit(number[0]) || number[1] != '.' ||
      !is_digit(number[2])) {
    return State::malformed;
  }
  return number == "1.1" || number == "1.0" ? State::incomplete : State::unsupported_version;
}

State check_request_line(std::string_view line) {
  auto const target_at = line.find(' ');
  if (target_at == std::string_view::npos || !is_token(line.substr(0, target_at))) return State::malformed;
  auto const rest = line.substr(target_at + 1);
  auto const version_at = rest.find(' ');
  if (version_at == std::string_view::npos || version_at == 0) return State::malformed;
  auto const target = rest.substr(0, version_at);
  if (!std::all_of(target.begin(), target.end(), is_visible)) return State::malformed;
  return check_version(rest.substr(version_at + 1));
}

State check_field(std::string_view line) {
  auto const colon = line.find(':');
  bool const named = colon != std::string_view::npos && is_token(line.substr(0, colon));
  return named ? State::incomplete : State::malformed;
}

}  // namespace

State HeadScan::advance(std::string_view bytes) {
  while (state_ == State::incomplete && seen_ < bytes.size()) {
    char const c = bytes[seen_++];
    bool const is_end = c == '\n';
    if (after_return_ != is_end || (is_control(c) && !is_end && c != '\r')) {
      state_ = State::malformed;
    } else if (is_end) {
      state_ = end_line(bytes.substr(line_begin_, seen_ - 2 - line_begin_));
      line_begin_ = seen_;
    }
    after_return_ = c == '\r';
  }
  return state_;
}

State HeadScan::end_line(std::string_view line) {
  if (line_begin_ == 0) return check_request_line(line);
  return line.empty() ? State::whole : check_field(line);
}

}  // namespace runnel::http
