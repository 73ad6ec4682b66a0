#include "runnel/http/routes/ag_ui_join.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/fact/fact_json.h"
#include "runnel/protocol/notices.h"
#include "runnel/runtime/writing/shown_messages.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kJoinPageBytes = std::size_t{256} * 1024;
// The newest messages of the thread that are sent, and the newest cards of the run.
constexpr std::size_t kMostJoinBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMostJoinRows = 1000;
constexpr std::size_t kMostCardBytes = std::size_t{256} * 1024;

std::optional<MessageId> completed_by(Fact const& fact) {
  if (auto const* args = std::get_if<ToolArgs>(&fact)) return args->message;
  if (auto const* result = std::get_if<ToolResult>(&fact)) return result->message;
  if (auto const* text = std::get_if<TextEnded>(&fact)) return text->message;
  if (auto const* answer = std::get_if<AnswerCompleted>(&fact)) return answer->message;
  if (auto const* closed = std::get_if<ClientCallClosed>(&fact)) return closed->message;
  return std::nullopt;
}

FeedStep join_step(FeedStep::Kind kind, stream::SharedFrames frames = nullptr) {
  return {kind, std::move(frames)};
}

// Whether more of the log may follow.
Result<bool> take_rows(JoinState& state, std::vector<store::LogRow> const& rows) {
  for (auto const& row : rows) {
    auto const records = parse_log_body(row.body, row.epoch);
    if (!records) return Error{Errc::not_found, "the log can no longer be read"};
    for (auto const& record : *records) {
      auto const more = state.take(record);
      if (!more) return Error{Errc::not_found, "the log is out of order"};
      if (!*more) return false;
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

store::Async<void> read_state(FeedParts const* parts, UserId const* reader, RunKey run, JoinState* state) {
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto const read = co_await read_some(parts, reader, run, &after, state);
    if (!read) co_return read.error();
    more = *read;
  }
  co_return Result<void>{};
}

// The messages of the thread; of this run only those that are complete at the place, because the others
// follow as events. A text before a tool call is complete before its row is written.
JsonText messages_at(JoinState const& state, RunId const& run, std::vector<store::MessageRow> const& rows) {
  std::string list = "[";
  auto const add = [&list](MessageId const& id, store::Role role, std::string const& content,
                           std::string const& metadata) {
    if (list.size() > 1) list += ',';
    runtime::append_shown_message(list, id, role, content, metadata);
  };
  auto const& unwritten = state.order().unsettled_text();
  bool is_written = !unwritten;
  for (auto const& row : rows) {
    bool const is_later = row.run == run && row.role != store::Role::user && !state.has(row.id);
    if (!is_later) add(row.id, row.role, row.content, row.metadata);
    if (unwritten && row.id == unwritten->message) is_written = true;
  }
  if (!is_written) add(unwritten->message, store::Role::assistant, unwritten->text, "{}");
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

stream::Frames make_prelude(JoinState const& state, RunNames const& names, Wire wire,
                            std::vector<store::MessageRow> const& rows, std::int64_t now_us) {
  stream::Frames out;
  auto const add = [&](Fact fact) {
    protocol::append_notice(wire, names, std::move(fact), now_us, out.bytes);
  };
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
  protocol::append_place(state.position(), out.bytes);
  return out;
}

// Waits until the run has begun, makes the beginning for this reader, and then sends the run's events. The
// beginning is made when there is room for it in its user's budget.
class JoinedFeed final : public EventFeed {
 public:
  JoinedFeed(FeedParts parts, UserId reader, store::RunRow run, Wire wire, base::Clock const* clock)
      : parts_{parts},
        reader_{std::move(reader)},
        run_{std::move(run)},
        names_{run_.thread_id, run_.id},
        wire_{wire},
        clock_{clock} {}

  // To be called once, before next(). Fails with `not_found` if the log cannot be read.
  store::Async<void> begin() {
    auto const read = co_await read_state(&parts_, &reader_, run_.key, &state_);
    if (!read) co_return read.error();
    if (!state_.order().started()) watch_ = parts_.hub.threads().watch(run_.thread);
    co_return Result<void>{};
  }

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    if (is_live_) co_return join_step(FeedStep::Kind::ended);
    while (!feed_ && !state_.order().started()) {
      watch_->clear();
      auto const read = co_await read_state(&parts_, &reader_, run_.key, &state_);
      if (!read) co_return join_step(FeedStep::Kind::reconnect);
      if (!state_.order().started() && watch_->wait(reader)) co_return join_step(FeedStep::Kind::live);
    }
    if (!feed_) {
      auto prelude = co_await prelude_frames();
      if (!prelude) co_return join_step(FeedStep::Kind::reconnect);
      feed_ = std::make_unique<RunFeed>(parts_, reader_, run_, state_.position(), wire_);
      state_ = JoinState{};
      co_return join_step(FeedStep::Kind::frames, stream::share(std::move(*prelude)));
    }
    auto step = co_await feed_->next(std::move(reader));
    is_live_ = step.kind == FeedStep::Kind::live;
    co_return step;
  }

  // When a run that has not begun does so, its reader is told like one of the thread.
  [[nodiscard]] bool continues() const override { return watch_ != nullptr; }
  [[nodiscard]] RunNames const& run() const override { return names_; }
  [[nodiscard]] Wire wire() const override { return wire_; }

 private:
  store::Async<stream::Frames> prelude_frames() {
    auto const row = co_await parts_.store.run_by_key(run_.key);
    if (!row) co_return row.error();
    if (!*row) co_return Error{Errc::not_found, "the run is gone"};
    run_ = **row;
    store::PageSize const size{kMostJoinRows, kMostJoinBytes};
    auto const page = co_await parts_.store.history(reader_, run_.thread_id, std::nullopt, size);
    if (!page) co_return page.error();
    auto const* const rows = &page->messages;
    co_return co_await parts_.replaying.run<stream::Frames>(
        reader_.text, [this, rows]() -> Result<stream::Frames> {
          return make_prelude(state_, names_, wire_, *rows, clock_->now_us());
        });
  }

  FeedParts const parts_;
  UserId const reader_;
  store::RunRow run_;
  RunNames const names_;
  Wire const wire_;
  base::Clock const* const clock_;
  JoinState state_;
  std::shared_ptr<stream::ThreadWatch> watch_;  // Null if the run had begun.
  std::unique_ptr<RunFeed> feed_;
  bool is_live_ = false;
};

}  // namespace

void JoinState::Place::keep(CardShown const& card) {
  cards.push_back(card);
  card_bytes += card.card.str().size();
  while (card_bytes > kMostCardBytes && cards.size() > 1) {
    card_bytes -= cards.front().card.str().size();
    cards.pop_front();
  }
}

Result<bool> JoinState::take(Record const& record) {
  auto const& fact = record.fact;
  if (is_terminal(fact)) return false;
  bool const pauses = std::holds_alternative<StepPaused>(fact) || std::holds_alternative<RunPaused>(fact);
  if (pauses && !before_pause_) before_pause_ = std::make_unique<Place>(place_);
  if (std::holds_alternative<RunResumed>(fact)) before_pause_.reset();
  auto const accepted = place_.order.accept(fact);
  if (!accepted) return accepted.error();
  place_.position = record.position;
  if (auto message = completed_by(fact)) place_.complete.insert(std::move(*message));
  if (auto const* card = std::get_if<CardShown>(&fact)) place_.keep(*card);
  return true;
}

store::Async<std::unique_ptr<EventFeed>> join_run(FeedParts parts, UserId reader, store::RunRow run,
                                                  Wire wire, base::Clock const* clock) {
  auto feed = std::make_unique<JoinedFeed>(parts, std::move(reader), std::move(run), wire, clock);
  auto const ready = co_await feed->begin();
  if (!ready) co_return ready.error();
  co_return std::unique_ptr<EventFeed>{std::move(feed)};
}

}  // namespace runnel::http
