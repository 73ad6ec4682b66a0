#include "runnel/store/sqlite_rows.h"

#include <algorithm>

namespace runnel::store::sqlite {

namespace {

constexpr char kInsertMessage[] = R"sql(
INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, visibility_mask,
                                input_tokens, output_tokens, cost, currency, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
        (SELECT billing_currency FROM agent_chat_sessions WHERE id = ?1), ?12))sql";

// RUN-8: each lane counts without gaps, because a row and its number are one transaction's. A query of its
// own: selected inside of the insert, SQLite would make a temporary table for it.
std::int64_t next_seq(Db& db, ThreadKey thread, Lane lane) {
  constexpr std::string_view kVisible =
      "SELECT coalesce(max(seq), 0) + 1 FROM agent_chat_messages WHERE session_id = ?1 AND seq > 0";
  constexpr std::string_view kAudit =
      "SELECT coalesce(min(seq), 0) - 1 FROM agent_chat_messages WHERE session_id = ?1 AND seq < 0";
  Query query{db, lane == Lane::visible ? kVisible : kAudit, thread.value};
  query.next();
  return query.integer(0);
}

bool message_id_taken(Db& db, ThreadKey thread, std::string const& id) {
  Query query{db, "SELECT 1 FROM agent_chat_messages WHERE session_id = ?1 AND message_id = ?2", thread.value,
              id};
  return query.next();
}

// rows.h: a client that sends its message a second time gives it the id of the first.
MessageId free_input_id(Db& db, RunState const& run, MessageId wanted) {
  for (int attempt = 1; message_id_taken(db, run.thread, wanted.text); ++attempt) {
    wanted.text = run.ref + "-input" + (attempt == 1 ? "" : "-" + std::to_string(attempt));
  }
  return wanted;
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

void set_thread_status(Db& db, ThreadKey thread, ThreadStatus status, std::int64_t now) {
  db.run(
      "UPDATE agent_chat_sessions SET status = ?2, state_snapshot = json_set(state_snapshot, '$.status', "
      "?2), "
      "updated_at = max(updated_at, ?3) WHERE id = ?1",
      thread.value, std::string_view{to_string(status)}, now);
}

void insert_message(Db& db, RunState const& run, NewMessage const& message, std::int64_t now) {
  auto const seq = next_seq(db, run.thread, message.lane);
  db.run(kInsertMessage, run.thread.value, run.key.value, message.id.text, seq,
         std::string_view{to_string(message.role)}, message.content, message.metadata,
         run.rolled_back ? 0 : message.mask, message.input_tokens, message.output_tokens, message.cost.pico,
         now);
}

void insert_log(Db& db, RunKey run, Epoch epoch, LogBatch const& facts) {
  db.run("INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (?1, ?2, ?3, ?4, ?5)", run.value,
         facts.first_n, facts.last_n, epoch, facts.body);
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

void write_begin(Db& db, RunState const& run, Begin const& begin, std::int64_t now) {
  db.run("UPDATE agent_chat_sessions SET title = ?2 WHERE id = ?1 AND title IS NULL", run.thread.value,
         begin.title);
  auto message = begin.user_message;
  message.id = free_input_id(db, run, std::move(message.id));
  insert_message(db, run, message, now);
  insert_log(db, run.key, run.epoch, begin.facts);
  db.run("UPDATE runs SET last_n = ?2, next_idx = ?3 WHERE id = ?1", run.key.value, begin.facts.last_n,
         begin.facts.next_idx);
}

Epoch next_epoch(Epoch previous, std::int64_t now) {
  return std::max(previous + 1, now);
}

}  // namespace runnel::store::sqlite
