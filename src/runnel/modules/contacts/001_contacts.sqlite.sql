-- The people that users know (TOOL-12). `sort_key` is the name as search folds it, so that a list is in the order of names
-- whatever their case and width. `revision` counts the changes, so that of two changes at once one is made again on top of
-- the other.
--
-- `bytes` is what the contact takes of its owner's storage: the bytes of its texts twice, because most of them are in
-- `contact_terms` again, and 400 for the rows. Triggers keep the sum in `storage_totals` (HTTP-9).
CREATE TABLE contacts(
  id TEXT NOT NULL PRIMARY KEY CONSTRAINT chk_contact_id CHECK (id <> ''),
  owner_id TEXT NOT NULL CONSTRAINT chk_contact_owner CHECK (owner_id <> ''),
  name TEXT NOT NULL CONSTRAINT chk_contact_name CHECK (length(name) BETWEEN 1 AND 200),
  email TEXT CONSTRAINT chk_contact_email CHECK (length(email) BETWEEN 1 AND 254),
  phone TEXT CONSTRAINT chk_contact_phone CHECK (length(phone) BETWEEN 1 AND 64),
  organization TEXT CONSTRAINT chk_contact_organization CHECK (length(organization) BETWEEN 1 AND 200),
  note TEXT CONSTRAINT chk_contact_note CHECK (length(note) BETWEEN 1 AND 2000),
  user_id TEXT CONSTRAINT chk_contact_user CHECK (length(user_id) BETWEEN 1 AND 256),
  sort_key TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  bytes INTEGER GENERATED ALWAYS AS (
    400 + 2 * (length(CAST(name AS BLOB)) + coalesce(length(CAST(email AS BLOB)), 0)
    + coalesce(length(CAST(phone AS BLOB)), 0) + coalesce(length(CAST(organization AS BLOB)), 0)
    + coalesce(length(CAST(note AS BLOB)), 0) + coalesce(length(CAST(user_id AS BLOB)), 0))) VIRTUAL
) WITHOUT ROWID;
CREATE INDEX idx_contacts_owner_name ON contacts(owner_id, sort_key, id);

-- The words by which a contact is found: a search looks for those that begin with what is asked for.
CREATE TABLE contact_terms(
  owner_id TEXT NOT NULL,
  term TEXT NOT NULL,
  contact_id TEXT NOT NULL,
  PRIMARY KEY (owner_id, term, contact_id)
) WITHOUT ROWID;
CREATE INDEX idx_contact_terms_contact ON contact_terms(contact_id, term);

CREATE TRIGGER trg_contact_stored_when_made AFTER INSERT ON contacts
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_contact_stored_when_changed AFTER UPDATE ON contacts WHEN NEW.bytes <> OLD.bytes
BEGIN
  UPDATE storage_totals SET bytes = bytes + NEW.bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
END;

CREATE TRIGGER trg_contact_stored_when_deleted AFTER DELETE ON contacts
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
  DELETE FROM contact_terms WHERE contact_id = OLD.id;
END;
