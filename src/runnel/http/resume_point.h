#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "runnel/core/position.h"
#include "runnel/store/rows.h"

namespace runnel::http {

// Where a stream begins, from the last id that the client has (SSE-3, SSE-4).
struct ResumeAfter {
  Position position;  // {0, 0}: from the start.
};
struct AlreadyComplete {};  // The client has the terminal event.
struct BadEventId {
  char const* why = "";
};
struct EventsExpired {};
using ResumePoint = std::variant<ResumeAfter, AlreadyComplete, BadEventId, EventsExpired>;

// Never a silent gap: an id that this run cannot have given is refused, one beyond the end of a sealed epoch
// goes on with the next epoch's first fact, and one ahead of a running epoch is kept as it is, to be waited
// for.
ResumePoint resume_point(store::RunRow const& run, std::optional<std::string_view> last_event_id);

// The place itself, or the end of its epoch where that is sealed before it.
Position within_sealed_epoch(store::RunRow const& run, Position position);

}  // namespace runnel::http
