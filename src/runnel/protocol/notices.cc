#include "runnel/protocol/notices.h"

#include <cstddef>
#include <utility>

#include "runnel/core/json/write.h"
#include "runnel/protocol/sse_envelope.h"
#include "runnel/protocol/wires.h"

namespace runnel::protocol {

void append_events_expired(Wire wire, RunNames const& names, std::int64_t time_us,
                           std::string_view history_url, std::string& out) {
  out += "event: CUSTOM\ndata: ";
  JsonObject event{out};
  event.text("type", "CUSTOM");
  if (dialect_of(wire) == "ag-ui") {
    event.number("timestamp", time_us / 1000);
  } else {
    event.text("threadId", names.thread.text).text("runId", names.run.text);
  }
  event.text("name", "runnel.events_expired");
  JsonObject{event.key("value")}.text("historyUrl", history_url).close();
  event.close();
  out += "\n\n";
}

void append_notice(Wire wire, RunNames const& names, Fact fact, std::int64_t time_us, std::string& out) {
  Record record;
  record.time_us = time_us;
  record.fact = std::move(fact);
  all_wires()[static_cast<std::size_t>(wire)].codec(names, record, kSseWithoutId, out);
}

void append_place(Position position, std::string& out) {
  out += "id: ";
  append_position(out, position);
  out += "\n\n";
}

}  // namespace runnel::protocol
