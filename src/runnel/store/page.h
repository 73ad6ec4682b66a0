#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/rows.h"

// Pages of a list that is ordered by a key, the same on every engine.
namespace runnel::store {

// `more` says whether there are rows older than these.
HistoryPage history_page(std::vector<MessageRow> newest_first, bool more);

// `newest_first` holds up to limit + 1 rows.
ThreadPage thread_page(std::vector<ThreadRow> newest_first, std::size_t limit);

// The ids in a text that has one space between two of them, which no id holds. Empty if the text is.
std::vector<RunId> split_run_ids(std::string_view text);

// The last thread of the previous page.
struct ThreadCursor {
  std::int64_t updated_at = std::numeric_limits<std::int64_t>::max();
  ThreadKey key{std::numeric_limits<std::int64_t>::max()};
};

// An empty text means the first page. Fails with `invalid` if the text is not a cursor from `thread_page`.
Result<ThreadCursor> parse_thread_cursor(std::string const& text);

}  // namespace runnel::store
