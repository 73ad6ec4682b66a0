#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runnel::net {

// Cuts a stream of server-sent events into the data of its events, however the bytes are split: LF, CR LF and
// CR end a line, a byte order mark at the start, comments and other fields are passed over, several data
// lines of an event join with LF, and an event that the stream's end cuts off before its blank line still
// counts (some servers leave it out).
class SseParser {
 public:
  // A line or an event's data longer than this makes the stream unreadable.
  explicit SseParser(std::size_t max_event_bytes = std::size_t{4} * 1024 * 1024);

  // Gives more bytes, which are copied. False: an event is too long; those before it can still be had, but
  // nothing more will come.
  bool feed(std::string_view bytes);
  // The stream has ended. False: as above.
  bool finish();

  // The next event's data, valid until the next call of anything here; false: none is complete.
  bool next(std::string_view& data);

 private:
  // Where a byte occurs next. Remembers how far it has looked, so that no byte is looked at twice.
  class Finder {
   public:
    explicit Finder(char byte) : byte_{byte} {}
    std::size_t find(std::string_view text, std::size_t from);  // The text's size: not yet.
    void move_back(std::size_t count);  // So many bytes have gone from before the open line.

   private:
    char byte_;
    bool found_ = false;
    std::size_t at_ = 0;
  };
  struct Span {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  void drop_delivered();
  void read_lines();
  void take_line(std::string_view line);
  void add_data(std::string_view value);
  void end_event();

  std::size_t max_event_bytes_;
  std::string buffer_;         // Events that were not asked for yet, the open event's data, the open line.
  std::vector<Span> events_;   // Complete, in the buffer.
  std::size_t delivered_ = 0;  // How many of them were asked for.
  Span data_;                  // Of the open event.
  bool has_data_ = false;
  std::size_t line_ = 0;  // Where the open line begins.
  Finder line_feed_{'\n'};
  Finder carriage_return_{'\r'};
  bool after_carriage_return_ = false;  // A line feed now belongs to the line end before.
  bool first_line_ = true;
  bool too_long_ = false;
};

}  // namespace runnel::net
