#pragma once

#include <cstdint>

#include "runnel/core/fact/position.h"
#include "runnel/store/store.h"

namespace runnel::http {

// The position right before the polled event `idx`; the end of the log if there is no such event yet. Parses
// only the row that holds the event.
store::Async<Position> place_before_event(store::Store& store, RunKey run, std::int64_t idx);

}  // namespace runnel::http
