-- The calls of runs to tools of their clients (AGUI-6). A row is written with the message of the call. A run ends as
-- completed while its calls are open, and they wait for the thread's next run: its beginning closes all of them in its own
-- transaction, with a message each (`result_id`), which is the client's answer or says that there is none.
--
-- What a run has closed stays here until it ends: until then its context has these messages, and a rollback opens the
-- calls again. The calls of a run that ends in another way than completed were closed by that run itself.
CREATE TABLE client_calls(
  thread_id INTEGER NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  call_id TEXT NOT NULL CONSTRAINT chk_client_call_id CHECK (call_id <> ''),
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  closed_by INTEGER,
  result_id TEXT,
  PRIMARY KEY (thread_id, call_id),
  CONSTRAINT chk_client_call_closed CHECK ((closed_by IS NULL) = (result_id IS NULL))
) WITHOUT ROWID;
CREATE INDEX idx_client_calls_run ON client_calls(run_id);

CREATE TRIGGER trg_client_calls_of_ended AFTER UPDATE OF ended_at ON runs
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
  AND EXISTS (SELECT 1 FROM client_calls WHERE thread_id = NEW.thread_id)
BEGIN
  DELETE FROM client_calls WHERE thread_id = NEW.thread_id AND run_id = NEW.id AND NEW.status <> 'completed';
  UPDATE client_calls SET closed_by = NULL, result_id = NULL
  WHERE thread_id = NEW.thread_id AND closed_by = NEW.id AND NEW.rolled_back <> 0;
  DELETE FROM client_calls WHERE thread_id = NEW.thread_id AND closed_by = NEW.id;
END;
