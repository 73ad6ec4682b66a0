#include "runnel/store/sqlite/intents.h"
#include "runnel/store/sqlite/rows.h"

// Intents that do not belong to the life of a run: users, threads, retention, the probe.
namespace runnel::store::sqlite {

// A trigger adds each of these logs to `purges`.
Result<std::size_t> expire_logs(Db& db, std::int64_t ended_before, std::size_t limit) {
  auto const expired = db.run(
      "UPDATE runs SET log_expired = 1 WHERE id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL "
      "AND log_expired = 0 AND ended_at < ?1 ORDER BY ended_at LIMIT ?2)",
      ended_before, limit);
  return static_cast<std::size_t>(expired);
}

Result<void> ensure_user(Db& db, UserId const& user, std::int64_t now) {
  db.run("INSERT INTO users(id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING", user.text, now);
  return {};
}

Result<void> rename_thread(Db& db, UserId const& owner, ThreadId const& thread, std::string const& title,
                           std::int64_t now) {
  auto const changed = db.run(
      "UPDATE agent_chat_sessions SET title = ?3, updated_at = max(updated_at, ?4) "
      "WHERE owner_id = ?1 AND thread_ref = ?2",
      owner.text, thread.text, title, now);
  if (changed == 0) return Error{Errc::not_found, "no thread " + thread.text + " to rename"};
  return {};
}

Result<DeleteOutcome> delete_thread(Db& db, UserId const& owner, ThreadId const& thread) {
  std::int64_t key = 0;
  {
    Query query{db,
                "SELECT s.id, EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = s.id AND r.ended_at IS NULL) "
                "FROM agent_chat_sessions s WHERE s.owner_id = ?1 AND s.thread_ref = ?2",
                owner.text, thread.text};
    if (!query.next()) return DeleteOutcome::not_found;
    if (query.integer(1) != 0) return DeleteOutcome::busy;
    key = query.integer(0);
  }
  // No owner's name is empty, so a search by owner does not find the thread. Its runs are only found together
  // with it.
  db.run("UPDATE agent_chat_sessions SET owner_id = '', thread_ref = id WHERE id = ?1", key);
  db.run("INSERT INTO purges(thread_id) VALUES (?1)", key);
  return DeleteOutcome::deleted;
}

// Only a commit notices a full disk: a write that is rolled back never leaves the page cache.
Result<void> probe(Db& db) {
  db.run("UPDATE health SET probes = probes + 1");
  return {};
}

}  // namespace runnel::store::sqlite
