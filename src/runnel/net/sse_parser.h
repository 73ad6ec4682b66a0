#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runnel::net {

// Cuts a stream of server-sent events into the data of its events, however the bytes are split: LF, CR LF and
// CR end a line, comments and other fields are passed over, several data lines of an event join with LF, and
// an event that the stream's end cuts off before its blank line still counts (some servers leave it out).
class SseParser {
 public:
  // A line longer than this makes the stream unreadable.
  explicit SseParser(std::size_t max_event_bytes = std::size_t{4} * 1024 * 1024);

  // Gives more bytes. False: an event is too long, and nothing more will come.
  bool feed(std::string_view bytes);
  // The stream has ended.
  void finish();

  // The next event's data, valid until the next call of anything here; false: none is complete.
  bool next(std::string_view& data);
};

}  // namespace runnel::net
