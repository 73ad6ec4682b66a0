-- The events of users (TOOL-12). Instants are UNIX milliseconds, from 1970 to the end of the year 9999. An event lasts at
-- most 366 days, so whoever looks for the events of a span need not look at those that start 366 days before it.
--
-- `bytes` is what the event takes of its owner's storage: the bytes of its texts, and 200 for the row itself. Triggers
-- keep the sum in `storage_totals` (HTTP-9), so that no statement can forget it.
CREATE TABLE calendar_events(
  id TEXT NOT NULL PRIMARY KEY CONSTRAINT chk_event_id CHECK (id <> ''),
  owner_id TEXT NOT NULL CONSTRAINT chk_event_owner CHECK (owner_id <> ''),
  title TEXT NOT NULL CONSTRAINT chk_event_title CHECK (length(title) BETWEEN 1 AND 200),
  start_at INTEGER NOT NULL CONSTRAINT chk_event_start CHECK (start_at >= 0),
  end_at INTEGER NOT NULL CONSTRAINT chk_event_end CHECK (end_at <= 253402300799999),
  timezone TEXT NOT NULL CONSTRAINT chk_event_timezone CHECK (timezone <> ''),
  location TEXT CONSTRAINT chk_event_location CHECK (length(location) BETWEEN 1 AND 200),
  description TEXT CONSTRAINT chk_event_description CHECK (length(description) BETWEEN 1 AND 4000),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  bytes INTEGER GENERATED ALWAYS AS (
    200 + length(CAST(title AS BLOB)) + length(CAST(timezone AS BLOB)) + coalesce(length(CAST(location AS BLOB)), 0)
    + coalesce(length(CAST(description AS BLOB)), 0)) VIRTUAL,
  CONSTRAINT chk_event_span CHECK (end_at > start_at AND end_at - start_at <= 31622400000)
) WITHOUT ROWID;
CREATE INDEX idx_events_owner_start ON calendar_events(owner_id, start_at, id);

CREATE TRIGGER trg_event_stored_when_made AFTER INSERT ON calendar_events
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_event_stored_when_changed AFTER UPDATE ON calendar_events
WHEN NEW.bytes <> OLD.bytes OR NEW.owner_id <> OLD.owner_id
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_event_stored_when_deleted AFTER DELETE ON calendar_events
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
END;
