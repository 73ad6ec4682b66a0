-- What was noted about users. The comments of the SQLite step apply here too.
CREATE TABLE memories(
  owner_id text NOT NULL CONSTRAINT chk_memory_owner CHECK (owner_id <> ''),
  kind text COLLATE "C" NOT NULL CONSTRAINT chk_memory_kind CHECK (kind IN ('user', 'work_profile')),
  content text NOT NULL CONSTRAINT chk_memory_content CHECK (octet_length(content) BETWEEN 3 AND 16384),
  revision bigint NOT NULL,
  updated_at bigint NOT NULL,
  bytes bigint GENERATED ALWAYS AS (200 + octet_length(content)) STORED,
  PRIMARY KEY (owner_id, kind)
);

CREATE FUNCTION memories_keep_stored() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER trg_memory_stored_when_made_or_deleted AFTER INSERT OR DELETE ON memories
FOR EACH ROW EXECUTE FUNCTION memories_keep_stored();

CREATE TRIGGER trg_memory_stored_when_changed AFTER UPDATE ON memories FOR EACH ROW
WHEN (NEW.bytes <> OLD.bytes) EXECUTE FUNCTION memories_keep_stored();
