#include "runnel/store/approvals.h"

#include <utility>

namespace runnel::store {

namespace {

// With the id under which the run went on, or would be told to go on if the user names none: the pauses of a
// run are numbered from 2. $4 is the id that the user names; the last column says whether it is in use for
// anything but this question.
constexpr char kFindQuestion[] = R"sql(
SELECT r.id, a.args_hash, a.decision, r.status, a.expires_at,
       coalesce(n.alias, r.run_ref || '~' || CAST(1 + (
         SELECT count(*) FROM approvals e WHERE e.run_id = a.run_id AND e.asked_at <= a.asked_at) AS text)),
       CASE WHEN EXISTS (SELECT 1 FROM runs o JOIN agent_chat_sessions t ON t.id = o.thread_id
                         WHERE o.owner_id = $1 AND o.run_ref = $4 AND t.owner_id = $1)
              OR EXISTS (SELECT 1 FROM run_aliases m JOIN runs o ON o.id = m.run_id
                         JOIN agent_chat_sessions t ON t.id = o.thread_id
                         WHERE m.owner_id = $1 AND m.alias = $4 AND t.owner_id = $1
                           AND (m.run_id <> r.id OR m.call_id <> a.call_id)) THEN 1 ELSE 0 END
FROM approvals a JOIN runs r ON r.id = a.run_id JOIN agent_chat_sessions s ON s.id = r.thread_id
LEFT JOIN run_aliases n ON n.run_id = a.run_id AND n.call_id = a.call_id
WHERE r.owner_id = $1 AND s.owner_id = $1 AND s.thread_ref = $2 AND a.call_id = $3)sql";

// The run shall go on under the id that the user has chosen.
constexpr char kNameChosen[] = R"sql(
INSERT INTO run_aliases(owner_id, alias, run_id, call_id, after_epoch, after_n)
SELECT r.owner_id, CAST($2 AS text), r.id, a.call_id, r.epoch, r.last_n
FROM runs r JOIN approvals a ON a.run_id = r.id AND a.decision IS NULL
WHERE r.id = $1 AND r.status = 'awaiting_approval')sql";

// The run shall go on under the next id of its own. It does so even if that is the id of an old run, which is
// then found by it: nobody can choose such an id any more.
constexpr char kNameNext[] = R"sql(
INSERT INTO run_aliases(owner_id, alias, run_id, call_id, after_epoch, after_n)
SELECT n.owner_id, n.alias, n.run_id, n.call_id, n.epoch, n.last_n
FROM (SELECT r.owner_id AS owner_id, r.id AS run_id, a.call_id AS call_id, r.epoch AS epoch, r.last_n AS last_n,
             r.run_ref || '~' || CAST(1 + (SELECT count(*) FROM approvals e WHERE e.run_id = r.id) AS text) AS alias
      FROM runs r JOIN approvals a ON a.run_id = r.id AND a.decision IS NULL
      WHERE r.id = $1 AND r.status = 'awaiting_approval') n
WHERE NOT EXISTS (SELECT 1 FROM runs o WHERE o.owner_id = n.owner_id AND o.run_ref = n.alias)
ON CONFLICT DO NOTHING)sql";

constexpr char kDecide[] = R"sql(
UPDATE approvals SET decision = $3, reason = $4, decided_at = $5
WHERE run_id = $1 AND call_id = $2 AND decision IS NULL)sql";

// A decision of the user, which must come in time.
constexpr char kAnswer[] = R"sql(
UPDATE approvals SET decision = $3, reason = $4, decided_at = $5
WHERE run_id = $1 AND call_id = $2 AND decision IS NULL AND expires_at > $5)sql";

constexpr char kGoOn[] = "UPDATE runs SET status = 'pending' WHERE id = $1 AND status = 'awaiting_approval'";

constexpr char kOverdue[] = R"sql(
SELECT a.run_id, a.call_id FROM approvals a JOIN runs r ON r.id = a.run_id
WHERE a.decision IS NULL AND a.expires_at <= $1 AND r.status = 'awaiting_approval' AND r.cancel_at IS NULL
ORDER BY a.expires_at LIMIT $2)sql";

constexpr char kCanceled[] = R"sql(
SELECT id FROM runs
WHERE ended_at IS NULL AND status = 'awaiting_approval' AND cancel_at IS NOT NULL LIMIT $1)sql";

constexpr char kPendingAgain[] =
    "SELECT id FROM runs WHERE ended_at IS NULL AND status = 'pending' AND last_n > 0 ORDER BY id LIMIT $1";

constexpr char kGoOnIfCanceled[] =
    "UPDATE runs SET status = 'pending' WHERE id = $1 AND status = 'awaiting_approval' AND cancel_at IS NOT "
    "NULL";

constexpr char kState[] = R"sql(
SELECT a.decision, a.reason, a.args_hash, n.alias
FROM approvals a LEFT JOIN run_aliases n ON n.run_id = a.run_id AND n.call_id = a.call_id
WHERE a.run_id = $1 AND a.call_id = $2)sql";

// A clock that was set back must not shorten what a run has waited.
constexpr char kWaited[] = R"sql(
SELECT CAST(coalesce(sum(CASE WHEN decided_at > asked_at THEN decided_at - asked_at ELSE 0 END), 0) AS bigint)
FROM approvals WHERE run_id = $1)sql";

constexpr char kWaiting[] = R"sql(
SELECT s.thread_ref, r.run_ref, a.call_id, a.name, a.args, a.args_hash, a.asked_at, a.expires_at
FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id JOIN approvals a ON a.run_id = r.id
WHERE r.owner_id = $1 AND s.owner_id = $1 AND r.ended_at IS NULL AND r.status = 'awaiting_approval'
  AND a.decision IS NULL
ORDER BY a.asked_at, a.run_id LIMIT $2)sql";

// The list of states is that of the index of active runs.
constexpr char kWaitingOn[] = R"sql(
SELECT s.thread_ref, r.run_ref, a.call_id, a.name, a.args, a.args_hash, a.asked_at, a.expires_at
FROM agent_chat_sessions s JOIN runs r ON r.thread_id = s.id JOIN approvals a ON a.run_id = r.id
WHERE s.owner_id = $1 AND s.thread_ref = $2 AND r.status IN ('pending','running','awaiting_approval')
  AND r.status = 'awaiting_approval' AND a.decision IS NULL)sql";

std::optional<Decision> parse_decision(std::string const& text) {
  for (auto const decision : {Decision::approved, Decision::rejected, Decision::expired}) {
    if (text == to_string(decision)) return decision;
  }
  return std::nullopt;
}

// The name comes first: it is only given while the run waits, and PostgreSQL locks an id before any row.
SqlStatement name_pause(RunKey run, RunId const& alias) {
  if (alias.text.empty()) return statement(kNameNext, run.value);
  return statement(kNameChosen, run.value, alias.text).touching(1);
}

std::vector<SqlStatement> decide(char const* how, RunKey run, ApprovalAnswer const& answer) {
  return {name_pause(run, answer.alias), statement(kGoOn, run.value).touching(1),
          statement(how, run.value, answer.call.text, std::string{to_string(answer.decision)},
                    null_if_empty(answer.reason), answer.now)
              .touching(1)};
}

ApprovalAnswer expiry(std::string call, std::int64_t now) {
  ApprovalAnswer out;
  out.call = ToolCallId{std::move(call)};
  out.decision = Decision::expired;
  out.now = now;
  return out;
}

std::vector<SqlStatement> go_on_if_canceled(RunKey run) {
  return {name_pause(run, {}), statement(kGoOnIfCanceled, run.value).touching(1)};
}

struct Question {
  RunKey run;
  std::string args_hash;
  std::optional<Decision> decision;
  bool waits = false;
  std::int64_t expires_at = 0;
  RunId alias;
  bool alias_taken = false;
};

std::optional<Question> to_question(SqlResult const& found) {
  if (found.empty()) return std::nullopt;
  return Question{RunKey{found.integer(0, 0)},
                  found.text(0, 1),
                  parse_decision(found.text(0, 2)),
                  found.text(0, 3) == "awaiting_approval",
                  found.integer(0, 4),
                  RunId{found.text(0, 5)},
                  found.integer(0, 6) != 0};
}

AnswerOutcome::Kind kind_of(Question const& question, ApprovalAnswer const& answer) {
  using Kind = AnswerOutcome::Kind;
  if (question.alias_taken) return Kind::alias_taken;
  if (question.decision) return Kind::already_decided;
  if (!answer.args_hash.empty() && answer.args_hash != question.args_hash) return Kind::other_arguments;
  if (!question.waits) return Kind::not_found;
  return question.expires_at <= answer.now ? Kind::already_decided : Kind::accepted;
}

// What an answer to this question becomes; `accepted` if it may be written.
AnswerOutcome judge(std::optional<Question> const& question, ApprovalAnswer const& answer) {
  AnswerOutcome outcome;
  if (!question) return outcome;
  outcome.kind = kind_of(*question, answer);
  outcome.run = question->run;
  bool const accepted = outcome.kind == AnswerOutcome::Kind::accepted;
  outcome.decision = question->decision.value_or(accepted ? answer.decision : Decision::expired);
  outcome.alias = accepted && !answer.alias.text.empty() ? answer.alias : question->alias;
  return outcome;
}

SqlStatement find_question(ApprovalAnswer const& answer) {
  return statement(kFindQuestion, answer.owner.text, answer.thread.text, answer.call.text, answer.alias.text);
}

// Whether a write was refused because the rows were not as they had been read.
bool came_too_late(Error const& error) {
  return error.code == Errc::conflict || error.code == Errc::already_exists;
}

WaitingApproval to_waiting(SqlResult const& found, std::size_t row) {
  WaitingApproval out;
  out.thread = ThreadId{found.text(row, 0)};
  out.run = RunId{found.text(row, 1)};
  out.call = ToolCallId{found.text(row, 2)};
  out.name = found.text(row, 3);
  out.args = found.text(row, 4);
  out.args_hash = found.text(row, 5);
  out.asked_at = found.integer(row, 6);
  out.expires_at = found.integer(row, 7);
  return out;
}

}  // namespace

char const* to_string(Decision decision) {
  switch (decision) {
    case Decision::approved:
      return "approved";
    case Decision::rejected:
      return "rejected";
    case Decision::expired:
      break;
  }
  return "expired";
}

// If the write is refused, somebody else was faster: the second look says what stands.
Async<AnswerOutcome> Approvals::answer(ApprovalAnswer answer) {
  auto const found = co_await sql_->read(find_question(answer));
  if (!found) co_return found.error();
  auto outcome = judge(to_question(*found), answer);
  if (outcome.kind != AnswerOutcome::Kind::accepted) co_return outcome;
  auto const written = co_await sql_->write(decide(kAnswer, outcome.run, answer));
  if (written) co_return outcome;
  if (!came_too_late(written.error())) co_return written.error();
  auto const again = co_await sql_->read(find_question(answer));
  if (!again) co_return again.error();
  outcome = judge(to_question(*again), answer);
  if (outcome.kind == AnswerOutcome::Kind::accepted) outcome.kind = AnswerOutcome::Kind::not_found;
  co_return outcome;
}

// A run that another process has woken meanwhile is skipped. What was woken is returned even if a later write
// fails: the next look finds the rest.
Async<std::vector<RunKey>> Approvals::wake_due(std::int64_t now, std::size_t limit) {
  auto const most = static_cast<std::int64_t>(limit);
  std::vector<RunKey> woken;
  auto const overdue = co_await sql_->read(statement(kOverdue, now, most));
  if (!overdue) co_return overdue.error();
  for (std::size_t i = 0; i < overdue->size(); ++i) {
    RunKey const run{overdue->integer(i, 0)};
    auto const expired = expiry(overdue->text(i, 1), now);
    auto const written = co_await sql_->write(decide(kDecide, run, expired));
    if (written) woken.push_back(run);
    if (!written && !came_too_late(written.error())) co_return woken;
  }
  auto const canceled = co_await sql_->read(statement(kCanceled, most));
  if (!canceled) co_return woken;
  for (std::size_t i = 0; i < canceled->size(); ++i) {
    RunKey const run{canceled->integer(i, 0)};
    auto const written = co_await wake_canceled(run);
    if (written && *written) woken.push_back(run);
    if (!written) co_return woken;
  }
  co_return woken;
}

Async<std::vector<RunKey>> Approvals::pending_again(std::size_t limit) {
  auto const found = co_await sql_->read(statement(kPendingAgain, static_cast<std::int64_t>(limit)));
  if (!found) co_return found.error();
  std::vector<RunKey> runs;
  for (std::size_t i = 0; i < found->size(); ++i)
    runs.push_back(RunKey{found->integer(i, 0)});
  co_return runs;
}

Async<bool> Approvals::wake_canceled(RunKey run) {
  auto const written = co_await sql_->write(go_on_if_canceled(run));
  if (written) co_return true;
  if (came_too_late(written.error())) co_return false;
  co_return written.error();
}

Async<ApprovalState> Approvals::state(RunKey run, ToolCallId call) {
  auto const found = co_await sql_->read(statement(kState, run.value, call.text));
  if (!found) co_return found.error();
  if (found->empty()) co_return Error{Errc::not_found, "nobody was asked about this tool call"};
  ApprovalState state;
  state.decision = parse_decision(found->text(0, 0));
  state.reason = found->text(0, 1);
  state.args_hash = found->text(0, 2);
  state.alias = RunId{found->text(0, 3)};
  co_return state;
}

Async<std::int64_t> Approvals::waited(RunKey run) {
  auto const found = co_await sql_->read(statement(kWaited, run.value));
  if (!found) co_return found.error();
  co_return found->integer(0, 0);
}

Async<std::vector<WaitingApproval>> Approvals::waiting_for(UserId owner, std::size_t limit) {
  auto const found = co_await sql_->read(statement(kWaiting, owner.text, static_cast<std::int64_t>(limit)));
  if (!found) co_return found.error();
  std::vector<WaitingApproval> out;
  for (std::size_t i = 0; i < found->size(); ++i)
    out.push_back(to_waiting(*found, i));
  co_return out;
}

Async<std::optional<WaitingApproval>> Approvals::waiting_on(UserId owner, ThreadId thread) {
  auto const found = co_await sql_->read(statement(kWaitingOn, owner.text, thread.text));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_waiting(*found, 0);
}

}  // namespace runnel::store
