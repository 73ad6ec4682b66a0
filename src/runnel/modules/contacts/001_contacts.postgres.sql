-- The people that users know. The comments of the SQLite step apply here too.
CREATE TABLE contacts(
  id text COLLATE "C" PRIMARY KEY CONSTRAINT chk_contact_id CHECK (id <> ''),
  owner_id text NOT NULL CONSTRAINT chk_contact_owner CHECK (owner_id <> ''),
  name text NOT NULL CONSTRAINT chk_contact_name CHECK (length(name) BETWEEN 1 AND 200),
  email text CONSTRAINT chk_contact_email CHECK (length(email) BETWEEN 1 AND 254),
  phone text CONSTRAINT chk_contact_phone CHECK (length(phone) BETWEEN 1 AND 64),
  organization text CONSTRAINT chk_contact_organization CHECK (length(organization) BETWEEN 1 AND 200),
  note text CONSTRAINT chk_contact_note CHECK (length(note) BETWEEN 1 AND 2000),
  user_id text CONSTRAINT chk_contact_user CHECK (length(user_id) BETWEEN 1 AND 256),
  sort_key text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  bytes bigint GENERATED ALWAYS AS (
    400 + 2 * (octet_length(name) + coalesce(octet_length(email), 0) + coalesce(octet_length(phone), 0)
    + coalesce(octet_length(organization), 0) + coalesce(octet_length(note), 0)
    + coalesce(octet_length(user_id), 0))) STORED
);
CREATE INDEX idx_contacts_owner_name ON contacts(owner_id, sort_key, id);

CREATE TABLE contact_terms(
  owner_id text NOT NULL,
  term text COLLATE "C" NOT NULL,
  contact_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner_id, term, contact_id)
);
CREATE INDEX idx_contact_terms_contact ON contact_terms(contact_id, term);

CREATE FUNCTION contacts_keep_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE storage_totals SET bytes = bytes - OLD.bytes WHERE owner_id = OLD.owner_id;
  END IF;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM contact_terms WHERE contact_id = OLD.id;
  ELSE
    INSERT INTO storage_totals AS t VALUES (NEW.owner_id, NEW.bytes)
    ON CONFLICT (owner_id) DO UPDATE SET bytes = t.bytes + excluded.bytes;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER trg_contact_stored_when_made_or_deleted AFTER INSERT OR DELETE ON contacts
FOR EACH ROW EXECUTE FUNCTION contacts_keep_stored();

CREATE TRIGGER trg_contact_stored_when_changed AFTER UPDATE ON contacts FOR EACH ROW
WHEN (NEW.bytes <> OLD.bytes) EXECUTE FUNCTION contacts_keep_stored();
