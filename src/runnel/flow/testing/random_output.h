#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace runnel::flow {

// For tests: random valid outputs with the fields `answer`, `status` and others, in every form that JSON
// allows. The same seed makes the same outputs.
class RandomOutput {
 public:
  struct Output {
    std::string text;
    std::string answer;
    // An answer of two or more characters must begin to show before this byte.
    std::size_t visible_before = 0;
  };

  explicit RandomOutput(std::uint32_t seed) : engine_{seed} {}

  std::size_t below(std::size_t limit) { return engine_() % limit; }

  Output next();

 private:
  bool once_in(std::size_t times) { return below(times) == 0; }
  template <std::size_t N>
  std::string_view one_of(std::string_view const (&choices)[N]) {
    return choices[below(N)];
  }
  std::string blanks();
  char32_t code_point();
  std::u32string code_points();
  std::string written(char32_t point);
  std::string string(std::u32string const& points);
  std::string value(int depth);
  std::string member(std::string const& key, std::string const& value);

  std::mt19937 engine_;
};

namespace random_output {

inline void append_utf8_of(std::string& out, char32_t point) {
  auto const put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | (point >> 6));
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3f));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

inline std::string unit_escape(char32_t unit, bool upper) {
  std::string_view const digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out += digits[(unit >> shift) & 0xf];
  return out;
}

}  // namespace random_output

inline std::string RandomOutput::blanks() {
  std::string out;
  while (once_in(4))
    out += " \t\r\n"[below(4)];
  return out;
}

// A code point of any plane; often one that has a meaning in JSON.
inline char32_t RandomOutput::code_point() {
  constexpr std::u32string_view kMeaning =
      U"\"\\/{}[]:,`\b\f\n\r\t\u0001\u001f\u007f\u2028\uFEFF\uFFFF\U0010FFFF";
  if (once_in(4)) return kMeaning[below(kMeaning.size())];
  if (once_in(2)) return static_cast<char32_t>(0x20 + below(0x5f));
  char32_t const kPlaneEnd[] = {0x800, 0xd800, 0x10000, 0x20000, 0x110000};
  auto const point = static_cast<char32_t>(1 + below(kPlaneEnd[below(5)] - 1));
  return point >= 0xd800 && point < 0xe000 ? U'日' : point;
}

inline std::u32string RandomOutput::code_points() {
  std::u32string out;
  for (auto count = below(once_in(10) ? 400 : 24); count > 0; --count)
    out += code_point();
  return out;
}

// A character in one of the forms that a JSON string allows for it.
inline std::string RandomOutput::written(char32_t point) {
  constexpr std::string_view kNamed = "\"\\/\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\/bfnrt";
  auto const named = point < 0x80 ? kNamed.find(static_cast<char>(point)) : std::string_view::npos;
  if (named != std::string_view::npos && !once_in(4)) return std::string{"\\"} + kNames[named];
  bool const must_escape = point < 0x20 || point == '"' || point == '\\';
  if (!must_escape && !once_in(4)) {
    std::string out;
    random_output::append_utf8_of(out, point);
    return out;
  }
  if (point < 0x10000) return random_output::unit_escape(point, once_in(2));
  auto const rest = point - 0x10000;
  return random_output::unit_escape(0xd800 + (rest >> 10), once_in(2)) +
         random_output::unit_escape(0xdc00 + (rest & 0x3ff), once_in(2));
}

inline std::string RandomOutput::string(std::u32string const& points) {
  std::string out = "\"";
  for (auto const point : points)
    out += written(point);
  return out + '"';
}

inline std::string RandomOutput::value(int depth) {
  static constexpr std::string_view kScalars[] = {"0",    "-1",    "1.5",  "2e3",  "-0.25E-2",
                                                  "true", "false", "null", "\"\"", "9223372036854775807"};
  if (depth == 0 || once_in(3)) return std::string{one_of(kScalars)};
  if (once_in(2)) return string(code_points());
  bool const is_list = once_in(2);
  std::string out = is_list ? "[" : "{";
  auto const count = below(4);
  for (std::size_t i = 0; i < count; ++i) {
    out += (i > 0 ? "," : "") + blanks();
    out += is_list ? value(depth - 1)
                   : member(i == 0 ? "\"answer\"" : "\"k" + std::to_string(i) + '"', value(depth - 1));
    out += blanks();
  }
  return out + (is_list ? "]" : "}");
}

inline std::string RandomOutput::member(std::string const& key, std::string const& value) {
  return key + blanks() + ':' + blanks() + value;
}

inline RandomOutput::Output RandomOutput::next() {
  static constexpr std::string_view kBefore[] = {
      "",          "",      "\n ",       "\xEF\xBB\xBF",
      "```json\n", "```\n", "Here:\n\n", "Of the form {x}, {\"x\"}, {\"answer\": ...} or {}:\n```JSON\r\n",
  };
  static constexpr std::string_view kAfter[] = {"", "", "\n", "\n```\n",
                                                " That's it {really}. {\"answer\":\"no\"}"};
  static constexpr std::string_view kStatus[] = {"\"SUCCESS\"", "\"PARTIAL\"", "\"FAILED\"",
                                                 "\"\\u0046AILED\""};
  auto const points = code_points();
  Output output;
  for (auto const point : points)
    random_output::append_utf8_of(output.answer, point);

  auto const answer = member(once_in(4) ? "\"\\u0061nsw\\u0065r\"" : "\"answer\"", string(points));
  std::vector<std::string> members{member("\"status\"", std::string{one_of(kStatus)})};
  for (auto count = below(4); count > 0; --count)
    members.push_back(member("\"extra" + std::to_string(count) + '"', value(3)));
  std::shuffle(members.begin(), members.end(), engine_);
  auto const place = once_in(2) ? members.size() : below(members.size() + 1);
  members.insert(members.begin() + static_cast<std::ptrdiff_t>(place), answer);

  output.text = one_of(kBefore);
  output.text += '{';
  for (std::size_t i = 0; i < members.size(); ++i)
    output.text += (i > 0 ? "," : "") + blanks() + members[i] + blanks();
  // An answer that is the last member must begin to show before its closing quote; another one, before the
  // end of the object.
  bool const is_last = place + 1 == members.size();
  output.visible_before = is_last ? output.text.find_last_of('"') : output.text.size() + 1;
  output.text += '}';
  output.text += one_of(kAfter);
  return output;
}

}  // namespace runnel::flow
