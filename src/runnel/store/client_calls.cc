#include "runnel/store/client_calls.h"

#include <utility>

namespace runnel::store {

namespace {

constexpr char kOpen[] = R"sql(
SELECT c.call_id, m.content, m.metadata, m.visibility_mask
FROM agent_chat_sessions s JOIN client_calls c ON c.thread_id = s.id
JOIN agent_chat_messages m ON m.session_id = s.id AND m.message_id = c.message_id
WHERE s.owner_id = $1 AND s.thread_ref = $2 AND c.closed_by IS NULL ORDER BY m.seq)sql";

// A closed call stays only as long as the run that has closed it is active.
constexpr char kOpenAfterRollback[] = R"sql(
SELECT c.call_id, m.content, m.metadata, m.visibility_mask
FROM agent_chat_sessions s JOIN client_calls c ON c.thread_id = s.id
JOIN agent_chat_messages m ON m.session_id = s.id AND m.message_id = c.message_id
WHERE s.owner_id = $1 AND s.thread_ref = $2 ORDER BY m.seq)sql";

constexpr char kMessage[] = R"sql(
SELECT m.role, m.metadata FROM agent_chat_sessions s JOIN agent_chat_messages m ON m.session_id = s.id
WHERE s.owner_id = $1 AND s.thread_ref = $2 AND m.message_id = $3)sql";

constexpr char kNewestUserText[] = R"sql(
SELECT m.content FROM agent_chat_sessions s JOIN agent_chat_messages m ON m.session_id = s.id
WHERE s.owner_id = $1 AND s.thread_ref = $2 AND m.seq > 0 AND m.role = 'user' AND m.visibility_mask <> 0
ORDER BY m.seq DESC LIMIT 1)sql";

constexpr char kClosedBy[] = "SELECT call_id FROM client_calls WHERE thread_id = $1 AND closed_by = $2";

OpenClientCall to_open_call(SqlResult const& found, std::size_t row) {
  OpenClientCall out;
  out.call = ToolCallId{found.text(row, 0)};
  out.args = found.text(row, 1);
  out.metadata = found.text(row, 2);
  out.mask = static_cast<int>(found.integer(row, 3));
  return out;
}

ClientCalls::Message to_message(SqlResult const& found) {
  return {found.text(0, 0), found.text(0, 1)};
}

}  // namespace

Async<std::vector<OpenClientCall>> ClientCalls::open(UserId owner, ThreadId thread, bool after_rollback) {
  auto const found =
      co_await sql_->read(statement(after_rollback ? kOpenAfterRollback : kOpen, owner.text, thread.text));
  if (!found) co_return found.error();
  std::vector<OpenClientCall> calls;
  for (std::size_t row = 0; row < found->size(); ++row)
    calls.push_back(to_open_call(*found, row));
  co_return calls;
}

Async<std::optional<ClientCalls::Message>> ClientCalls::message(UserId owner, ThreadId thread,
                                                                std::string id) {
  auto const found = co_await sql_->read(statement(kMessage, owner.text, thread.text, std::move(id)));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_message(*found);
}

Async<std::string> ClientCalls::newest_user_text(UserId owner, ThreadId thread) {
  auto const found = co_await sql_->read(statement(kNewestUserText, owner.text, thread.text));
  if (!found) co_return found.error();
  co_return found->empty() ? std::string{} : found->text(0, 0);
}

Async<std::vector<ToolCallId>> ClientCalls::closed_by(ThreadKey thread, RunKey run) {
  auto const found = co_await sql_->read(statement(kClosedBy, thread.value, run.value));
  if (!found) co_return found.error();
  std::vector<ToolCallId> calls;
  for (std::size_t row = 0; row < found->size(); ++row)
    calls.emplace_back(found->text(row, 0));
  co_return calls;
}

}  // namespace runnel::store
