#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/rows.h"

// Pages by key, the same on every engine.
namespace runnel::store {

// `more`: there are rows before the oldest of these.
HistoryPage history_page(std::vector<MessageRow> newest_first, bool more);

// `newest_first` holds up to limit + 1 rows.
ThreadPage thread_page(std::vector<ThreadRow> newest_first, std::size_t limit);

// The last thread that the reader has seen.
struct ThreadCursor {
  std::int64_t updated_at = std::numeric_limits<std::int64_t>::max();
  ThreadKey key{std::numeric_limits<std::int64_t>::max()};
};

// Empty: before the first. Fails with `invalid` on what `thread_page` did not make.
Result<ThreadCursor> parse_thread_cursor(std::string const& text);

}  // namespace runnel::store
