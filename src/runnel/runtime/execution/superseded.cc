#include "runnel/runtime/execution/superseded.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/runtime/writing/shown_messages.h"

namespace runnel::runtime {

namespace asio = boost::asio;

namespace {

// The largest list of messages that is sent (AGUI-8).
constexpr std::size_t kMostBytes = std::size_t{128} * 1024;
// What is read for it: rows have more than the list, such as cards.
constexpr std::size_t kMostRead = std::size_t{1024} * 1024;
constexpr std::size_t kMostRows = 4096;

bool ends_superseded(Fact const& fact) {
  auto const* const ended = std::get_if<TextEnded>(&fact);
  return ended != nullptr && ended->outcome == TextOutcome::superseded;
}

// The messages that the commit takes back: those that end in it as superseded, and one that ended before but
// whose row says only now that nobody sees it.
std::vector<MessageId> superseded_in(Commit const& commit, FactOrder const& order) {
  std::vector<MessageId> out;
  for (auto const& fact : commit.facts) {
    if (ends_superseded(fact)) out.push_back(std::get<TextEnded>(fact).message);
  }
  auto const& ended = order.unsettled_text();
  if (!ended) return out;
  auto const is_hidden = [&](store::NewMessage const& row) {
    return row.id == ended->message && row.mask == 0 && row.lane == store::Lane::visible;
  };
  auto const& rows = commit.rows.messages;
  if (std::any_of(rows.begin(), rows.end(), is_hidden)) out.push_back(ended->message);
  return out;
}

// What belongs to the same model call may be closed behind its text: the clients are told when all of it is.
bool opens_something(Fact const& fact) {
  return std::holds_alternative<TextStarted>(fact) || std::holds_alternative<ReplyStarted>(fact) ||
         std::holds_alternative<StepFinished>(fact) || is_terminal(fact);
}

// The rows of this commit whose events come before the list of messages.
std::vector<store::NewMessage const*> rows_before(Commit const& commit) {
  std::set<MessageId> later;
  for (auto const& fact : commit.facts) {
    if (auto const* const started = std::get_if<TextStarted>(&fact)) later.insert(started->message);
  }
  std::vector<store::NewMessage const*> out;
  for (auto const& row : commit.rows.messages) {
    bool const is_shown = row.lane == store::Lane::visible && (row.mask & store::kUiHistory) != 0;
    if (is_shown && !later.contains(row.id)) out.push_back(&row);
  }
  return out;
}

// Empty if the list is too large.
std::optional<JsonText> list_of(store::HistoryPage const& page, Commit const& commit) {
  if (page.next_before) return std::nullopt;
  std::string list = "[";
  auto const add = [&list](auto const& row) {
    if (list.size() > 1) list += ',';
    append_shown_message(list, row.id, row.role, row.content, row.metadata);
  };
  for (auto const& row : page.messages)
    add(row);
  for (auto const* const row : rows_before(commit))
    add(*row);
  list += ']';
  if (list.size() > kMostBytes) return std::nullopt;
  auto parsed = JsonText::parse(std::move(list));
  return parsed ? std::optional{std::move(*parsed)} : std::nullopt;
}

// The list says it for all of them; without a list, each is named.
void add_what_is_left(Commit& commit, std::vector<MessageId> superseded,
                      Result<store::HistoryPage> const& page) {
  std::optional<JsonText> list;
  if (page) list = list_of(*page, commit);
  if (list) superseded.resize(1);
  auto const ended = std::find_if(commit.facts.begin(), commit.facts.end(), &ends_superseded);
  auto const from = ended == commit.facts.end() ? commit.facts.begin() : ended;
  auto place = std::find_if(from, commit.facts.end(), &opens_something);
  for (auto& message : superseded)
    place = std::next(commit.facts.insert(place, MessageSuperseded{std::move(message), list}));
}

}  // namespace

// If the store does not answer, the clients are told which message is gone, which is all that they need to
// know.
asio::awaitable<Commit> with_what_is_left(RunParts parts, UserId owner, std::shared_ptr<RunWriter> writer,
                                          Commit commit) {
  auto superseded = superseded_in(commit, writer->order());
  if (superseded.empty()) co_return commit;
  store::PageSize const size{kMostRows, kMostRead};
  auto const page = co_await parts.store.history(owner, writer->names().thread, std::nullopt, size);
  add_what_is_left(commit, std::move(superseded), page);
  co_return commit;
}

}  // namespace runnel::runtime
