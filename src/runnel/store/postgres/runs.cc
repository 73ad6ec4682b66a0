#include "runnel/store/postgres/runs.h"

#include <optional>
#include <string>

#include "runnel/core/json/write.h"
#include "runnel/store/postgres/calls.h"
#include "runnel/store/postgres/rows.h"

namespace runnel::store::postgres {

namespace {

constexpr char kAdmit[] =
    "SELECT * FROM runnel_admit_run($1::text::json, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
    "$14, $15, $16::text::json)";

constexpr char kAppend[] = "SELECT runnel_append($1, $2, $3, $4, $5, $6, $7::text::json, $8)";

constexpr char kAppendWith[] =
    "SELECT runnel_append_with($1, $2, $3, $4, $5, $6, $7::text::json, $8, $9::text::json, $10::text::json, "
    "$11::text::json)";

constexpr char kAppendToolCalls[] =
    "SELECT runnel_append_tool_calls($1, $2, $3, $4, $5, $6, $7::text::json, $8, $9::text::json, "
    "$10::text::json, $11::text::json, $12::text::json, $13::text::json)";

constexpr char kEnd[] =
    "SELECT runnel_end_with($1, $2, $3, $4, $5, $6, $7::text::json, $8, $9, $10, $11, $12::text::json, "
    "$13::text::json, $14::text::json), false";

constexpr char kEndUnlessCanceled[] =
    "SELECT * FROM runnel_end_unless_canceled($1, $2, $3, $4, $5, $6, $7, $8::text::json, $9::text::json, "
    "$10::text::json, $11::text::json, $12, $13, $14, $15, $16, $17, $18::text::json, $19::text::json, "
    "$20::text::json, $21::text::json, $22)";

constexpr char kForceEnd[] =
    "SELECT runnel_force_end($1, $2, $3, $4 <> 0, $5, $6, $7, $8, $9::text::json, $10, $11, $12, $13, "
    "$14::text::json, $15::text::json), false";

// `before` is the number of bytes in the rows before this one; the result ends when it reaches the requested
// number. A log that has expired or whose thread was deleted gives no rows, even if some are left.
constexpr char kCheckpoints[] = R"sql(
SELECT number, stage, kind, body FROM (
  SELECT number, stage, kind, body,
         sum(octet_length(body)) OVER (ORDER BY number) - octet_length(body) AS before
  FROM (
    SELECT c.number, c.stage, c.kind, c.body::text AS body
    FROM checkpoints c JOIN runs r ON r.id = c.run_id JOIN agent_chat_sessions s ON s.id = r.thread_id
    WHERE c.run_id = $1 AND c.number > $2 AND NOT r.log_expired AND s.owner_id <> ''
    ORDER BY c.number LIMIT 16
  ) next
) rows WHERE before = 0 OR before < $3 ORDER BY number)sql";

// Empty if there are no checkpoints.
std::optional<std::string> checkpoints_json(std::vector<Checkpoint> const& checkpoints) {
  return array_json(checkpoints, [](std::string& out, Checkpoint const& checkpoint) {
    JsonObject{out}
        .number("number", checkpoint.number)
        .text("stage", checkpoint.stage)
        .text("kind", checkpoint.kind)
        .text("body", checkpoint.body)
        .close();
  });
}

// Empty if there are none.
std::optional<std::string> tool_starts_json(std::vector<ToolCallStart> const& starts) {
  return array_json(starts, [](std::string& out, ToolCallStart const& start) {
    JsonObject object{out};
    object.text("id", start.id.text).text("name", start.name).text("args_hash", start.args_hash);
    if (start.question)
      object.text("args", start.question->args).number("expires_at", start.question->expires_at);
    object.close();
  });
}

std::optional<std::string> tool_ends_json(std::vector<ToolCallId> const& ends) {
  return array_json(ends, [](std::string& out, ToolCallId const& id) { append_json_string(out, id.text); });
}

bool is_facts_and_messages(AppendRequest const& request) {
  return request.call_ends.empty() && request.bookings.empty() && request.checkpoints.empty();
}

bool has_tool_calls(AppendRequest const& request) {
  return !request.tool_starts.empty() || !request.tool_ends.empty();
}

}  // namespace

Statement admit_statement(AdmitRequest const& request) {
  return Statement{kAdmit,
                   budgets_json(request.budgets),
                   request.max_active_runs,
                   request.max_stored_bytes,
                   request.owner.text,
                   request.thread.text,
                   request.run.text,
                   to_string(request.on_busy),
                   store::to_string(request.mode),
                   request.input_hash,
                   request.input,
                   request.agui_version,
                   unless_empty(std::string{request.profile_query}),
                   unless_empty(request.country),
                   request.node.text,
                   request.now,
                   begin_json(request.begin)};
}

Statement append_statement(AppendRequest const& request) {
  auto const& facts = request.facts;
  auto const messages = messages_json(request.messages);
  if (has_tool_calls(request)) {
    return Statement{kAppendToolCalls,
                     request.run.value,
                     request.epoch,
                     facts.first_n,
                     facts.last_n,
                     facts.next_idx,
                     facts.body,
                     messages,
                     request.now,
                     ends_json(request.call_ends),
                     bookings_json(request.bookings),
                     checkpoints_json(request.checkpoints),
                     tool_starts_json(request.tool_starts),
                     tool_ends_json(request.tool_ends)};
  }
  if (is_facts_and_messages(request)) {
    return Statement{kAppend,        request.run.value, request.epoch, facts.first_n, facts.last_n,
                     facts.next_idx, facts.body,        messages,      request.now};
  }
  return Statement{kAppendWith,
                   request.run.value,
                   request.epoch,
                   facts.first_n,
                   facts.last_n,
                   facts.next_idx,
                   facts.body,
                   messages,
                   request.now,
                   ends_json(request.call_ends),
                   bookings_json(request.bookings),
                   checkpoints_json(request.checkpoints)};
}

namespace {

Statement end_unless_canceled(EndRequest const& request) {
  auto const& append = request.append;
  auto const& canceled = request.if_canceled->append;
  return Statement{kEndUnlessCanceled,
                   append.run.value,
                   append.epoch,
                   append.facts.first_n,
                   append.now,
                   append.facts.last_n,
                   append.facts.next_idx,
                   append.facts.body,
                   messages_json(append.messages),
                   ends_json(append.call_ends),
                   bookings_json(append.bookings),
                   checkpoints_json(append.checkpoints),
                   store::to_string(request.status),
                   unless_empty(request.error_code),
                   unless_empty(request.error_id),
                   canceled.facts.last_n,
                   canceled.facts.next_idx,
                   canceled.facts.body,
                   messages_json(canceled.messages),
                   ends_json(canceled.call_ends),
                   bookings_json(canceled.bookings),
                   checkpoints_json(canceled.checkpoints),
                   unless_empty(request.if_canceled->error_code)};
}

}  // namespace

Statement end_statement(EndRequest const& request) {
  if (request.if_canceled) return end_unless_canceled(request);
  auto const& append = request.append;
  return Statement{kEnd,
                   append.run.value,
                   append.epoch,
                   append.facts.first_n,
                   append.facts.last_n,
                   append.facts.next_idx,
                   append.facts.body,
                   messages_json(append.messages),
                   append.now,
                   store::to_string(request.status),
                   unless_empty(request.error_code),
                   unless_empty(request.error_id),
                   ends_json(append.call_ends),
                   bookings_json(append.bookings),
                   checkpoints_json(append.checkpoints)};
}

Statement force_end_statement(ForceEndRequest const& request) {
  auto const& append = request.end.append;
  return Statement{kForceEnd,
                   append.run.value,
                   request.node.text,
                   request.seen_epoch,
                   request.log_is_lost,
                   append.facts.first_n,
                   append.facts.last_n,
                   append.facts.next_idx,
                   append.facts.body,
                   messages_json(append.messages),
                   append.now,
                   store::to_string(request.end.status),
                   unless_empty(request.end.error_code),
                   unless_empty(request.end.error_id),
                   ends_json(append.call_ends),
                   bookings_json(append.bookings)};
}

Statement log_end_statement(RunKey run) {
  return Statement{"SELECT * FROM runnel_log_end($1)", run.value};
}

Result<LogEnd> to_log_end(Rows const& rows) {
  if (rows.size() == 0)
    return Error{Errc::not_found, "cannot read the end of the log: the run does not exist"};
  LogEnd end;
  end.epoch = rows.integer(0, 0);
  end.last_n = static_cast<std::uint64_t>(rows.integer(0, 1));
  end.next_idx = rows.integer(0, 2);
  end.status = parse_run_status(rows.text(0, 3)).value();
  return end;
}

Statement release_statement(RunKey run, Epoch epoch) {
  return Statement{
      "UPDATE runs SET released = true WHERE id = $1 AND epoch = $2 AND status = 'running' RETURNING id",
      run.value, epoch};
}

Result<void> to_released(Rows const& rows) {
  if (rows.size() == 1) return {};
  return Error{Errc::fenced, "cannot release the run: it has another writer or is not running"};
}

Statement checkpoints_statement(RunKey run, std::int64_t after, std::size_t max_bytes) {
  return Statement{kCheckpoints, run.value, after, max_bytes};
}

Result<std::vector<Checkpoint>> to_checkpoints(Rows const& rows) {
  std::vector<Checkpoint> checkpoints;
  checkpoints.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    checkpoints.push_back({rows.integer(i, 0), rows.text(i, 1), rows.text(i, 2), rows.text(i, 3)});
  }
  return checkpoints;
}

}  // namespace runnel::store::postgres
