-- The tool calls of runs. A row is written in the same transaction as the fact that the call has started, and closed in
-- the one of its result. The interface of the modules asks it whether a call is open and may still take effect: an
-- effect's transaction updates the row of this run and call WHERE it is open, of the writer's epoch and without a
-- receipt, and keeps the effect's result in `receipt`. So an effect happens once: whoever repeats the call finds the
-- receipt (RUN-12).
--
-- The next writer of a run takes over its open calls, so that nothing of the last writer can take effect any more. A
-- closed call needs no receipt, because its result is in the log and in a checkpoint.
CREATE TABLE tool_calls(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  id TEXT NOT NULL CONSTRAINT chk_tool_call_id CHECK (id <> ''),
  name TEXT NOT NULL,
  args_hash TEXT NOT NULL CONSTRAINT chk_tool_call_hash CHECK (length(args_hash) = 64),
  epoch INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'open' CONSTRAINT chk_tool_call_status CHECK (status IN ('open','closed')),
  receipt TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (run_id, id),
  CONSTRAINT chk_tool_call_ended_at CHECK ((status = 'open') = (ended_at IS NULL)),
  CONSTRAINT chk_tool_call_receipt CHECK (status = 'open' OR receipt IS NULL)
) WITHOUT ROWID;

CREATE TRIGGER trg_tool_call_opening_frozen BEFORE UPDATE OF run_id, id, name, args_hash, started_at ON tool_calls
BEGIN
  SELECT RAISE(ABORT, 'what a tool call was started with is frozen');
END;

CREATE TRIGGER trg_tool_call_closes_once BEFORE UPDATE OF epoch, status, ended_at, receipt ON tool_calls
WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'a tool call is closed once');
END;

CREATE TRIGGER trg_tool_call_takes_effect_once BEFORE UPDATE OF receipt ON tool_calls
WHEN OLD.receipt IS NOT NULL AND NEW.receipt IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a tool call takes effect once');
END;

CREATE TRIGGER trg_tool_calls_taken_over AFTER UPDATE OF epoch ON runs WHEN NEW.epoch <> OLD.epoch
BEGIN
  UPDATE tool_calls SET epoch = NEW.epoch WHERE run_id = NEW.id AND status = 'open';
END;

CREATE TRIGGER trg_tool_calls_closed AFTER UPDATE OF ended_at ON runs
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
  UPDATE tool_calls SET status = 'closed', ended_at = NEW.ended_at, receipt = NULL
  WHERE run_id = NEW.id AND status = 'open';
END;
