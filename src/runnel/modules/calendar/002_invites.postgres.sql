-- Events of whole days, reminders and invitations. The comments of the SQLite step apply here too.
ALTER TABLE calendar_events
  ADD COLUMN all_day bigint NOT NULL DEFAULT 0 CONSTRAINT chk_event_all_day
    CHECK (all_day = 0 OR (all_day = 1 AND start_at % 86400000 = 0 AND end_at % 86400000 = 0)),
  ADD COLUMN reminders text CONSTRAINT chk_event_reminders CHECK (length(reminders) BETWEEN 1 AND 64),
  ADD COLUMN revision bigint NOT NULL DEFAULT 1;

CREATE INDEX idx_events_owner_long ON calendar_events(owner_id, start_at, id) WHERE end_at - start_at > 86400000;

CREATE TABLE calendar_invites(
  id text COLLATE "C" PRIMARY KEY CONSTRAINT chk_invite_id CHECK (id <> ''),
  event_id text COLLATE "C" NOT NULL REFERENCES calendar_events(id) ON DELETE CASCADE,
  owner_id text NOT NULL,
  user_id text NOT NULL CONSTRAINT chk_invite_user CHECK (length(user_id) BETWEEN 1 AND 256 AND user_id <> owner_id),
  status text NOT NULL CONSTRAINT chk_invite_status CHECK (status IN ('pending', 'accepted', 'rejected')),
  start_at bigint NOT NULL,
  end_at bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT uq_invites_event_user UNIQUE (event_id, user_id)
);
CREATE INDEX idx_invites_user_start ON calendar_invites(user_id, start_at, id);

CREATE FUNCTION calendar_move_invites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE calendar_invites SET start_at = NEW.start_at, end_at = NEW.end_at WHERE event_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER trg_event_moved AFTER UPDATE OF start_at, end_at ON calendar_events FOR EACH ROW
WHEN (NEW.start_at <> OLD.start_at OR NEW.end_at <> OLD.end_at)
EXECUTE FUNCTION calendar_move_invites();

CREATE FUNCTION calendar_keep_invites_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE storage_totals SET bytes = bytes - 300 WHERE owner_id = OLD.owner_id;
  ELSE
    INSERT INTO storage_totals AS t VALUES (NEW.owner_id, 300)
    ON CONFLICT (owner_id) DO UPDATE SET bytes = t.bytes + excluded.bytes;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER trg_invite_stored AFTER INSERT OR DELETE ON calendar_invites
FOR EACH ROW EXECUTE FUNCTION calendar_keep_invites_stored();
