-- Events that repeat. The comments of the SQLite step apply here too.
DROP TRIGGER trg_event_stored_when_changed ON calendar_events;

ALTER TABLE calendar_events
  ADD COLUMN rrule text CONSTRAINT chk_event_rrule CHECK (length(rrule) BETWEEN 1 AND 512),
  ADD COLUMN exdates text,
  ADD COLUMN series_end_at bigint,
  ADD CONSTRAINT chk_event_exdates
    CHECK (exdates IS NULL OR (length(exdates) BETWEEN 3 AND 8000 AND rrule IS NOT NULL)),
  ADD CONSTRAINT chk_event_series
    CHECK ((series_end_at IS NULL) = (rrule IS NULL) AND series_end_at BETWEEN end_at AND 253402300799999),
  DROP COLUMN bytes;
ALTER TABLE calendar_events ADD COLUMN bytes bigint GENERATED ALWAYS AS (
  200 + octet_length(title) + octet_length(timezone) + coalesce(octet_length(location), 0)
  + coalesce(octet_length(description), 0) + coalesce(octet_length(rrule), 0) + coalesce(octet_length(exdates), 0)) STORED;

CREATE INDEX idx_events_owner_series ON calendar_events(owner_id, series_end_at, id) WHERE rrule IS NOT NULL;

CREATE TRIGGER trg_event_stored_when_changed AFTER UPDATE ON calendar_events FOR EACH ROW
WHEN (NEW.bytes <> OLD.bytes OR NEW.owner_id <> OLD.owner_id)
EXECUTE FUNCTION calendar_keep_stored();

ALTER TABLE calendar_invites ADD COLUMN series_end_at bigint;
CREATE INDEX idx_invites_user_series ON calendar_invites(user_id, status, series_end_at, id)
  WHERE series_end_at IS NOT NULL;
CREATE INDEX idx_invites_user_status ON calendar_invites(user_id, status, start_at, id);

CREATE OR REPLACE FUNCTION calendar_move_invites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE calendar_invites SET start_at = NEW.start_at, end_at = NEW.end_at, series_end_at = NEW.series_end_at
  WHERE event_id = NEW.id;
  RETURN NULL;
END $$;

DROP TRIGGER trg_event_moved ON calendar_events;
CREATE TRIGGER trg_event_moved AFTER UPDATE OF start_at, end_at, series_end_at ON calendar_events FOR EACH ROW
WHEN (NEW.start_at <> OLD.start_at OR NEW.end_at <> OLD.end_at OR NEW.series_end_at IS DISTINCT FROM OLD.series_end_at)
EXECUTE FUNCTION calendar_move_invites();
