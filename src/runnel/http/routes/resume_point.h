#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "runnel/core/fact/position.h"
#include "runnel/store/rows.h"

namespace runnel::http {

// Where a stream begins, given the last id that the client has (SSE-3, SSE-4).
struct ResumeAfter {
  Position position;  // {0, 0} for the start.
};
struct AlreadyComplete {};  // The client has the terminal event.
struct BadEventId {
  char const* why = "";
};
struct EventsExpired {};
using ResumePoint = std::variant<ResumeAfter, AlreadyComplete, BadEventId, EventsExpired>;

// There is never a silent gap. An id that this run cannot have sent is refused. After an id beyond the end of
// a sealed epoch, the stream continues with the next epoch's first fact. An id ahead of a running epoch is
// kept as it is, and the stream waits for that position.
ResumePoint resume_point(store::RunRow const& run, std::optional<std::string_view> last_event_id);

// The position itself, or the end of its epoch if the epoch is sealed and ends before it.
Position within_sealed_epoch(store::RunRow const& run, Position position);

}  // namespace runnel::http
