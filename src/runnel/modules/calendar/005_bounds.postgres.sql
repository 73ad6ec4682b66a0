-- What bounds the reading of invitations, and room for 500 exceptions of any year. The comments of the SQLite step apply
-- here too.
CREATE INDEX idx_invites_user_long ON calendar_invites(user_id, status, start_at, id)
  WHERE end_at - start_at > 86400000;
DROP INDEX idx_invites_user_start;

ALTER TABLE calendar_events
  DROP CONSTRAINT chk_event_exdates,
  ADD CONSTRAINT chk_event_exdates
    CHECK (exdates IS NULL OR (length(exdates) BETWEEN 3 AND 8001 AND rrule IS NOT NULL));
