#include <algorithm>

#include "runnel/store/sqlite_intents.h"

// Tickets (HTTP-4). `good_until` alone says whether one may be used; each use moves it, never beyond the
// token's end. One of a deleted thread opens nothing, though its row is there until the thread's are gone.
namespace runnel::store::sqlite {

namespace {

constexpr char kUseSse[] = R"sql(
UPDATE tickets SET good_until = max(good_until, min(?4 + ?5, expires_at))
WHERE hash = ?1 AND kind = 'sse' AND good_until > ?4
  AND run_id = (SELECT r.id FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
                WHERE r.owner_id = tickets.owner_id AND r.run_ref = ?3 AND s.thread_ref = ?2 AND s.owner_id <> '')
RETURNING owner_id, expires_at)sql";

constexpr char kUseWebsocket[] =
    "DELETE FROM tickets WHERE hash = ?1 AND kind = 'websocket' AND good_until > ?2 "
    "RETURNING owner_id, expires_at";

Result<UsedTicket> used_ticket(Query& query) {
  if (!query.next()) return Error{Errc::not_found, "no such ticket, or its time is over"};
  return UsedTicket{UserId{query.text(0)}, query.integer(1)};
}

std::optional<RunKey> run_of(Db& db, NewTicket const& ticket) {
  Query query{db,
              "SELECT r.id FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id "
              "WHERE r.owner_id = ?1 AND r.run_ref = ?2 AND s.thread_ref = ?3 AND s.owner_id <> ''",
              ticket.owner.text, ticket.run.text, ticket.thread.text};
  return query.next() ? std::optional{RunKey{query.integer(0)}} : std::nullopt;
}

}  // namespace

Result<void> put_ticket(Db& db, NewTicket const& ticket) {
  std::optional<std::int64_t> run;
  if (ticket.kind == TicketKind::sse) {
    auto const found = run_of(db, ticket);
    if (!found) return Error{Errc::not_found, "a ticket for a run that does not exist"};
    run = found->value;
  }
  db.run(
      "INSERT INTO tickets(hash, owner_id, kind, run_id, created_at, good_until, expires_at) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
      ticket.hash, ticket.owner.text, std::string_view{to_string(ticket.kind)}, run, ticket.now,
      std::min(ticket.now + kTicketFirstUseMs, ticket.expires_at), ticket.expires_at);
  return {};
}

Result<UsedTicket> use_ticket(Db& db, TicketUse const& use) {
  if (use.kind == TicketKind::websocket) {
    Query query{db, kUseWebsocket, use.hash, use.now};
    return used_ticket(query);
  }
  Query query{db, kUseSse, use.hash, use.thread.text, use.run.text, use.now, kTicketReuseMs};
  return used_ticket(query);
}

Result<void> touch_tickets(Db& db, std::vector<TicketTouch> const& touches) {
  for (auto const& touch : touches) {
    db.run(
        "UPDATE tickets SET good_until = max(good_until, min(?2 + ?3, expires_at)) "
        "WHERE hash = ?1 AND kind = 'sse'",
        touch.hash, touch.at, kTicketReuseMs);
  }
  return {};
}

Result<std::size_t> expire_tickets(Db& db, std::int64_t now, std::size_t limit) {
  auto const gone =
      db.run("DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets WHERE good_until <= ?1 LIMIT ?2)",
             now, limit);
  return static_cast<std::size_t>(gone);
}

}  // namespace runnel::store::sqlite
