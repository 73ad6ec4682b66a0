-- Tool calls that somebody must approve. The comments of the SQLite step apply here too.
CREATE TABLE approvals(
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  call_id text NOT NULL,
  name text NOT NULL,
  args text NOT NULL,
  args_hash text NOT NULL CONSTRAINT chk_approval_hash CHECK (length(args_hash) = 64),
  asked_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  decision text CONSTRAINT chk_approval_decision CHECK (decision IN ('approved','rejected','expired')),
  reason text,
  decided_at bigint,
  PRIMARY KEY (run_id, call_id),
  CONSTRAINT chk_approval_decided CHECK ((decision IS NULL) = (decided_at IS NULL))
);
CREATE INDEX idx_approvals_undecided ON approvals(expires_at) WHERE decision IS NULL;

CREATE TRIGGER trg_approval_decided_once BEFORE UPDATE ON approvals FOR EACH ROW
WHEN (OLD.decision IS NOT NULL)
EXECUTE FUNCTION runnel_refuse_call_change('an approval is decided once');

CREATE TRIGGER trg_approval_question_frozen
BEFORE UPDATE OF run_id, call_id, name, args, args_hash, asked_at, expires_at ON approvals FOR EACH ROW
EXECUTE FUNCTION runnel_refuse_call_change('what an approval was asked for is frozen');

-- As before, and p_tool_starts may have {…, args, expires_at} for a call that must be approved: then the run waits.
CREATE OR REPLACE FUNCTION runnel_append_tool_calls(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint,
                                         p_next_idx bigint, p_body text, p_messages json, p_now bigint, p_ends json,
                                         p_bookings json, p_checkpoints json, p_tool_starts json, p_tool_ends json)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_changed bigint;
BEGIN
  IF NOT runnel_append(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now) THEN
    RETURN;
  END IF;
  PERFORM runnel_write_beside_facts(p_run, p_ends, p_bookings, p_checkpoints);

  INSERT INTO tool_calls(run_id, id, name, args_hash, epoch, started_at)
  SELECT p_run, s.id, s.name, s.args_hash, p_epoch, p_now
  FROM json_to_recordset(p_tool_starts) AS s(id text, name text, args_hash text)
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_tool_starts), 0) THEN
    RAISE EXCEPTION 'the start of a tool call that has been started' USING ERRCODE = 'RN004';
  END IF;

  INSERT INTO approvals(run_id, call_id, name, args, args_hash, asked_at, expires_at)
  SELECT p_run, s.id, s.name, s.args, s.args_hash, p_now, s.expires_at
  FROM json_to_recordset(p_tool_starts) AS s(id text, name text, args_hash text, args text, expires_at bigint)
  WHERE s.args IS NOT NULL;
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed > 0 THEN
    UPDATE runs SET status = 'awaiting_approval', node = NULL, released = true WHERE id = p_run;
  END IF;

  UPDATE tool_calls SET status = 'closed', ended_at = p_now, receipt = NULL
  WHERE run_id = p_run AND status = 'open' AND id IN (SELECT json_array_elements_text(p_tool_ends));
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_tool_ends), 0) THEN
    RAISE EXCEPTION 'the end of a tool call that is not open or not this run''s' USING ERRCODE = 'RN004';
  END IF;
END $$;

-- Deletes up to p_limit rows of the run's log, checkpoints, tool calls or approvals, and returns how many.
CREATE OR REPLACE FUNCTION runnel_purge_log(p_run bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_rows bigint;
BEGIN
  DELETE FROM log WHERE ctid = ANY (ARRAY(SELECT ctid FROM log WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM checkpoints
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM checkpoints WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM tool_calls
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM tool_calls WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM approvals
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM approvals WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;
