#include "runnel/base/log/log_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>

#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"

namespace runnel::base {
namespace {

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
  return to_rfc3339(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
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
  return line;
}

void append_human_value(std::string& line, std::string const& value) {
  bool const plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view{"-._~+/:@[]"}.find(c) != std::string_view::npos;
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
  return line;
}

// The character at `at` if a terminal obeys it or if it changes how the text around it is shown: DEL, the C1
// controls, the line separators, and the marks, embeddings and isolates of text direction. 0 for any other
// character.
char32_t hidden_at(std::string_view line, std::size_t at) {
  auto const byte = [&](std::size_t i) -> unsigned {
    return at + i < line.size() ? static_cast<unsigned char>(line[at + i]) : 0U;
  };
  if (byte(0) == 0x7FU) return 0x7F;
  if (byte(0) == 0xC2U && byte(1) >= 0x80U && byte(1) <= 0x9FU) return byte(1);
  if (byte(0) == 0xD8U && byte(1) == 0x9CU) return 0x61C;
  if (byte(0) != 0xE2U) return 0;
  auto const code = char32_t{0x2000} + ((byte(1) & 0x3FU) << 6U) + (byte(2) & 0x3FU);
  bool const hides = (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return hides ? code : 0;
}

// Such characters occur only inside JSON strings here, so JSON's own escape is right in both formats.
std::string escape_hidden(std::string line) {
  bool const plain = std::none_of(line.begin(), line.end(), [](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return byte == 0x7FU || byte == 0xC2U || byte == 0xD8U || byte == 0xE2U;
  });
  if (plain) return line;
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    auto const hidden = hidden_at(line, at);
    if (hidden == 0) {
      out += line[at++];
      continue;
    }
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(hidden));
    out += escape.data();
    at += hidden < 0x80 ? 1 : hidden < 0x800 ? 2 : 3;
  }
  return out;
}

}  // namespace

std::string to_line(LogLevel level, LogFormat format, std::string_view event,
                    std::initializer_list<Field> fields) {
  auto line = escape_hidden(format == LogFormat::json ? json_line(level, event, fields)
                                                      : human_line(level, event, fields));
  line += '\n';
  return line;
}

}  // namespace runnel::base
