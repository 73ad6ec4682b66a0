-- What was noted about users (TOOL-12): at most one row per user and kind. `content` is a JSON object that is not empty; a
-- memory that loses its last field is deleted. `revision` grows with each change, so that of two changes at once one is made
-- again on top of the other. The first one is the time in milliseconds: so a memory that was forgotten and noted again has no
-- revision that it has had before.
--
-- `bytes` is what the memory takes of its owner's storage: its content, and 200 for the row. Triggers keep the sum in
-- `storage_totals` (HTTP-9).
CREATE TABLE memories(
  owner_id TEXT NOT NULL CONSTRAINT chk_memory_owner CHECK (owner_id <> ''),
  kind TEXT NOT NULL CONSTRAINT chk_memory_kind CHECK (kind IN ('user', 'work_profile')),
  content TEXT NOT NULL CONSTRAINT chk_memory_content CHECK (length(CAST(content AS BLOB)) BETWEEN 3 AND 16384),
  revision INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  bytes INTEGER GENERATED ALWAYS AS (200 + length(CAST(content AS BLOB))) VIRTUAL,
  PRIMARY KEY (owner_id, kind)
) WITHOUT ROWID;

CREATE TRIGGER trg_memory_stored_when_made AFTER INSERT ON memories
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_memory_stored_when_changed AFTER UPDATE ON memories WHEN NEW.bytes <> OLD.bytes
BEGIN
  UPDATE storage_totals SET bytes = bytes + NEW.bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
END;

CREATE TRIGGER trg_memory_stored_when_deleted AFTER DELETE ON memories
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
END;
