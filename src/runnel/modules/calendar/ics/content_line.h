#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The lines of an iCalendar file (RFC 5545 3.1).
namespace runnel::modules::calendar {

// NAME;PARAM="value";PARAM=value:value
//
// Of the parameters only those are kept that are of use, because a line can have very many.
struct ContentLine {
  std::string name;     // In upper case.
  std::string tzid;     // The parameter TZID, unquoted. Empty if there is none; of several the first.
  std::string related;  // The parameter RELATED, likewise.
  std::string value;    // As it stands: a text is still escaped.
};

// Empty if the text is no such line.
std::optional<ContentLine> parse_content_line(std::string_view line);

// A text with what a backslash stands for (RFC 5545 3.3.11). One that stands for nothing is kept.
std::string unescape(std::string_view text);

// Gives the lines of a file, with folded lines joined. Lines end with CR LF or LF, and a byte order mark at
// the beginning is skipped.
class LineReader {
 public:
  // No line that is of use is longer.
  static constexpr std::size_t kLongest = std::size_t{64} * 1024;

  explicit LineReader(std::string_view file);

  // False at the end. Lines without any characters are left out.
  bool next();

  // The line, up to kLongest bytes of it.
  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] bool is_cut() const { return cut_; }
  // Where the line begins; the first line of a file is 1.
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  std::string_view take();
  void append(std::string_view piece);

  std::string_view rest_;
  std::string text_;
  bool cut_ = false;
  std::int64_t number_ = 0;
  std::int64_t taken_ = 0;
};

}  // namespace runnel::modules::calendar
