-- Events of whole days, reminders, and invitations of other users to an event.
--
-- An event of whole days is kept as if it were in UTC: it starts at the first midnight of its first day and ends at the
-- last midnight of its last day, whatever the time zone of the reader. `reminders` is a JSON list of minutes before the
-- start. `revision` counts the changes, so that of two changes at once one is made again on top of the other.
ALTER TABLE calendar_events ADD COLUMN all_day INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_event_all_day
  CHECK (all_day = 0 OR (all_day = 1 AND start_at % 86400000 = 0 AND end_at % 86400000 = 0));
ALTER TABLE calendar_events ADD COLUMN reminders TEXT CONSTRAINT chk_event_reminders
  CHECK (length(reminders) BETWEEN 1 AND 64);
ALTER TABLE calendar_events ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;

-- Few events last longer than a day. Whoever looks for the events of a span looks at these for 366 days before it, and at
-- all others for one day only.
CREATE INDEX idx_events_owner_long ON calendar_events(owner_id, start_at, id) WHERE end_at - start_at > 86400000;

-- `start_at` and `end_at` are those of the event; a trigger keeps them, so that a guest's calendar is found by an index.
-- An invitation takes 300 bytes of the storage of the user who shares the event, so that nobody can fill another's.
CREATE TABLE calendar_invites(
  id TEXT NOT NULL PRIMARY KEY CONSTRAINT chk_invite_id CHECK (id <> ''),
  event_id TEXT NOT NULL REFERENCES calendar_events(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,
  user_id TEXT NOT NULL CONSTRAINT chk_invite_user CHECK (length(user_id) BETWEEN 1 AND 256 AND user_id <> owner_id),
  status TEXT NOT NULL CONSTRAINT chk_invite_status CHECK (status IN ('pending', 'accepted', 'rejected')),
  start_at INTEGER NOT NULL,
  end_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CONSTRAINT uq_invites_event_user UNIQUE (event_id, user_id)
) WITHOUT ROWID;
CREATE INDEX idx_invites_user_start ON calendar_invites(user_id, start_at, id);

CREATE TRIGGER trg_event_moved AFTER UPDATE OF start_at, end_at ON calendar_events
WHEN NEW.start_at <> OLD.start_at OR NEW.end_at <> OLD.end_at
BEGIN
  UPDATE calendar_invites SET start_at = NEW.start_at, end_at = NEW.end_at WHERE event_id = NEW.id;
END;

CREATE TRIGGER trg_invite_stored_when_made AFTER INSERT ON calendar_invites
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, 300)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_invite_stored_when_deleted AFTER DELETE ON calendar_invites
BEGIN
  UPDATE storage_totals SET bytes = bytes - 300 WHERE owner_id = OLD.owner_id;
END;
