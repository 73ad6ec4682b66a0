// Any bytes as the event stream of an upstream. The first byte says how the rest is cut.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/target.h"
#include "runnel/net/sse_parser.h"

namespace {

using runnel::net::SseParser;
using Events = std::vector<std::string>;

constexpr std::size_t kMaxEventBytes = 4096;

struct Outcome {
  Events events;
  bool readable = true;
};

// What the parser returns for pieces of 1 to `largest` bytes.
Outcome parsed(std::string_view stream, std::size_t largest) {
  SseParser parser{kMaxEventBytes};
  Outcome out;
  std::string_view data;
  for (std::size_t size = 1; !stream.empty(); size = size % largest + 1) {
    out.readable = parser.feed(stream.substr(0, size));
    stream.remove_prefix(std::min(size, stream.size()));
    if (size % 2 == 0) continue;  // A caller need not ask for events after every piece.
    while (parser.next(data))
      out.events.emplace_back(data);
  }
  out.readable = parser.finish();
  while (parser.next(data))
    out.events.emplace_back(data);
  return out;
}

std::string_view take_line(std::string_view& rest) {
  auto const end = rest.find_first_of("\r\n");
  auto const line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  rest.remove_prefix(rest.starts_with("\r\n") ? 2 : std::min<std::size_t>(rest.size(), 1));
  return line;
}

// The events according to the specification, without any limit.
Events expected(std::string_view rest) {
  Events events;
  std::string data;
  bool open = false;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    auto const line = take_line(rest);
    if (line.empty() && open) events.push_back(data.substr(1));
    if (line.empty()) data.clear(), open = false;
    auto const colon = line.find(':');
    if (line.substr(0, colon) != "data") continue;
    auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    data.append("\n").append(value);
    open = true;
  }
  if (open) events.push_back(data.substr(1));
  return events;
}

}  // namespace

RUNNEL_FUZZ_TARGET(sse_stream) {
  if (size == 0) return 0;
  std::string_view const stream{reinterpret_cast<char const*>(data) + 1, size - 1};
  auto const whole = parsed(stream, std::max<std::size_t>(stream.size(), 1));
  auto const cut = parsed(stream, data[0] % 64 + 1U);
  auto const all = expected(stream);

  require(whole.readable == cut.readable, "whether it is readable does not depend on the cuts");
  require(whole.events == cut.events, "the events do not depend on the cuts");
  require(whole.events.size() <= all.size(), "no event is invented");
  for (std::size_t i = 0; i < whole.events.size(); ++i) {
    require(whole.events[i] == all[i], "the data is the same as in the stream");
    require(whole.events[i].size() <= kMaxEventBytes, "no event is longer than the limit");
  }
  require(!whole.readable || whole.events == all, "a readable stream gives all its events");
  return 0;
}
