#include "runnel/flow/prompt/ascii_json.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>

#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

void append_unit(std::string& out, unsigned unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4)
    out += kHex[(unit >> (shift - 4)) & 0xfU];
}

// The letter of the character's short escape; 0 if it has none.
char short_escape(char32_t c) {
  switch (c) {
    case '"':
    case '\\':
      return static_cast<char>(c);
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

void append_character(std::string& out, char32_t c) {
  if (char const letter = short_escape(c)) {
    out += '\\';
    out += letter;
  } else if (c >= 0x20 && c <= 0x7e) {
    out += static_cast<char>(c);
  } else if (c < 0x10000) {
    append_unit(out, c);
  } else {
    append_unit(out, 0xd800 + ((c - 0x10000) >> 10U));
    append_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ffU));
  }
}

void append_double(std::string& out, double value) {
  char digits[32];
  auto const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace

void append_ascii_json_string(std::string& out, std::string_view utf8) {
  out += '"';
  for (std::size_t at = 0; at < utf8.size();) {
    append_character(out, code_point_at(utf8, at));
    at += std::max<std::size_t>(utf8_sequence(utf8, at), 1);
  }
  out += '"';
}

void append_ascii_json(std::string& out, json::object const& object) {
  out += '{';
  for (auto const& member : object) {
    if (&member != object.begin()) out += ',';
    append_ascii_json_string(out, {member.key().data(), member.key().size()});
    out += ':';
    append_ascii_json(out, member.value());
  }
  out += '}';
}

void append_ascii_json(std::string& out, json::value const& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      append_json_number(out, value.get_int64());
      break;
    case json::kind::uint64:
      append_json_number(out, value.get_uint64());
      break;
    case json::kind::double_:
      append_double(out, value.get_double());
      break;
    case json::kind::string:
      append_ascii_json_string(out, {value.get_string().data(), value.get_string().size()});
      break;
    case json::kind::array:
      append_json_array(out, value.get_array(),
                        [](std::string& into, json::value const& item) { append_ascii_json(into, item); });
      break;
    case json::kind::object:
      append_ascii_json(out, value.get_object());
      break;
  }
}

}  // namespace runnel::flow
