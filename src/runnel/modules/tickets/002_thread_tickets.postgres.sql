-- A ticket may open the stream of a whole thread. `thread_id` is no foreign key either.
ALTER TABLE tickets ADD COLUMN thread_id bigint;
ALTER TABLE tickets DROP CONSTRAINT chk_ticket_run;
ALTER TABLE tickets ADD CONSTRAINT chk_ticket_target CHECK (CASE kind
  WHEN 'sse' THEN (run_id IS NULL) <> (thread_id IS NULL) ELSE run_id IS NULL AND thread_id IS NULL END);
