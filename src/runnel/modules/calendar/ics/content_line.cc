#include "runnel/modules/calendar/ics/content_line.h"

#include <algorithm>
#include <utility>

namespace runnel::modules::calendar {

namespace {

bool is_name_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

// Takes a name from the front of the line.
std::string take_name(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && is_name_char(rest[length]))
    ++length;
  std::string name{rest.substr(0, length)};
  rest.remove_prefix(length);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return name;
}

// Takes the value of a parameter, or several of which each may be quoted. Empty if a quote does not end.
std::optional<std::string> take_param_value(std::string_view& rest) {
  std::string value;
  bool quoted = false;
  while (!rest.empty()) {
    char const c = rest.front();
    if (!quoted && (c == ';' || c == ':')) break;
    if (c == '"') {
      quoted = !quoted;
    } else {
      value += c;
    }
    rest.remove_prefix(1);
  }
  if (quoted) return std::nullopt;
  return value;
}

bool is_fold(std::string_view rest) {
  return !rest.empty() && (rest.front() == ' ' || rest.front() == '\t');
}

}  // namespace

std::optional<ContentLine> parse_content_line(std::string_view line) {
  ContentLine out;
  out.name = take_name(line);
  if (out.name.empty()) return std::nullopt;
  while (line.starts_with(';')) {
    line.remove_prefix(1);
    auto const name = take_name(line);
    if (name.empty() || !line.starts_with('=')) return std::nullopt;
    line.remove_prefix(1);
    auto value = take_param_value(line);
    if (!value) return std::nullopt;
    if (name == "TZID" && out.tzid.empty()) out.tzid = std::move(*value);
    if (name == "RELATED" && out.related.empty()) out.related = std::move(*value);
  }
  if (!line.starts_with(':')) return std::nullopt;
  out.value = line.substr(1);
  return out;
}

std::string unescape(std::string_view text) {
  static constexpr std::string_view kEscaped = "\\;,\":";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const next = i + 1 < text.size() ? text[i + 1] : '\0';
    bool const is_line_break = next == 'n' || next == 'N';
    if (text[i] != '\\' || (!is_line_break && kEscaped.find(next) == std::string_view::npos)) {
      out += text[i];
      continue;
    }
    out += is_line_break ? '\n' : next;
    ++i;
  }
  return out;
}

LineReader::LineReader(std::string_view file) : rest_{file} {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
}

// Takes what is before the next line break.
std::string_view LineReader::take() {
  ++taken_;
  auto const end = rest_.find('\n');
  auto line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void LineReader::append(std::string_view piece) {
  auto const room = kLongest - text_.size();
  cut_ = cut_ || piece.size() > room;
  text_ += piece.substr(0, room);
}

bool LineReader::next() {
  text_.clear();
  cut_ = false;
  while (text_.empty() && !rest_.empty()) {
    append(take());
    number_ = taken_;
    while (is_fold(rest_))
      append(take().substr(1));
  }
  return !text_.empty();
}

}  // namespace runnel::modules::calendar
