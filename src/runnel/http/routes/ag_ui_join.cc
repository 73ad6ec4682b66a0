#include "runnel/http/routes/ag_ui_join.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "runnel/core/fact/fact_json.h"
#include "runnel/protocol/notices.h"
#include "runnel/runtime/writing/shown_messages.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kJoinPageBytes = std::size_t{256} * 1024;
// The newest messages of the thread that are sent.
constexpr std::size_t kMostJoinBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMostJoinRows = 1000;

std::optional<MessageId> completed_by(Fact const& fact) {
  if (auto const* args = std::get_if<ToolArgs>(&fact)) return args->message;
  if (auto const* result = std::get_if<ToolResult>(&fact)) return result->message;
  if (auto const* text = std::get_if<TextEnded>(&fact)) return text->message;
  if (auto const* answer = std::get_if<AnswerCompleted>(&fact)) return answer->message;
  return std::nullopt;
}

// Sends what was made for this reader, and then the run's events.
class JoinedFeed final : public HoldingFeed {
 public:
  JoinedFeed(std::unique_ptr<EventFeed> feed, std::string prelude)
      : HoldingFeed{std::move(feed)}, prelude_{stream::share({std::move(prelude), {}})} {}

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    if (auto prelude = std::exchange(prelude_, nullptr))
      co_return FeedStep{FeedStep::Kind::frames, std::move(prelude)};
    co_return co_await HoldingFeed::next(std::move(reader));
  }

 private:
  stream::SharedFrames prelude_;
};

Result<bool> take_rows(JoinState& state, std::vector<store::LogRow> const& rows) {
  for (auto const& row : rows) {
    auto const records = parse_log_body(row.body, row.epoch);
    if (!records) return Error{Errc::not_found, "the log can no longer be read"};
    for (auto const& record : *records) {
      if (!state.take(record)) return false;
    }
  }
  return !rows.empty();
}

store::Async<bool> read_some(FeedParts const* parts, UserId const* reader, RunKey run, std::uint64_t* after,
                             JoinState* state) {
  auto const rows = co_await parts->store.read_log(run, *after, kJoinPageBytes);
  if (!rows) co_return rows.error();
  if (!rows->empty()) *after = rows->back().last_n;
  auto const* const found = &*rows;
  co_return co_await parts->replaying.run<bool>(reader->text,
                                                [state, found] { return take_rows(*state, *found); });
}

// The messages of the thread; of this run only those that are complete at the place, because the others
// follow as events.
JsonText messages_at(JoinState const& state, RunId const& run, std::vector<store::MessageRow> const& rows) {
  std::string list = "[";
  for (auto const& row : rows) {
    bool const is_later = row.run == run && row.role != store::Role::user && !state.has(row.id);
    if (is_later) continue;
    if (list.size() > 1) list += ',';
    runtime::append_shown_message(list, row.id, row.role, row.content, row.metadata);
  }
  list += ']';
  return JsonText::parse(list).value();
}

// What is open at the place, begun anew with what it has so far.
std::vector<Fact> open_facts(FactOrder const& order) {
  std::vector<Fact> facts;
  if (auto const& step = order.open_step()) facts.emplace_back(StepStarted{*step});
  if (auto const& open = order.open_reasoning()) {
    facts.emplace_back(ReasoningOpened{open->message});
    if (open->message_open) {
      facts.emplace_back(ReasoningStarted{open->message});
      facts.emplace_back(ReasoningDelta{open->message, open->text});
    }
  }
  if (auto const& open = order.open_text()) {
    facts.emplace_back(TextStarted{open->message, open->stage});
    facts.emplace_back(TextDelta{open->message, open->text});
  }
  for (auto const& id : order.calls_in_order()) {
    auto const& call = order.open_calls().at(id);
    if (!call.streaming) continue;
    facts.emplace_back(ToolCallStarted{call.message, id, call.tool, call.stage});
    facts.emplace_back(ToolArgsDelta{id, call.args_text});
  }
  return facts;
}

std::string make_prelude(JoinState const& state, RunNames const& names, Wire wire,
                         std::vector<store::MessageRow> const& rows, std::int64_t now_us) {
  std::string out;
  auto const add = [&](Fact fact) { protocol::append_notice(wire, names, std::move(fact), now_us, out); };
  auto const& order = state.order();
  if (order.alias().empty()) {
    add(RunStarted{});
  } else {
    add(RunResumed{order.alias()});
  }
  add(MessagesSnapshot{messages_at(state, names.run, rows)});
  add(StateSnapshot{JsonText::empty_object()});
  for (auto const& card : state.cards())
    add(card);
  for (auto& fact : open_facts(order))
    add(std::move(fact));
  protocol::append_place(state.position(), out);
  return out;
}

}  // namespace

bool JoinState::take(Record const& record) {
  auto const& fact = record.fact;
  if (is_terminal(fact)) return false;
  bool const pauses = std::holds_alternative<StepPaused>(fact) || std::holds_alternative<RunPaused>(fact);
  if (pauses && !before_pause_) before_pause_ = std::make_unique<Place>(place_);
  if (std::holds_alternative<RunResumed>(fact)) before_pause_.reset();
  place_.order.accept(fact).value();
  place_.position = record.position;
  if (auto message = completed_by(fact)) place_.complete.insert(std::move(*message));
  if (auto const* card = std::get_if<CardShown>(&fact)) place_.cards.push_back(*card);
  return true;
}

store::Async<std::unique_ptr<EventFeed>> join_run(FeedParts parts, UserId reader, store::RunRow run,
                                                  Wire wire, std::int64_t now_us) {
  JoinState state;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto const read = co_await read_some(&parts, &reader, run.key, &after, &state);
    if (!read) co_return read.error();
    more = *read;
  }
  // The client of a run that has not begun needs to be told nothing before its first event.
  auto feed = std::make_unique<RunFeed>(parts, reader, run, state.position(), wire);
  if (!state.order().started()) co_return std::unique_ptr<EventFeed>{std::move(feed)};
  store::PageSize const size{kMostJoinRows, kMostJoinBytes};
  auto const page = co_await parts.store.history(reader, run.thread_id, std::nullopt, size);
  if (!page) co_return page.error();
  RunNames const names{run.thread_id, run.id};
  auto prelude = make_prelude(state, names, wire, page->messages, now_us);
  auto const ready = co_await feed->read_ahead();
  if (!ready) co_return ready.error();
  co_return std::unique_ptr<EventFeed>{std::make_unique<JoinedFeed>(std::move(feed), std::move(prelude))};
}

}  // namespace runnel::http
