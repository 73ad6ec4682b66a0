#include "runnel/runtime/execution/superseded.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "runnel/runtime/writing/shown_messages.h"

namespace runnel::runtime {

namespace asio = boost::asio;

namespace {

// The largest list of messages that is sent (AGUI-8), and a number of rows that never fits into it.
constexpr std::size_t kMostBytes = std::size_t{128} * 1024;
constexpr std::size_t kMostRows = 4096;

using Facts = std::vector<Fact>;

Facts::iterator find_superseded(Facts& facts) {
  return std::find_if(facts.begin(), facts.end(), [](Fact const& fact) {
    auto const* const ended = std::get_if<TextEnded>(&fact);
    return ended != nullptr && ended->outcome == TextOutcome::superseded;
  });
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

void add_what_is_left(Commit& commit, Result<store::HistoryPage> const& page) {
  auto const ended = find_superseded(commit.facts);
  MessageSuperseded fact{std::get<TextEnded>(*ended).message, std::nullopt};
  if (page) fact.messages = list_of(*page, commit);
  auto const place = std::find_if(ended, commit.facts.end(), &opens_something);
  commit.facts.insert(place, std::move(fact));
}

}  // namespace

// If the store does not answer, the clients are told which message is gone, which is all that they need to
// know.
asio::awaitable<Commit> with_what_is_left(RunParts parts, UserId owner, std::shared_ptr<RunWriter> writer,
                                          Commit commit) {
  if (find_superseded(commit.facts) == commit.facts.end()) co_return commit;
  store::PageSize const size{kMostRows, kMostBytes};
  auto const page = co_await parts.store.history(owner, writer->names().thread, std::nullopt, size);
  add_what_is_left(commit, page);
  co_return commit;
}

}  // namespace runnel::runtime
