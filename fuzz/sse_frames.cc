// Any bytes as the text of every kind of fact, in every dialect: the result is one frame of three lines
// (SSE-1).

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

}  // namespace

RUNNEL_FUZZ_TARGET(sse_frames) {
  if (size > 512) return 0;  // Larger texts only repeat what smaller ones do.
  auto const text = to_valid_utf8({reinterpret_cast<char const*>(data), size});
  RunNames const names{ThreadId{"thread"}, RunId{"run"}};
  for (auto const& record : fact_samples(text)) {
    for (auto const wire : protocol::every_wire()) {
      std::string frame;
      protocol::encode(wire, names, record, frame);
      if (!frame.empty()) check_frame(frame, record.position);
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
