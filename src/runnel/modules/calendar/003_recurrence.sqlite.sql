-- Events that repeat. `rrule` is a recurrence rule in the normal form that recurrence.h gives it (RFC 5545), and an event
-- that has one is a series. `exdates` is a JSON list of the starts of its occurrences that do not take place.
-- `series_end_at` is when the last occurrence ends, or the last millisecond of the year 9999 if there is no end: an index
-- on it finds the few series that reach into a span. Both texts count in the storage of the owner.
ALTER TABLE calendar_events ADD COLUMN rrule TEXT CONSTRAINT chk_event_rrule CHECK (length(rrule) BETWEEN 1 AND 512);
ALTER TABLE calendar_events ADD COLUMN exdates TEXT CONSTRAINT chk_event_exdates
  CHECK (exdates IS NULL OR (length(exdates) BETWEEN 3 AND 8000 AND rrule IS NOT NULL));
ALTER TABLE calendar_events ADD COLUMN series_end_at INTEGER CONSTRAINT chk_event_series
  CHECK ((series_end_at IS NULL) = (rrule IS NULL) AND series_end_at BETWEEN end_at AND 253402300799999);

CREATE INDEX idx_events_owner_series ON calendar_events(owner_id, series_end_at, id) WHERE rrule IS NOT NULL;

DROP TRIGGER trg_event_stored_when_made;
DROP TRIGGER trg_event_stored_when_changed;
DROP TRIGGER trg_event_stored_when_deleted;
ALTER TABLE calendar_events DROP COLUMN bytes;
ALTER TABLE calendar_events ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (
  200 + length(CAST(title AS BLOB)) + length(CAST(timezone AS BLOB)) + coalesce(length(CAST(location AS BLOB)), 0)
  + coalesce(length(CAST(description AS BLOB)), 0) + coalesce(length(rrule), 0) + coalesce(length(exdates), 0)) VIRTUAL;

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

-- An invitation has `series_end_at` of its event, too, so that the series of a guest are found by an index. Those that
-- the guest has accepted come first in it.
ALTER TABLE calendar_invites ADD COLUMN series_end_at INTEGER;
CREATE INDEX idx_invites_user_series ON calendar_invites(user_id, status, series_end_at, id)
  WHERE series_end_at IS NOT NULL;
-- A guest's open invitations are found without those that were answered long ago.
CREATE INDEX idx_invites_user_status ON calendar_invites(user_id, status, start_at, id);

DROP TRIGGER trg_event_moved;
CREATE TRIGGER trg_event_moved AFTER UPDATE OF start_at, end_at, series_end_at ON calendar_events
WHEN NEW.start_at <> OLD.start_at OR NEW.end_at <> OLD.end_at OR NEW.series_end_at IS NOT OLD.series_end_at
BEGIN
  UPDATE calendar_invites SET start_at = NEW.start_at, end_at = NEW.end_at, series_end_at = NEW.series_end_at
  WHERE event_id = NEW.id;
END;
