#include "runnel/store/postgres/messages.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runnel/store/page.h"

namespace runnel::store::postgres {

namespace {

// The server counts the bytes and sends only the rows that fit. The first column is the thread. The second is
// the number of rows, counted up to one more than the page may have. A thread without rows gives one row of
// NULLs; a thread that does not exist gives no row.
constexpr char kHistory[] = R"sql(
WITH found AS (
  SELECT m.*, row_number() OVER newest AS place,
         sum(octet_length(m.content) + octet_length(m.metadata::text)) OVER newest AS bytes
  FROM (SELECT m.* FROM agent_chat_sessions s JOIN agent_chat_messages m ON m.session_id = s.id
        WHERE s.owner_id = $1 AND s.thread_ref = $2 AND m.seq > 0 AND m.seq < $3 AND (m.visibility_mask & 1) <> 0
        ORDER BY m.seq DESC LIMIT $4 + 1) m
  WINDOW newest AS (ORDER BY m.seq DESC)
)
SELECT s.id, (SELECT count(*) FROM found), m.message_id, m.seq, m.role, m.content, m.metadata, r.run_ref, m.created_at
FROM agent_chat_sessions s
LEFT JOIN found m ON m.place <= $4 AND (m.bytes <= $5 OR m.place = 1)
LEFT JOIN runs r ON r.id = m.run_id
WHERE s.owner_id = $1 AND s.thread_ref = $2 ORDER BY m.seq DESC)sql";

constexpr char kContext[] = R"sql(
SELECT m.message_id, m.seq, m.role, m.content, m.metadata, r.run_ref, m.created_at
FROM (
  SELECT m.*, row_number() OVER newest AS place,
         sum(octet_length(m.content) + octet_length(m.metadata::text)) OVER newest AS bytes
  FROM (SELECT * FROM agent_chat_messages
        WHERE session_id = $1 AND seq > 0 AND (visibility_mask & 2) <> 0
          AND (run_id <> $2 OR role = 'user'
               OR message_id IN (SELECT result_id FROM client_calls WHERE thread_id = $1 AND closed_by = $2))
        ORDER BY seq DESC LIMIT $3) m
  WINDOW newest AS (ORDER BY m.seq DESC)
) m JOIN runs r ON r.id = m.run_id
WHERE m.bytes <= $4 OR m.place = 1 ORDER BY m.seq DESC)sql";

std::vector<MessageRow> to_messages(Rows const& rows, int first_column) {
  std::vector<MessageRow> out(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    auto& message = out[static_cast<std::size_t>(i)];
    message.id = MessageId{rows.text(i, first_column)};
    message.seq = rows.integer(i, first_column + 1);
    message.role = parse_role(rows.text(i, first_column + 2)).value();
    message.content = rows.text(i, first_column + 3);
    message.metadata = rows.text(i, first_column + 4);
    message.run = RunId{rows.text(i, first_column + 5)};
    message.created_at = rows.integer(i, first_column + 6);
  }
  return out;
}

}  // namespace

Statement history_statement(UserId const& owner, ThreadId const& thread, std::optional<std::int64_t> before,
                            PageSize size) {
  return Statement{kHistory,    owner.text,
                   thread.text, before.value_or(std::numeric_limits<std::int64_t>::max()),
                   size.rows,   size.bytes};
}

Result<HistoryPage> to_history(Rows const& rows) {
  if (rows.size() == 0) return Error{Errc::not_found, "no such thread"};
  if (rows.is_null(0, 2)) return HistoryPage{};
  return history_page(to_messages(rows, 2), rows.integer(0, 1) > rows.size());
}

Statement context_statement(ThreadKey thread, RunKey reader, PageSize size) {
  return Statement{kContext, thread.value, reader.value, size.rows, size.bytes};
}

Result<std::vector<MessageRow>> to_context(Rows const& rows) {
  auto messages = to_messages(rows, 0);
  std::reverse(messages.begin(), messages.end());
  return messages;
}

}  // namespace runnel::store::postgres
