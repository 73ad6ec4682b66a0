-- What bounds the reading of invitations, and room for 500 exceptions of any year.
--
-- Invitations are read by their status, so that those that were rejected cost nothing. Few last longer than a day: as with
-- events, these have an index of their own, and of all others one day before the span is read. Nothing reads without the
-- status any more.
CREATE INDEX idx_invites_user_long ON calendar_invites(user_id, status, start_at, id)
  WHERE end_at - start_at > 86400000;
DROP INDEX idx_invites_user_start;

-- An instant has 15 digits from the year 5138 on, and so 500 of them have 8,001 characters. A check of a column can only be
-- changed with the column.
DROP TRIGGER trg_event_stored_when_made;
DROP TRIGGER trg_event_stored_when_changed;
DROP TRIGGER trg_event_stored_when_deleted;
ALTER TABLE calendar_events DROP COLUMN bytes;
ALTER TABLE calendar_events ADD COLUMN new_exdates TEXT CONSTRAINT chk_event_exdates
  CHECK (new_exdates IS NULL OR (length(new_exdates) BETWEEN 3 AND 8001 AND rrule IS NOT NULL));
UPDATE calendar_events SET new_exdates = exdates WHERE exdates IS NOT NULL;
ALTER TABLE calendar_events DROP COLUMN exdates;
ALTER TABLE calendar_events RENAME COLUMN new_exdates TO exdates;
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
