-- The events of users. The comments of the SQLite step apply here too.
CREATE TABLE calendar_events(
  id text COLLATE "C" PRIMARY KEY CONSTRAINT chk_event_id CHECK (id <> ''),
  owner_id text NOT NULL CONSTRAINT chk_event_owner CHECK (owner_id <> ''),
  title text NOT NULL CONSTRAINT chk_event_title CHECK (length(title) BETWEEN 1 AND 200),
  start_at bigint NOT NULL CONSTRAINT chk_event_start CHECK (start_at >= 0),
  end_at bigint NOT NULL CONSTRAINT chk_event_end CHECK (end_at <= 253402300799999),
  timezone text NOT NULL CONSTRAINT chk_event_timezone CHECK (timezone <> ''),
  location text CONSTRAINT chk_event_location CHECK (length(location) BETWEEN 1 AND 200),
  description text CONSTRAINT chk_event_description CHECK (length(description) BETWEEN 1 AND 4000),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  bytes bigint GENERATED ALWAYS AS (
    200 + octet_length(title) + octet_length(timezone) + coalesce(octet_length(location), 0)
    + coalesce(octet_length(description), 0)) STORED,
  CONSTRAINT chk_event_span CHECK (end_at > start_at AND end_at - start_at <= 31622400000)
);
CREATE INDEX idx_events_owner_start ON calendar_events(owner_id, start_at, id);

CREATE FUNCTION calendar_keep_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE storage_totals SET bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO storage_totals AS t VALUES (NEW.owner_id, NEW.bytes)
    ON CONFLICT (owner_id) DO UPDATE SET bytes = t.bytes + excluded.bytes;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER trg_event_stored_when_made_or_deleted AFTER INSERT OR DELETE ON calendar_events
FOR EACH ROW EXECUTE FUNCTION calendar_keep_stored();

CREATE TRIGGER trg_event_stored_when_changed AFTER UPDATE ON calendar_events FOR EACH ROW
WHEN (NEW.bytes <> OLD.bytes OR NEW.owner_id <> OLD.owner_id)
EXECUTE FUNCTION calendar_keep_stored();
