#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runnel::net {

// Splits a stream of server-sent events into the data of its events, however the bytes arrive. LF, CR LF and
// CR end a line. A byte order mark at the start, comments and other fields are ignored. Several data lines of
// one event are joined with LF. If the stream ends before the blank line of an event, the event still counts,
// because some servers leave that line out.
class SseParser {
 public:
  // A line or an event's data longer than this makes the stream unreadable.
  explicit SseParser(std::size_t max_event_bytes = std::size_t{4} * 1024 * 1024);

  // Adds bytes, which are copied. False if an event is too long: `next` still returns the events before it,
  // but no later ones.
  bool feed(std::string_view bytes);
  // Call it when the stream has ended. False if an event is too long, as above.
  bool finish();

  // Sets `data` to the data of the next event; it is valid until the next call of any function here. False if
  // no further event is complete.
  bool next(std::string_view& data);

 private:
  // Finds the next place of a byte. It remembers how far it has looked, so that it looks at no byte twice.
  class Finder {
   public:
    explicit Finder(char byte) : byte_{byte} {}
    std::size_t find(std::string_view text, std::size_t from);  // The size of the text if it is not found.
    void move_back(std::size_t count);  // `count` bytes before the open line have been removed.

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
  std::string buffer_;         // Events that have not been read yet, the open event's data, the open line.
  std::vector<Span> events_;   // The complete events in the buffer.
  std::size_t delivered_ = 0;  // How many of `events_` have been read.
  Span data_;                  // The open event's data.
  bool has_data_ = false;
  std::size_t line_ = 0;  // Where the open line begins.
  Finder line_feed_{'\n'};
  Finder carriage_return_{'\r'};
  bool after_carriage_return_ =
      false;  // If the next byte is a line feed, it belongs to the previous line end.
  bool first_line_ = true;
  bool too_long_ = false;
};

}  // namespace runnel::net
