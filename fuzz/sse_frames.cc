// Any bytes as the text of every kind of fact, on every wire: the result is one frame of three lines (SSE-1),
// one element of an array (TASK-2) or one message of a WebSocket (TASK-5).

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/target.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/core/testing/fact_samples.h"
#include "runnel/core/text/text.h"
#include "runnel/protocol/poll_envelope.h"
#include "runnel/protocol/testing/named_wires.h"

namespace {

using namespace runnel;

std::string_view take_line(std::string_view& rest, std::string_view name) {
  require(rest.starts_with(name), "the lines are id, event, data");
  auto const end = rest.find('\n');
  require(end != std::string_view::npos, "each line ends");
  auto const value = rest.substr(name.size(), end - name.size());
  rest.remove_prefix(end + 1);
  return value;
}

void check_frame(std::string_view frame, Position position) {
  require(frame.find('\r') == std::string_view::npos, "a frame has no carriage return");
  require(frame.find('\0') == std::string_view::npos, "a frame has no NUL");
  auto rest = frame;
  require(take_line(rest, "id: ") == to_string(position), "the id is the fact's position");
  std::string const event{take_line(rest, "event: ")};
  auto const data = take_line(rest, "data: ");
  require(rest == "\n", "the frame ends with one blank line");

  boost::system::error_code error;
  auto const value = boost::json::parse({data.data(), data.size()}, error);
  require(!error && value.is_object(), "the data is a JSON object");
  auto const* type = value.as_object().if_contains("type");
  require(type != nullptr && type->is_string() && type->as_string() == event, "the event is the JSON's type");
}

void check_task_event(std::string_view json) {
  require(json.find('\n') == std::string_view::npos, "an event is one line");
  boost::system::error_code error;
  auto const value = boost::json::parse({json.data(), json.size()}, error);
  require(!error && value.is_object() && value.as_object().size() == 4,
          "an event is a JSON object with four members");
}

void check_element(std::string_view element) {
  require(element.ends_with(protocol::kPollSeparator), "an element ends with its separator");
  check_task_event(element.substr(0, element.size() - protocol::kPollSeparator.size()));
}

// The texts of this target are short, so that a head has two or four bytes.
void check_message(std::string_view message) {
  require(message.size() > 4 && message[0] == '\x81', "a message is one frame with text");
  auto const byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<std::uint8_t>(message[at]));
  };
  auto const head = byte(1) < 126 ? std::size_t{2} : std::size_t{4};
  auto const length = head == 2 ? byte(1) : byte(2) * 256 + byte(3);
  require(byte(1) <= 126 && message.size() == head + length, "the head has the length");
  check_task_event(message.substr(head));
}

void check(Wire wire, std::string_view event, Position position) {
  switch (protocol::transport_of(wire)) {
    case protocol::Transport::sse:
      return check_frame(event, position);
    case protocol::Transport::poll:
      return check_element(event);
    case protocol::Transport::web_socket:
      return check_message(event);
  }
}

}  // namespace

RUNNEL_FUZZ_TARGET(sse_frames) {
  if (size > 512) return 0;  // Larger texts only repeat what smaller ones do.
  auto const text = to_valid_utf8({reinterpret_cast<char const*>(data), size});
  RunNames const names{ThreadId{"thread"}, RunId{"run"}};
  for (auto const& record : fact_samples(text)) {
    for (auto const wire : protocol::every_wire()) {
      std::string frame;
      protocol::encode(wire, names, record, frame);
      if (!frame.empty()) check(wire, frame, record.position);
    }
    std::string body = "[";
    append_record_json(body, record);
    body += "]";
    auto const read = parse_log_body(body, record.position.epoch);
    require(read.has_value() && read->size() == 1 && read->front() == record,
            "the log returns the record that was written");
  }
  return 0;
}
