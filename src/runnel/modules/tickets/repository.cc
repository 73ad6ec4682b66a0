#include "runnel/modules/tickets/repository.h"

#include <utility>

namespace runnel::modules::tickets {

using store::Async;
using store::SqlStatement;

namespace {

// A run is also named by its aliases (AGUI-4). A repeat updates the row with its own values, so that it
// returns the hash like the first time.
constexpr char kPutForRun[] = R"sql(
INSERT INTO tickets(hash, owner_id, kind, run_id, created_at, good_until, expires_at)
SELECT $1, $2, 'sse', r.id, $5, $6, $7 FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
WHERE r.id IN (SELECT id FROM runs WHERE owner_id = $2 AND run_ref = $4
               UNION ALL SELECT run_id FROM run_aliases WHERE owner_id = $2 AND alias = $4)
  AND s.thread_ref = $3 AND s.owner_id <> ''
ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING hash)sql";

constexpr char kPutForThread[] = R"sql(
INSERT INTO tickets(hash, owner_id, kind, thread_id, created_at, good_until, expires_at)
SELECT $1, $2, 'sse', s.id, $4, $5, $6 FROM agent_chat_sessions s
WHERE s.owner_id = $2 AND s.thread_ref = $3 AND s.owner_id <> ''
ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING hash)sql";

constexpr char kPutForWebsocket[] = R"sql(
INSERT INTO tickets(hash, owner_id, kind, created_at, good_until, expires_at)
VALUES ($1, $2, 'websocket', $3, $4, $5)
ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING hash)sql";

constexpr char kUseSse[] = R"sql(
UPDATE tickets SET good_until = CASE WHEN good_until >= $5 THEN good_until WHEN $5 < expires_at THEN $5 ELSE expires_at END
WHERE hash = $1 AND kind = 'sse' AND good_until > $4
  AND EXISTS (SELECT 1 FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
              WHERE r.id = tickets.run_id AND r.owner_id = tickets.owner_id AND s.thread_ref = $2 AND s.owner_id <> ''
                AND (r.run_ref = $3 OR EXISTS (SELECT 1 FROM run_aliases n WHERE n.run_id = r.id AND n.alias = $3)))
RETURNING owner_id, expires_at)sql";

// A deleted thread has lost its owner.
constexpr char kUseSseOfThread[] = R"sql(
UPDATE tickets SET good_until = CASE WHEN good_until >= $4 THEN good_until WHEN $4 < expires_at THEN $4 ELSE expires_at END
WHERE hash = $1 AND kind = 'sse' AND good_until > $3
  AND EXISTS (SELECT 1 FROM agent_chat_sessions s
              WHERE s.id = tickets.thread_id AND s.owner_id = tickets.owner_id AND s.thread_ref = $2)
RETURNING owner_id, expires_at)sql";

constexpr char kUseWebsocket[] =
    "DELETE FROM tickets WHERE hash = $1 AND kind = 'websocket' AND good_until > $2 RETURNING owner_id, "
    "expires_at";

constexpr char kTouch[] =
    "UPDATE tickets SET good_until = CASE WHEN $2 < expires_at THEN $2 ELSE expires_at END "
    "WHERE hash = $1 AND kind = 'sse' AND good_until < $2 AND good_until < expires_at";

// The outer condition is evaluated again if a row was renewed in the meantime.
constexpr char kExpire[] =
    "DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets WHERE good_until <= $1 LIMIT $2) "
    "AND good_until <= $1 RETURNING hash";

constexpr char kOwner[] = "SELECT owner_id FROM tickets WHERE hash = $1";

SqlStatement put_statement(NewTicket const& ticket) {
  auto const& target = ticket.target;
  if (target.kind == Kind::websocket) {
    return store::statement(kPutForWebsocket, ticket.hash, ticket.owner.text, ticket.now, ticket.use_before(),
                            ticket.expires_at);
  }
  if (target.run.empty()) {
    return store::statement(kPutForThread, ticket.hash, ticket.owner.text, target.thread.text, ticket.now,
                            ticket.use_before(), ticket.expires_at);
  }
  return store::statement(kPutForRun, ticket.hash, ticket.owner.text, target.thread.text, target.run.text,
                          ticket.now, ticket.use_before(), ticket.expires_at);
}

SqlStatement use_statement(std::string const& hash, Target const& target, std::int64_t now) {
  if (target.kind == Kind::websocket) return store::statement(kUseWebsocket, hash, now);
  if (target.run.empty())
    return store::statement(kUseSseOfThread, hash, target.thread.text, now, now + kReuseMs);
  return store::statement(kUseSse, hash, target.thread.text, target.run.text, now, now + kReuseMs);
}

std::vector<SqlStatement> touch_statements(std::vector<Touch> const& touches) {
  std::vector<SqlStatement> out;
  out.reserve(touches.size());
  for (auto const& touch : touches)
    out.push_back(store::statement(kTouch, touch.hash, touch.at + kReuseMs));
  return out;
}

}  // namespace

Async<void> Repository::put(NewTicket ticket) {
  if (ticket.hash.empty() || ticket.owner.empty())
    co_return Error{Errc::invalid, "a ticket needs a hash and an owner"};
  auto const written = co_await sql_.write_one(put_statement(ticket));
  if (!written) co_return written.error();
  if (written->empty())
    co_return Error{Errc::not_found, "the ticket is for a run or a thread that does not exist"};
  co_return Result<void>{};
}

Async<Holder> Repository::use(std::string hash, Target target, std::int64_t now) {
  auto const written = co_await sql_.write_one(use_statement(hash, target, now));
  if (!written) co_return written.error();
  if (written->empty())
    co_return Error{Errc::not_found, "there is no such ticket for this target, or its time is over"};
  co_return Holder{UserId{written->text(0, 0)}, written->integer(0, 1)};
}

Async<void> Repository::touch(std::vector<Touch> touches) {
  if (touches.empty()) co_return Result<void>{};
  auto const written = co_await sql_.write(touch_statements(touches));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<std::size_t> Repository::expire(std::int64_t now, std::size_t limit) {
  auto const written =
      co_await sql_.write_in_background(store::statement(kExpire, now, static_cast<std::int64_t>(limit)));
  if (!written) co_return written.error();
  co_return written->size();
}

Async<std::optional<UserId>> Repository::owner_of(std::string hash) {
  auto const rows = co_await sql_.read(store::statement(kOwner, std::move(hash)));
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::nullopt;
  co_return UserId{rows->text(0, 0)};
}

}  // namespace runnel::modules::tickets
