-- A ticket may open the stream of a whole thread. `thread_id` is no foreign key either. SQLite changes no CHECK in place,
-- so the table is made anew.
CREATE TABLE tickets_for_threads(
  hash TEXT NOT NULL PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_ticket_kind CHECK (kind IN ('sse','websocket')),
  run_id INTEGER,
  thread_id INTEGER,
  created_at INTEGER NOT NULL,
  good_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CONSTRAINT chk_ticket_target CHECK (CASE kind WHEN 'sse' THEN (run_id IS NULL) <> (thread_id IS NULL)
    ELSE run_id IS NULL AND thread_id IS NULL END)
) WITHOUT ROWID;
INSERT INTO tickets_for_threads(hash, owner_id, kind, run_id, created_at, good_until, expires_at)
SELECT hash, owner_id, kind, run_id, created_at, good_until, expires_at FROM tickets;
DROP TABLE tickets;
ALTER TABLE tickets_for_threads RENAME TO tickets;
CREATE INDEX idx_tickets_good_until ON tickets(good_until);
