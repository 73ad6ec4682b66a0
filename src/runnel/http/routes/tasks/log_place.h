#pragma once

#include <cstdint>
#include <vector>

#include "runnel/core/fact/position.h"
#include "runnel/http/routes/run_feed.h"
#include "runnel/store/store.h"

namespace runnel::http {

// Rows of a log up to this size together are parsed on the core of the request, larger ones in the pool, one
// page of a user at a time.
bool are_small(std::vector<store::LogRow> const& rows);

// The position right before the polled event `idx`; the end of the log if there is no such event yet. Parses
// only the row that holds the event. Fails with `internal` if that cannot be read.
store::Async<Position> place_before_event(FeedParts parts, UserId user, RunKey run, std::int64_t idx);

}  // namespace runnel::http
