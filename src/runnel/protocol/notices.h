#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/core/fact/wire.h"

// What a stream tells its reader that is no fact of a run. Such an event has no `id:`, so it is never a
// cursor.
namespace runnel::protocol {

// CUSTOM `runnel.events_expired`: earlier events of the thread are not kept any more (RUN-15). Only for event
// streams.
void append_events_expired(Wire wire, RunNames const& names, std::int64_t time_us,
                           std::string_view history_url, std::string& out);

// The event that this fact would be, for a reader who joins a run in the middle (AGUI-5). Only for event
// streams.
void append_notice(Wire wire, RunNames const& names, Fact fact, std::int64_t time_us, std::string& out);

// Tells the reader how far it has read, without an event: its next `Last-Event-ID` is this position.
void append_place(Position position, std::string& out);

}  // namespace runnel::protocol
