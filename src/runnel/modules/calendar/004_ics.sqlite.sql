-- Feeds, and the events that came from iCalendar files.
--
-- A user has at most one feed. Who knows its address reads the user's events, so only the SHA-256 of its secret is kept.
CREATE TABLE calendar_feeds(
  owner_id TEXT NOT NULL PRIMARY KEY CONSTRAINT chk_feed_owner CHECK (owner_id <> ''),
  hash TEXT NOT NULL CONSTRAINT uq_feeds_hash UNIQUE,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- What a file has said about an event when it was imported last: its UID, which names it in all files, its SEQUENCE, its
-- LAST-MODIFIED, and a digest of everything else, by which the same event is recognised. It counts in the storage of the
-- owner: the bytes of the UID, and 200 for the rest.
CREATE TABLE calendar_imports(
  event_id TEXT NOT NULL PRIMARY KEY REFERENCES calendar_events(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL CONSTRAINT chk_import_owner CHECK (owner_id <> ''),
  uid TEXT NOT NULL CONSTRAINT chk_import_uid CHECK (length(uid) BETWEEN 1 AND 255),
  sequence INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  digest TEXT NOT NULL,
  CONSTRAINT uq_imports_owner_uid UNIQUE (owner_id, uid)
) WITHOUT ROWID;

CREATE TRIGGER trg_import_stored_when_made AFTER INSERT ON calendar_imports
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, 200 + length(CAST(NEW.uid AS BLOB)))
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_import_stored_when_deleted AFTER DELETE ON calendar_imports
BEGIN
  UPDATE storage_totals SET bytes = bytes - 200 - length(CAST(OLD.uid AS BLOB)) WHERE owner_id = OLD.owner_id;
END;
