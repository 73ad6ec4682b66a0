#include "runnel/store/page.h"

#include <algorithm>

#include "runnel/core/fact/position.h"

namespace runnel::store {

HistoryPage history_page(std::vector<MessageRow> newest_first, bool more) {
  HistoryPage page;
  if (more && !newest_first.empty()) page.next_before = newest_first.back().seq;
  std::reverse(newest_first.begin(), newest_first.end());
  page.messages = std::move(newest_first);
  return page;
}

ThreadPage thread_page(std::vector<ThreadRow> newest_first, std::size_t limit) {
  ThreadPage page;
  bool const more = newest_first.size() > limit;
  if (more) newest_first.resize(limit);
  if (more && limit > 0) {
    auto const& last = newest_first.back();
    page.next = to_string(Position{last.updated_at, static_cast<std::uint64_t>(last.key.value)});
  }
  page.threads = std::move(newest_first);
  return page;
}

std::vector<RunId> split_run_ids(std::string_view text) {
  std::vector<RunId> ids;
  while (!text.empty()) {
    auto const end = std::min(text.find(' '), text.size());
    ids.push_back(RunId{std::string{text.substr(0, end)}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ids;
}

Result<ThreadCursor> parse_thread_cursor(std::string const& text) {
  if (text.empty()) return ThreadCursor{};
  auto const position = parse_position(text);
  if (!position || position->n > std::numeric_limits<std::int64_t>::max()) {
    return Error{Errc::invalid, "not a valid cursor: " + text};
  }
  return ThreadCursor{position->epoch, ThreadKey{static_cast<std::int64_t>(position->n)}};
}

}  // namespace runnel::store
