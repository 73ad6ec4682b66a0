-- A ticket is stored as its SHA-256 in hexadecimal, which cannot be used in place of the ticket. Only `good_until`
-- decides whether a ticket may be used. `run_id` is not a foreign key, so that deleting a run does not wait for its
-- tickets: a ticket whose run has been deleted opens nothing, and is deleted when its time is over.
CREATE TABLE tickets(
  hash TEXT NOT NULL PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_ticket_kind CHECK (kind IN ('sse','websocket')),
  run_id INTEGER,
  created_at INTEGER NOT NULL,
  good_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CONSTRAINT chk_ticket_run CHECK ((kind = 'sse') = (run_id IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX idx_tickets_good_until ON tickets(good_until);
