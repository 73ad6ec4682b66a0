-- Feeds, and the events that came from iCalendar files. The comments of the SQLite step apply here too.
CREATE TABLE calendar_feeds(
  owner_id text PRIMARY KEY CONSTRAINT chk_feed_owner CHECK (owner_id <> ''),
  hash text NOT NULL CONSTRAINT uq_feeds_hash UNIQUE,
  created_at bigint NOT NULL
);

CREATE TABLE calendar_imports(
  event_id text COLLATE "C" PRIMARY KEY REFERENCES calendar_events(id) ON DELETE CASCADE,
  owner_id text NOT NULL CONSTRAINT chk_import_owner CHECK (owner_id <> ''),
  uid text NOT NULL CONSTRAINT chk_import_uid CHECK (length(uid) BETWEEN 1 AND 255),
  sequence bigint NOT NULL,
  modified_at bigint NOT NULL,
  digest text NOT NULL,
  CONSTRAINT uq_imports_owner_uid UNIQUE (owner_id, uid)
);

CREATE FUNCTION calendar_keep_imports_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE storage_totals SET bytes = bytes - 200 - octet_length(OLD.uid) WHERE owner_id = OLD.owner_id;
  ELSE
    INSERT INTO storage_totals AS t VALUES (NEW.owner_id, 200 + octet_length(NEW.uid))
    ON CONFLICT (owner_id) DO UPDATE SET bytes = t.bytes + excluded.bytes;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER trg_import_stored AFTER INSERT OR DELETE ON calendar_imports
FOR EACH ROW EXECUTE FUNCTION calendar_keep_imports_stored();
