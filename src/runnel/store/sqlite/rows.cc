#include "runnel/store/sqlite/rows.h"

#include <algorithm>
#include <set>

namespace runnel::store::sqlite {

namespace {

constexpr char kInsertMessage[] = R"sql(
INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, visibility_mask,
                                input_tokens, output_tokens, cost, currency, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
        (SELECT billing_currency FROM agent_chat_sessions WHERE id = ?1), ?12))sql";

// RUN-8: each lane is numbered without gaps, because a row and its number are written in one transaction.
// This is a separate query, because SQLite would make a temporary table for a SELECT inside the INSERT.
std::int64_t next_seq(Db& db, ThreadKey thread, Lane lane) {
  constexpr std::string_view kVisible =
      "SELECT coalesce(max(seq), 0) + 1 FROM agent_chat_messages WHERE session_id = ?1 AND seq > 0";
  constexpr std::string_view kAudit =
      "SELECT coalesce(min(seq), 0) - 1 FROM agent_chat_messages WHERE session_id = ?1 AND seq < 0";
  Query query{db, lane == Lane::visible ? kVisible : kAudit, thread.value};
  query.next();
  return query.integer(0);
}

void insert_message_as(Db& db, RunState const& run, NewMessage const& message, std::int64_t seq,
                       std::int64_t now) {
  db.run(kInsertMessage, run.thread.value, run.key.value, message.id.text, seq,
         std::string_view{to_string(message.role)}, message.content, message.metadata,
         run.rolled_back ? 0 : message.mask, message.input_tokens, message.output_tokens, message.cost.pico,
         now);
  if (message.opens_call.empty()) return;
  db.run("INSERT INTO client_calls(thread_id, call_id, run_id, message_id) VALUES (?1, ?2, ?3, ?4)",
         run.thread.value, message.opens_call.text, run.key.value, message.id.text);
}

// The seq for a new visible row with this id. Empty if the id is taken.
std::optional<std::int64_t> visible_seq_of(Db& db, ThreadKey thread, std::string const& id) {
  Query query{db,
              "SELECT coalesce(max(seq), 0) + 1, "
              "EXISTS (SELECT 1 FROM agent_chat_messages WHERE session_id = ?1 AND message_id = ?2) "
              "FROM agent_chat_messages WHERE session_id = ?1 AND seq > 0",
              thread.value, id};
  query.next();
  return query.integer(1) != 0 ? std::nullopt : std::optional{query.integer(0)};
}

// A client that sends a message again may give it its old id (see `Begin` in store/rows.h).
void insert_input(Db& db, RunState const& run, NewMessage message, std::int64_t now) {
  auto seq = visible_seq_of(db, run.thread, message.id.text);
  for (int attempt = 1; !seq; ++attempt) {
    message.id.text = run.ref + "-input" + (attempt == 1 ? "" : "-" + std::to_string(attempt));
    seq = visible_seq_of(db, run.thread, message.id.text);
  }
  insert_message_as(db, run, message, *seq, now);
}

// AGUI-6: whether the begin closes exactly the calls to the client's tools that are open.
Result<void> check_closings(Db& db, RunState const& run, Begin const& begin) {
  std::set<std::string> open;
  Query query{db, "SELECT call_id FROM client_calls WHERE thread_id = ?1 AND closed_by IS NULL",
              run.thread.value};
  while (query.next())
    open.insert(query.text(0));
  bool const same = open.size() == begin.closings.size() &&
                    std::all_of(begin.closings.begin(), begin.closings.end(), [&](NewMessage const& closing) {
                      return open.erase(closing.closes_call.text) == 1;
                    });
  if (same) return {};
  return Error{Errc::open_calls, "run " + run.ref + " would not close exactly the calls that are open"};
}

void close_client_call(Db& db, RunState const& run, NewMessage const& closing, std::int64_t now) {
  insert_message(db, run, closing, now);
  db.run("UPDATE client_calls SET closed_by = ?3, result_id = ?4 WHERE thread_id = ?1 AND call_id = ?2",
         run.thread.value, closing.closes_call.text, run.key.value, closing.id.text);
}

}  // namespace

std::optional<RunState> find_state(Db& db, RunKey run) {
  Query query{
      db,
      "SELECT thread_id, run_ref, status, epoch, last_n, next_idx, cancel_at IS NOT NULL, rolled_back "
      "FROM runs WHERE id = ?1",
      run.value};
  if (!query.next()) return std::nullopt;
  RunState state;
  state.key = run;
  state.thread = ThreadKey{query.integer(0)};
  state.ref = query.text(1);
  state.status = parse_run_status(query.text(2)).value();
  state.epoch = query.integer(3);
  state.last_n = static_cast<std::uint64_t>(query.integer(4));
  state.next_idx = query.integer(5);
  state.cancel_requested = query.integer(6) != 0;
  state.rolled_back = query.integer(7) != 0;
  return state;
}

std::optional<std::string> unless_empty(std::string const& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

void end_thread(Db& db, ThreadKey thread, ThreadStatus status, std::string const& error_id,
                std::int64_t now) {
  db.run(
      "UPDATE agent_chat_sessions SET status = ?2, state_snapshot = json_set(state_snapshot, '$.status', "
      "?2), "
      "error_id = ?3, updated_at = max(updated_at, ?4) WHERE id = ?1",
      thread.value, std::string_view{to_string(status)}, unless_empty(error_id), now);
}

void start_thread(Db& db, ThreadKey thread, std::optional<std::string> const& title, std::int64_t now) {
  db.run(
      "UPDATE agent_chat_sessions SET title = coalesce(title, ?2), status = 'running', "
      "state_snapshot = json_set(state_snapshot, '$.status', 'running'), error_id = NULL, "
      "updated_at = max(updated_at, ?3) WHERE id = ?1",
      thread.value, title, now);
}

void insert_message(Db& db, RunState const& run, NewMessage const& message, std::int64_t now) {
  insert_message_as(db, run, message, next_seq(db, run.thread, message.lane), now);
}

void insert_log(Db& db, RunKey run, Epoch epoch, LogBatch const& facts) {
  db.run("INSERT INTO log(run_id, first_n, last_n, epoch, body, next_idx) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
         run.value, facts.first_n, facts.last_n, epoch, facts.body, facts.next_idx);
}

bool log_holds(Db& db, RunKey run, Epoch epoch, LogBatch const& facts) {
  Query query{
      db,
      "SELECT 1 FROM log WHERE run_id = ?1 AND first_n = ?2 AND last_n = ?3 AND epoch = ?4 AND body = ?5",
      run.value,
      facts.first_n,
      facts.last_n,
      epoch,
      facts.body};
  return query.next();
}

void insert_epoch(Db& db, RunKey run, Epoch epoch, std::uint64_t first_n) {
  db.run("INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (?1, ?2, ?3)", run.value, epoch, first_n);
}

Result<void> write_begin(Db& db, RunState const& run, Begin const& begin, std::int64_t now) {
  if (auto const closes = check_closings(db, run, begin); !closes) return closes;
  for (auto const& closing : begin.closings)
    close_client_call(db, run, closing, now);
  if (!begin.user_message.id.empty()) insert_input(db, run, begin.user_message, now);
  insert_log(db, run.key, run.epoch, begin.facts);
  return {};
}

Epoch take_epoch(Db& db, ThreadKey thread, std::int64_t now) {
  Query query{db,
              "UPDATE agent_chat_sessions SET last_epoch = max(last_epoch + 1, ?2) WHERE id = ?1 RETURNING "
              "last_epoch",
              thread.value, now};
  query.next();
  return query.integer(0);
}

}  // namespace runnel::store::sqlite
