-- Tool calls that somebody must approve before they run (RUN-13). A row is written in the transaction that makes its run
-- wait, with what is shown: the method and its arguments. The decision is written once, and only while the run waits.
--
-- A waiting run has no writer, and its status is 'awaiting_approval'. Whoever decides makes it pending again, in the same
-- transaction; so does the sweep for a decision that is overdue or a run that is canceled.
CREATE TABLE approvals(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  name TEXT NOT NULL,
  args TEXT NOT NULL CONSTRAINT chk_approval_args CHECK (json_valid(args)),
  args_hash TEXT NOT NULL CONSTRAINT chk_approval_hash CHECK (length(args_hash) = 64),
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decision TEXT CONSTRAINT chk_approval_decision CHECK (decision IN ('approved','rejected','expired')),
  reason TEXT,
  decided_at INTEGER,
  PRIMARY KEY (run_id, call_id),
  CONSTRAINT chk_approval_decided CHECK ((decision IS NULL) = (decided_at IS NULL))
) WITHOUT ROWID;
CREATE INDEX idx_approvals_undecided ON approvals(expires_at) WHERE decision IS NULL;

CREATE TRIGGER trg_approval_decided_once BEFORE UPDATE ON approvals WHEN OLD.decision IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'an approval is decided once');
END;

CREATE TRIGGER trg_approval_question_frozen
BEFORE UPDATE OF run_id, call_id, name, args, args_hash, asked_at, expires_at ON approvals
BEGIN
  SELECT RAISE(ABORT, 'what an approval was asked for is frozen');
END;
